"""Pods that aren't there, judged as if they were: the rules are the same for them."""

from dataclasses import replace

from nodewright.domain.plans import Foresight, Launch, Nomination, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.snapshot import Snapshot


def come_true(snapshot: Snapshot, plan: Plan) -> tuple[Snapshot, Plan]:
    """A snapshot and a plan in which they exist."""
    if plan.truncated or not (snapshot.expected or snapshot.headroom):
        return replace(snapshot, expected=(), headroom=()), plan
    foreseen = (plan.expected, plan.headroom)
    sent: dict[str, tuple[PodKey, ...]] = {}
    for each in (n for some in (plan, *foreseen) for n in some.nominations):
        sent[each.node] = (*sent.get(each.node, ()), *each.pods)
    real = replace(
        plan,
        launches=tuple(map(_with_all, plan.launches)),
        nominations=tuple(Nomination(node, pods) for node, pods in sorted(sent.items())),
        unschedulable=(*plan.unschedulable, *(each for some in foreseen for each in some.left)),
        expected=Foresight(),
        headroom=Foresight(),
    )
    pods = (*snapshot.pods, *snapshot.expected, *snapshot.headroom)
    return replace(snapshot, pods=pods, expected=(), headroom=()), real


def rank(pod: Pod) -> tuple[int, int]:
    """Pods that aren't there come after all that are, whatever their priority."""
    return ("headroom", "expected", "itself").index(pod.stands_for), pod.priority


def faults_of_rank(snapshot: Snapshot, plan: Plan) -> list[str]:
    """Only pods that are there may be told anything."""
    there = {pod.key for pod in snapshot.pods}
    told = {key for each in plan.nominations for key in each.pods} | {each.pod for each in plan.unschedulable}
    bought = {key for launch in plan.launches for node in launch.nodes for key in node}
    return [f"{key} isn't there, and counts as a pod" for key in sorted((told | bought) - there)]


def _with_all(launch: Launch) -> Launch:
    nodes = tuple(content.pods + content.expected + content.headroom for content in launch.contents)
    return replace(launch, nodes=nodes, expected=(), headroom=())
