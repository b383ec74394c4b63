"""Taking pods out of a plan."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from nodewright.domain.plans import Launch, Nomination, Plan, Unschedulable
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.entangled import are_entangled
from nodewright.domain.scheduling.proving import proven
from nodewright.domain.scheduling.verifying import unkept
from nodewright.domain.snapshot import Snapshot


def kept(snapshot: Snapshot, plan: Plan) -> Plan:
    """The plan without the pods that may not come to their nodes; they are planned again once others are bound."""
    if not are_entangled(snapshot):
        return plan
    smaller = plan
    while broken := unkept(snapshot, smaller):
        given_up = _yielding(snapshot, smaller, broken)
        told = {given_up.get(key, key): why for key, why in broken.items()}
        smaller = _without(snapshot, _renamed(smaller, given_up), told)
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


def _yielding(snapshot: Snapshot, plan: Plan, broken: Mapping[PodKey, str]) -> Mapping[PodKey, PodKey]:
    """Broken pods → others alike of lower priority that have a place, which they change with; and the reverse."""
    pods = {pod.key: pod for pod in snapshot.pods if pod.key not in snapshot.set_aside}
    if len({pod.priority for pod in pods.values()}) < 2:
        return {}
    placed = [pods[key] for key in _placed(plan) if key in pods and key not in broken]
    found: dict[PodKey, PodKey] = {}
    for pod in sorted((pods[key] for key in broken if key in pods), key=lambda each: (-each.priority, each.key)):
        less = [each for each in placed if each.priority < pod.priority and each.key not in found]
        alike = min((each for each in less if _likeness(each) == _likeness(pod)), key=_rank, default=None)
        if alike is not None:
            found |= {pod.key: alike.key, alike.key: pod.key}
    return found


def _rank(pod: Pod) -> tuple[int, PodKey]:
    return pod.priority, pod.key


def _likeness(pod: Pod) -> tuple[object, ...]:
    """All that says where it may go and what it does to others there."""
    rules = (pod.spreads, pod.affinity, pod.anti_affinity, pod.host_ports, pod.volume_nodes, pod.attachments)
    return (pod.key.namespace, pod.labels, pod.requests, pod.alternatives, pod.tolerations, *rules)


def _placed(plan: Plan) -> Iterator[PodKey]:
    for launch in plan.launches:
        for node in launch.nodes:
            yield from node
    for nomination in plan.nominations:
        yield from nomination.pods


def _renamed(plan: Plan, names: Mapping[PodKey, PodKey]) -> Plan:
    """With some pods in the places of others."""
    if not names:
        return plan
    launches = (
        replace(launch, nodes=tuple(tuple(names.get(key, key) for key in node) for node in launch.nodes))
        for launch in plan.launches
    )
    nominations = (Nomination(each.node, tuple(names.get(key, key) for key in each.pods)) for each in plan.nominations)
    return replace(plan, launches=tuple(launches), nominations=tuple(nominations))


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
