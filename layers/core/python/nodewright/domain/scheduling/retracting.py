"""Taking pods out of a plan."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nodewright.domain.plans import Launch, Nomination, Plan, Unschedulable
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.entangled import are_entangled
from nodewright.domain.scheduling.proving import proven
from nodewright.domain.scheduling.verifying import unkept
from nodewright.domain.scheduling.yielding import renamed, yielding
from nodewright.domain.snapshot import Snapshot


def kept(snapshot: Snapshot, plan: Plan) -> Plan:
    """The plan without the pods that may not come to their nodes; they are planned again once others are bound."""
    if not are_entangled(snapshot):
        return plan
    smaller = plan
    while broken := unkept(snapshot, smaller):
        given_up = yielding(snapshot, smaller, broken)
        told = {given_up.get(key, key): why for key, why in broken.items()}
        smaller = _without(snapshot, renamed(smaller, given_up), told)
    # What was proven was so of more pods.
    if plan.bound is None or smaller.launches == plan.launches:
        return smaller
    return replace(smaller, bound=proven(snapshot, smaller.launches))


def _without(snapshot: Snapshot, plan: Plan, broken: Mapping[PodKey, str]) -> Plan:
    """Without these pods; a node with nothing left on it is not bought."""
    gone = frozenset(broken)
    pods = {pod.key: pod for pod in snapshot.pods}
    launches = tuple(smaller for launch in plan.launches for smaller in _smaller(launch, gone, pods))
    left = ((each.node, tuple(pod for pod in each.pods if pod not in gone)) for each in plan.nominations)
    told = (Unschedulable(pod, "WaitsForOthers", _why(rule)) for pod, rule in broken.items())
    cost = sum(launch.price * len(launch.nodes) for launch in launches)
    return replace(
        plan,
        launches=launches,
        nominations=tuple(Nomination(node, some) for node, some in left if some),
        unschedulable=tuple(sorted((*plan.unschedulable, *told), key=lambda each: each.pod)),
        cost=cost,
    )


def _why(rule: str) -> str:
    return (
        f"it has a place, but {rule} could keep it out, depending on the order in which pods are bound; it is planned "
        f"again once the others are bound"
    )


def _smaller(launch: Launch, gone: frozenset[PodKey], pods: Mapping[PodKey, Pod]) -> Iterator[Launch]:
    """The same with fewer pods: nodes that keep all of theirs together, each other one apart."""
    whole = tuple(node for node in launch.nodes if not gone.intersection(node))
    if whole:
        yield replace(launch, nodes=whole)
    for node in launch.nodes:
        left = tuple(pod for pod in node if pod not in gone)
        if left and len(left) < len(node):
            requests = sum((pods[key].requests for key in left), Resources())
            yield replace(launch, nodes=(left,), requests=requests)
