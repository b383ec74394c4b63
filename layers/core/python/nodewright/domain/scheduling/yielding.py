"""A more important pod takes the place of one that is like it in all but name and priority."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from nodewright.domain.plans import Nomination, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.snapshot import Snapshot


def yielding(snapshot: Snapshot, plan: Plan, placeless: Collection[PodKey]) -> Mapping[PodKey, PodKey]:
    """Pods without a place → others alike of lower priority that have one, which they change with; and the reverse."""
    pods = {pod.key: pod for pod in snapshot.pods if pod.key not in snapshot.set_aside}
    if len({pod.priority for pod in pods.values()}) < 2:
        return {}
    seekers = sorted((pods[key] for key in placeless if key in pods), key=lambda each: (-each.priority, each.key))
    placed = sorted((pods[key] for key in _placed(plan) if key in pods and key not in placeless), key=_rank)
    alike: defaultdict[tuple[object, ...], list[Pod]] = defaultdict(list)
    for each in placed if seekers else ():
        alike[_look(each)].append(each)
    found: dict[PodKey, PodKey] = {}
    for pod in seekers:
        others = alike[_look(pod)]
        less = (each for each in others if each.priority < pod.priority and likeness(each) == likeness(pod))
        if (other := next(less, None)) is not None:
            others.remove(other)
            found |= {pod.key: other.key, other.key: pod.key}
    return found


def likeness(pod: Pod) -> tuple[object, ...]:
    """All that says where it may go and what it does to others there."""
    rules = (pod.spreads, pod.affinity, pod.anti_affinity, pod.host_ports, pod.volume_nodes, pod.attachments)
    labels = tuple(sorted(pod.labels.items()))
    return (pod.key.namespace, labels, pod.requests, pod.alternatives, pod.tolerations, *rules)


def _look(pod: Pod) -> tuple[object, ...]:
    """Of few that aren't alike."""
    return (pod.key.namespace, pod.requests, *sorted(pod.labels.items()))


def _rank(pod: Pod) -> tuple[int, PodKey]:
    return pod.priority, pod.key


def _placed(plan: Plan) -> Iterator[PodKey]:
    for launch in plan.launches:
        for node in launch.nodes:
            yield from node
    for nomination in plan.nominations:
        yield from nomination.pods


def renamed(plan: Plan, names: Mapping[PodKey, PodKey]) -> Plan:
    """With some pods in the places of others."""
    if not names:
        return plan
    launches = (
        replace(launch, nodes=tuple(tuple(names.get(key, key) for key in node) for node in launch.nodes))
        for launch in plan.launches
    )
    nominations = (Nomination(each.node, tuple(names.get(key, key) for key in each.pods)) for each in plan.nominations)
    return replace(plan, launches=tuple(launches), nominations=tuple(nominations))
