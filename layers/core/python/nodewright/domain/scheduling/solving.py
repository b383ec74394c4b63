"""One scheduler, used by everything that asks where pods would go."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from nodewright.domain.collecting import without_collecting
from nodewright.domain.plans import Plan, Unschedulable
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling import rooms
from nodewright.domain.scheduling.at_risk import within_caps
from nodewright.domain.scheduling.bought import topped_up
from nodewright.domain.scheduling.budget import Budget, Known, Meter, never
from nodewright.domain.scheduling.buying import buy
from nodewright.domain.scheduling.entangled import Tangle, tangle
from nodewright.domain.scheduling.foresight import foreseeing
from nodewright.domain.scheduling.joint import Joint, JointPlan
from nodewright.domain.scheduling.permitted import Experience, permitted
from nodewright.domain.scheduling.preferring import preferring
from nodewright.domain.scheduling.priorities import higher_first
from nodewright.domain.scheduling.proposals import better_plan
from nodewright.domain.scheduling.reasons import Reason, problem_reason, reason, time_reason
from nodewright.domain.scheduling.retracting import kept
from nodewright.domain.scheduling.rule_reasons import rule_reason
from nodewright.domain.scheduling.second_look import looked_again
from nodewright.domain.scheduling.shapes import Shape, Waiting, group
from nodewright.domain.scheduling.tiers import Tier
from nodewright.domain.scheduling.tolls import tolled
from nodewright.domain.snapshot import Room, Snapshot


def solve(snapshot: Snapshot, budget: Budget = Budget(), expired: Callable[[], bool] = never) -> Plan:  # noqa: B008
    """Where every pod of the snapshot goes: rooms that are there first, then new nodes by pool weight.

    Pods that aren't there, if any, come after all that are.

    Pure: a function of snapshot and budget, byte for byte, in whatever order the snapshot lists things.
    `expired` is the outer guard; a plan it cuts says `truncated`, and what is in it may be launched.
    """
    known: Known = {}

    def made(asked: Snapshot, within: Budget) -> Plan:
        return _made(asked, within, expired, known)

    def wished(asked: Snapshot) -> Plan:
        experience = Experience()
        return preferring(asked, budget, lambda part, within: permitted(part, within, made, experience))

    with without_collecting():
        return within_caps(snapshot, lambda asked: foreseeing(asked, wished))


def _made(snapshot: Snapshot, budget: Budget, expired: Callable[[], bool], known: Known) -> Plan:
    """Without preferences, and without what may not come to its nodes."""

    def careful(part: Snapshot) -> Plan:
        return proposed(part, budget, expired, known)

    def keeping(plan: Plan) -> Plan:
        return kept(snapshot, plan)

    def judged(plan: Plan) -> Plan:
        return higher_first(snapshot, keeping(plan), careful, keeping)

    return looked_again(snapshot, better_plan(snapshot, careful, judged, lambda: Meter(budget, expired, known)))


def proposed(snapshot: Snapshot, budget: Budget, expired: Callable[[], bool], known: Known | None = None) -> Plan:
    """Pods under rules one by one, the others by shape."""
    hopeless = group(pod for pod in snapshot.pods if pod.problems)
    sorted_out = _sorted_out(snapshot, budget)
    free = group(sorted_out.free)
    meter = Meter(budget, expired, known)
    told = tuple(_hopeless(hopeless))
    if not sorted_out.kinds:
        return _apart(snapshot, Waiting(free), meter, told)
    return _joint(snapshot, sorted_out, free, meter, told)


def _sorted_out(snapshot: Snapshot, budget: Budget) -> Tangle:
    pods = [pod for pod in snapshot.pods if not pod.problems]
    sorted_out = tangle(snapshot, pods)
    if budget.toll.price and sorted_out.kinds and len(pods) <= _FEW:
        # Under tolls it is cheap to let a node grow and dear to buy another one beside it.
        return tangle(snapshot, pods, whole=True)
    return sorted_out


_FEW: Final = 1_000
"""Pods planned one by one even where no rule asks for it."""


def _apart(snapshot: Snapshot, waiting: Waiting, meter: Meter, hopeless: Sequence[Unschedulable]) -> Plan:
    """No pod's place matters to another."""
    nominations = rooms.place(snapshot.rooms, waiting)
    held = tuple(_held(_waiting(waiting), snapshot.set_aside))
    waiting.drop({each.pod for each in held})
    purchase = buy(snapshot.pools, snapshot.daemon_sets, waiting, meter, lambda each: tolled(each, meter.toll))
    launches = topped_up(snapshot, purchase.launches, waiting)
    left = _left(waiting, purchase.tiers, len(snapshot.rooms), cut=meter.stopped)
    return Plan(
        launches=launches,
        nominations=nominations,
        unschedulable=_by_pod(hopeless, held, left),
        cost=purchase.cost,
        bound=purchase.bound,
        truncated=meter.stopped,
    )


