"""Whether a plan keeps what it must, told from the Kubernetes rules and nothing of the planner."""

from collections import Counter
from collections.abc import Iterator, Mapping

from nodewright.domain.catalogue import InstanceType, Offering
from nodewright.domain.limits import PRICE
from nodewright.domain.plans import Launch, LaunchOffering, Plan
from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from nodewright.domain.taints import Taint, untolerated


def faults(snapshot: Snapshot, plan: Plan) -> list[str]:
    """Everything wrong with a plan; nothing when it is valid."""
    return [
        *_accounting(snapshot, plan),
        *(fault for launch in plan.launches for fault in _launch(snapshot, launch)),
        *_rooms(snapshot, plan),
        *_limits(snapshot, plan),
        *_needless(snapshot, plan),
    ]


def _accounting(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    told = Counter(
        [pod for launch in plan.launches for node in launch.nodes for pod in node]
        + [pod for nomination in plan.nominations for pod in nomination.pods]
        + [each.pod for each in plan.unschedulable]
    )
    yield from (f"{pod} is told {count} times" for pod, count in told.items() if count != 1)
    if set(told) != {pod.key for pod in snapshot.pods}:
        yield "some pods are told nothing"
    if plan.cost != sum(launch.price * len(launch.nodes) for launch in plan.launches):
        yield "the cost is not the sum of the nodes"
    if plan.bound is not None and plan.bound > plan.cost:
        yield f"bound {plan.bound} above cost {plan.cost}"


def _launch(snapshot: Snapshot, launch: Launch) -> Iterator[str]:
    options = _options(snapshot, launch.pool)
    pods = _by_key(snapshot)
    if launch.price != launch.offerings[0].price:
        yield "the planned price is not that of the cheapest offering"
    if list(launch.offerings) != sorted(launch.offerings, key=lambda o: o.price):
        yield "offerings are not cheapest first"
    for listed in launch.offerings:
        kind, offering = _sold(options, launch, listed)
        if offering is None or not offering.available:
            yield f"{listed} can't be bought"
            continue
        labels = node_labels(options, kind, offering, launch.labels)
        if not options.pool.requirements.admits(labels):
            yield f"{listed} is outside the pool's requirements"
        for node in launch.nodes:
            yield from _node(snapshot, [pods[key] for key in node], labels, options.pool.taints, kind.allocatable)


def _node(
    snapshot: Snapshot, pods: list[Pod], labels: Mapping[str, str], taints: tuple[Taint, ...], allocatable: Resources
) -> Iterator[str]:
    daemons = [each.requests for each in snapshot.daemon_sets if comes(each, labels, taints)]
    if not sum((pod.requests for pod in pods), sum(daemons, Resources())).fits(allocatable):
        yield f"overfull: {[str(pod.key) for pod in pods]} on {labels}"
    yield from (f"{pod.key} may not run on {labels} {taints}" for pod in pods if not runs(pod, labels, taints))


def runs(pod: Pod | DaemonSet, labels: Mapping[str, str], taints: tuple[Taint, ...]) -> bool:
    admitted = any(alternative.admits(labels) for alternative in pod.alternatives)
    return admitted and not untolerated(pod.tolerations, taints)


comes = runs


def node_labels(
    options: PoolOptions, kind: InstanceType, offering: Offering, chosen: Mapping[str, str]
) -> dict[str, str]:
    return {
        **kind.labels,
        "topology.kubernetes.io/zone": offering.zone,
        "karpenter.sh/capacity-type": offering.capacity_type,
        **options.pool.labels,
        **chosen,
        "karpenter.sh/nodepool": options.pool.name,
        "karpenter.sh/registered": "true",
        "karpenter.sh/initialized": "true",
    }


def _rooms(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    rooms: dict[str, Room] = {room.name: room for room in snapshot.rooms}
    pods = _by_key(snapshot)
    for nomination in plan.nominations:
        room = rooms[nomination.node]
        there = [pods[key] for key in nomination.pods]
        if not sum((pod.requests for pod in there), Resources()).fits(room.available):
            yield f"room {room.name} is overfull"
        yield from (f"{p.key} may not run on {room.name}" for p in there if not runs(p, room.labels, room.taints))


def _limits(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    for options in snapshot.pools:
        if options.remaining is None:
            continue
        kinds = {kind.name: kind for kind in options.instance_types}
        used = Resources()
        for launch in plan.launches:
            if launch.pool == options.pool.name:
                largest = Resources({"nodes": 1, PRICE: max(offering.price for offering in launch.offerings)})
                for name in launch.instance_types:
                    largest = largest.maximum(kinds[name].capacity)
                used += largest.times(len(launch.nodes))
        for resource, amount in options.remaining.items():
            if used.get(resource) > max(0, amount):
                yield f"pool {options.pool.name} passes its limit of {resource}: {used.get(resource)} > {amount}"


def _needless(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    """Pods left although a node of their own in an unlimited pool would have done."""
    pods = _by_key(snapshot)
    for left in () if plan.truncated else plan.unschedulable:
        pod = pods[left.pod]
        for options in snapshot.pools:
            if options.remaining is None and not pod.problems and _would_do(snapshot, options, pod):
                yield f"{pod.key} is left although {options.pool.name} could host it"


def _would_do(snapshot: Snapshot, options: PoolOptions, pod: Pod) -> bool:
    return any(
        offering.available
        and options.pool.requirements.admits(labels := node_labels(options, kind, offering, {}))
        and not list(_node(snapshot, [pod], labels, options.pool.taints, kind.allocatable))
        for kind in options.instance_types
        for offering in kind.offerings
    )


def _sold(options: PoolOptions, launch: Launch, listed: LaunchOffering) -> tuple[InstanceType, Offering | None]:
    kind = next(each for each in options.instance_types if each.name == listed.instance_type)
    same = (listed.zone, launch.capacity_type, listed.price)
    found = (each for each in kind.offerings if (each.zone, each.capacity_type, each.price) == same)
    return kind, next(found, None)


def _options(snapshot: Snapshot, pool: str) -> PoolOptions:
    return next(options for options in snapshot.pools if options.pool.name == pool)


def _by_key(snapshot: Snapshot) -> dict[PodKey, Pod]:
    return {pod.key: pod for pod in snapshot.pods}
