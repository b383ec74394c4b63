"""Everything that is wrong with a plan."""

from collections import Counter
from collections.abc import Iterator

from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.snapshot import Snapshot
from tests.oracle.at_risk import at_risk_faults
from tests.oracle.binding import binding_faults
from tests.oracle.foresight import come_true, faults_of_rank, rank
from tests.oracle.launches import launch_faults, limit_faults


def check(snapshot: Snapshot, plan: Plan) -> list[str]:
    """Sentences, none when no hard constraint is broken."""
    misplaced = faults_of_rank(snapshot, plan)
    snapshot, plan = come_true(snapshot, plan)
    return [
        *misplaced,
        *_count_faults(snapshot, plan),
        *_cost_faults(plan),
        *_priority_faults(snapshot, plan),
        *launch_faults(snapshot, plan),
        *limit_faults(snapshot, plan),
        *at_risk_faults(snapshot, plan),
        *binding_faults(snapshot, plan),
    ]


def likeness(pod: Pod) -> tuple[object, ...]:
    """All that a decision may look at but name and priority; equal for replicas."""
    return (
        pod.key.namespace,
        pod.owner,
        pod.labels,
        pod.requests,
        pod.alternatives,
        pod.tolerations,
        pod.spreads,
        pod.affinity,
        pod.anti_affinity,
        pod.preferences,
        pod.host_ports,
        pod.volume_nodes,
        pod.attachments,
        pod.problems,
    )


def _count_faults(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    """Every pod has one answer."""
    answers = Counter(
        [key for launch in plan.launches for content in launch.nodes for key in content]
        + [key for each in plan.nominations for key in each.pods]
        + [each.pod for each in plan.unschedulable]
    )
    asked = {pod.key for pod in snapshot.pods}
    yield from (f"{key} has no answer" for key in sorted(asked - answers.keys()))
    yield from (f"{key} isn't among the pods that wait" for key in sorted(answers.keys() - asked))
    yield from (f"{key} has {times} answers" for key, times in sorted(answers.items()) if times > 1)
    rooms = {room.name for room in snapshot.rooms}
    yield from (f"{each.node} isn't a node that takes pods" for each in plan.nominations if each.node not in rooms)
    yield from (f"{each.pod} is left without a reason" for each in plan.unschedulable if not each.message)


def _cost_faults(plan: Plan) -> Iterator[str]:
    cost = sum(launch.price * len(launch.nodes) for launch in plan.launches)
    if plan.cost != cost:
        yield f"the launches cost {cost}, the plan says {plan.cost}"
    if plan.bound is not None and plan.bound > plan.cost:
        yield f"bound {plan.bound} above cost {plan.cost}"


def _priority_faults(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    """Of pods that are alike the more important are bought for first.

    But one that seeks company has none of pods that aren't there, which those that aren't there either may have.
    """
    left = {each.pod for each in plan.unschedulable}
    bought = {key for launch in plan.launches for content in launch.nodes for key in content}
    for pod in (each for each in snapshot.pods if each.key in left and each.key not in snapshot.set_aside):
        less = (each for each in snapshot.pods if each.key in bought and rank(each) < rank(pod))
        for other in (each for each in less if likeness(each) == likeness(pod) and not _only_it_has_company(each, pod)):
            yield f"{pod.key} of priority {pod.priority} is left, {other.key} of {other.priority} is bought for"


def _only_it_has_company(pod: Pod, left: Pod) -> bool:
    return bool(left.affinity) and pod.stands_for != left.stands_for