def _joint(
    snapshot: Snapshot, sorted_out: Tangle, free: Sequence[Shape], meter: Meter, hopeless: Sequence[Unschedulable]
) -> Plan:
    plan, joint = _once(snapshot, sorted_out, free, meter, hopeless, ())
    if joint.surprises:
        plan, _ = _once(snapshot, sorted_out, free, meter, hopeless, joint.surprises)
    return plan


def _once(
    snapshot: Snapshot,
    sorted_out: Tangle,
    free: Sequence[Shape],
    meter: Meter,
    hopeless: Sequence[Unschedulable],
    expected: Sequence[Room],
) -> tuple[Plan, Joint]:
    waiting = Waiting(free)
    joint = JointPlan(snapshot, sorted_out, waiting, meter, expected).run()
    left = _left(waiting, joint.tiers, len(snapshot.rooms), cut=meter.stopped)
    held = _held(joint.held, snapshot.set_aside)
    plan = Plan(
        launches=joint.launches,
        nominations=joint.nominations,
        unschedulable=_by_pod(
            hopeless, held, left, _hindered(joint), _lost(joint), _stuck(joint, snapshot, cut=meter.stopped)
        ),
        cost=sum(launch.price * len(launch.nodes) for launch in joint.launches),
        bound=joint.bound,
        truncated=meter.stopped,
    )
    return plan, joint


def _hopeless(shapes: Sequence[Shape]) -> Iterator[Unschedulable]:
    for shape in shapes:
        why = problem_reason(shape.problems)
        yield from (Unschedulable(pod, why.word, why.message) for pod in shape.pods)


def _waiting(waiting: Waiting) -> Iterator[PodKey]:
    for number in range(len(waiting.shapes)):
        yield from waiting.pods(number)


def _held(pods: Iterable[PodKey], set_aside: Mapping[PodKey, str]) -> Iterator[Unschedulable]:
    """Those found no room, and nothing is bought for them now."""
    return (Unschedulable(pod, "SetAside", set_aside[pod]) for pod in pods if pod in set_aside)


def _left(waiting: Waiting, tiers: Sequence[Tier], room_count: int, *, cut: bool) -> Iterator[Unschedulable]:
    for number, shape in enumerate(waiting.shapes):
        pods = waiting.pods(number)
        if pods:
            why = time_reason() if cut else reason(shape, tiers, room_count)
            yield from (Unschedulable(pod, why.word, why.message) for pod in pods)


def _stuck(joint: Joint, snapshot: Snapshot, *, cut: bool) -> Iterator[Unschedulable]:
    """Entangled pods without a place."""
    scene = joint.scene
    for number, kind in enumerate(scene.tangle.kinds):
        pods = scene.waiting[number]
        if pods:
            why = _why(joint, number, snapshot, cut=cut)
            yield from (Unschedulable(pod.key, why.word, why.message) for pod in pods.values() if not kind.held)
            yield from _held((pod for pod in pods if kind.held), snapshot.set_aside)


def _hindered(joint: Joint) -> Iterator[Unschedulable]:
    text = "; it is planned again once those are bound"
    return (Unschedulable(pod, "WaitsForOthers", why + text) for pod, why in joint.hindered.items())


def _lost(joint: Joint) -> Iterator[Unschedulable]:
    text = "what the pool's limits leave is too little for the choice that its minValues ask for; raise or lower them"
    return (Unschedulable(pod, "MinValuesNotMet", text) for pod in joint.scene.lost)


def _why(joint: Joint, kind: int, snapshot: Snapshot, *, cut: bool) -> Reason:
    return time_reason() if cut else rule_reason(joint.scene, kind, joint.tiers, len(snapshot.rooms))


def _by_pod(*several: Iterable[Unschedulable]) -> tuple[Unschedulable, ...]:
    return tuple(sorted((each for some in several for each in some), key=lambda each: each.pod))
