"""Where a plan differs from what a scenario expects."""

from collections import Counter
from collections.abc import Iterator, Mapping

from nodewright.application.plan import Planned
from nodewright.domain.money import to_usd
from nodewright.domain.nodes import ZONE_LABEL
from nodewright.domain.plans import Foresight, Plan
from tests.scenarios.scenario import Expected


def differences(expected: Expected, planned: Planned) -> list[str]:
    """Sentences; none when it is as expected."""
    return [
        *_unequal(expected, planned),
        *_unplaced(expected, planned.plan),
        *_reasons(expected, planned.plan),
        *_groups(expected, planned.plan),
        *_warnings(expected, planned),
    ]


def _unequal(expected: Expected, planned: Planned) -> Iterator[str]:
    plan = planned.plan
    nodes = [(launch, pods) for launch in plan.launches for pods in launch.nodes]
    found: Mapping[str, object] = {
        "nodes": len(nodes),
        "cost": float(to_usd(plan.cost)),
        "types": sorted(launch.instance_types[0] for launch, _ in nodes),
        "zones": Counter("|".join(launch.zones) for launch, _ in nodes),
        "pods_per_node": sorted((len(pods) for _, pods in nodes), reverse=True),
        "pods_by_zone": _pods_by_zone(planned),
        "pools": Counter(launch.pool for launch, _ in nodes),
        "capacity_types": Counter(launch.capacity_type for launch, _ in nodes),
        "launch_types": [list(launch.instance_types) for launch in plan.launches],
        "nominations": {each.node: sorted(map(str, each.pods)) for each in plan.nominations},
        "expected": _whereabouts(plan.expected),
        "headroom": _whereabouts(plan.headroom),
    }
    for name, value in found.items():
        wanted = getattr(expected, name)
        if wanted is not None and wanted != value:
            shown = dict(value) if isinstance(value, Counter) else value
            yield f"{name} should be {wanted} and is {shown}"


def _whereabouts(each: Foresight) -> dict[str, int]:
    return {"placed": each.placed, "bought": each.bought, "left": len(each.left)}


def _pods_by_zone(planned: Planned) -> Counter[str]:
    zones = {room.name: room.labels.get(ZONE_LABEL, "") for room in planned.snapshot.rooms}
    counted: Counter[str] = Counter()
    for launch in planned.plan.launches:
        counted["|".join(launch.zones)] += sum(map(len, launch.nodes))
    for each in planned.plan.nominations:
        counted[zones[each.node]] += len(each.pods)
    return counted


def _unplaced(expected: Expected, plan: Plan) -> Iterator[str]:
    if expected.unschedulable is None:
        return
    found = {str(each.pod): f"{each.reason}: {each.message}" for each in plan.unschedulable}
    for pod in sorted(found.keys() - expected.unschedulable.keys()):
        yield f"{pod} should be placed and waits ({found[pod]})"
    for pod in sorted(expected.unschedulable.keys() - found.keys()):
        yield f"{pod} should wait and is placed"


def _reasons(expected: Expected, plan: Plan) -> Iterator[str]:
    for each in plan.unschedulable:
        wanted = (expected.unschedulable or {}).get(str(each.pod))
        if wanted is None:
            continue
        if wanted.reason and wanted.reason != each.reason:
            yield f"{each.pod} should wait for {wanted.reason} and waits for {each.reason} ({each.message})"
        if wanted.message not in each.message:
            yield f"{each.pod} should be told {wanted.message!r} and is told {each.message!r}"


def _groups(expected: Expected, plan: Plan) -> Iterator[str]:
    places = _places(plan)
    for group in (*expected.apart, *expected.together):
        yield from (f"{pod} should have a node and has none" for pod in group if pod not in places)
    for group in expected.apart:
        if len({places.get(pod) for pod in group}) < len(group):
            yield f"{', '.join(group)} should be apart and are on {[places.get(pod) for pod in group]}"
    for group in expected.together:
        if len({places.get(pod) for pod in group}) > 1:
            yield f"{', '.join(group)} should be together and are on {[places.get(pod) for pod in group]}"


def _places(plan: Plan) -> dict[str, str]:
    """Pod → its node: the name of one that is there, else a number."""
    new = [pods for launch in plan.launches for pods in launch.nodes]
    bought = {str(pod): f"new {number}" for number, pods in enumerate(new) for pod in pods}
    return bought | {str(pod): each.node for each in plan.nominations for pod in each.pods}


def _warnings(expected: Expected, planned: Planned) -> Iterator[str]:
    told = [f"{warning.object} {warning.path}: {warning.message}" for warning in planned.warnings]
    for part in expected.warnings:
        if not any(part in each for each in told):
            yield f"there should be a warning with {part!r}; there are {told}"
