"""Higher priority first where not all can be placed: class by class, each with what the higher ones left.

Where all find a place, or all have one priority, nothing of this costs anything.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from nodewright.domain.plans import Plan, Unschedulable
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling.succession import Succession
from nodewright.domain.scheduling.yielding import renamed, yielding
from nodewright.domain.snapshot import Room, Snapshot
from nodewright.domain.taints import untolerated

Planner = Callable[[Snapshot], Plan]


def higher_first(snapshot: Snapshot, plan: Plan, planner: Planner, keeping: Callable[[Plan], Plan]) -> Plan:
    """The plan, or one in which pods that stayed out come before those of lower priority that came in.

    `keeping` takes out of that who may not come to their nodes, as it was done in the plan.
    """
    if not plan.truncated and _outranked(snapshot, plan):
        again = keeping(_class_by_class(snapshot, planner))
        plan = min(plan, again, key=lambda each: left_out(snapshot, each))
    return _in_place_of_others(snapshot, plan)


def left_out(snapshot: Snapshot, plan: Plan) -> tuple[int, ...]:
    """How many of each priority, the highest first."""
    priorities = {pod.key: pod.priority for pod in snapshot.pods}
    left = [priorities[each.pod] for each in plan.unschedulable]
    return tuple(left.count(priority) for priority in sorted(set(priorities.values()), reverse=True))


def _in_place_of_others(snapshot: Snapshot, plan: Plan) -> Plan:
    """The plan with pods that stayed out in the places of less important ones that are like them."""
    names = yielding(snapshot, plan, [each.pod for each in plan.unschedulable if each.reason not in NEVER_PLANNED])
    told = (replace(each, pod=names.get(each.pod, each.pod)) for each in plan.unschedulable)
    left = tuple(sorted(told, key=lambda each: each.pod))
    return replace(renamed(plan, names), unschedulable=left) if names else plan


NEVER_PLANNED: Final = frozenset({"Unsupported", "SetAside"})
PERMANENT: Final = frozenset({"NoPool", "NoInstanceType", "TaintNotTolerated", "VolumeZone", "AttachLimit"})
"""Why nothing is bought for a pod whatever the limits."""


def _outranked(snapshot: Snapshot, plan: Plan) -> bool:
    """Whether some pod stayed out where one of lower priority took what it could have used."""
    pods = {pod.key: pod for pod in snapshot.pods}
    left = [(pods[each.pod], each.reason) for each in plan.unschedulable if each.reason not in NEVER_PLANNED]
    new = (key for launch in plan.launches for node in launch.nodes for key in node)
    if any(options.remaining is not None for options in snapshot.pools):
        bought = min((pods[key].priority for key in new), default=None)
        if bought is not None and any(pod.priority > bought for pod, word in left if word not in PERMANENT):
            return True
    rooms = {room.name: room for room in snapshot.rooms}
    taken = [(rooms[each.node], min(pods[key].priority for key in each.pods)) for each in plan.nominations]
    return any(pod.priority > least and _would_do(room, pod) for pod, _ in left for room, least in taken)


def _would_do(room: Room, pod: Pod) -> bool:
    if not pod.requests.fits(room.available) or untolerated(pod.tolerations, room.taints):
        return False
    return any(each.admits(room.labels) for each in pod.alternatives)


def _class_by_class(snapshot: Snapshot, planner: Planner) -> Plan:
    """Twice: what waits for pods of lower rank finds them there then."""
    classes = _Classes(snapshot, planner)
    ranks: defaultdict[int, list[Pod]] = defaultdict(list)
    for pod in snapshot.pods:
        ranks[pod.priority].append(pod)
    in_turn = [ranks[priority] for priority in sorted(ranks, reverse=True)]
    # All at once were planned before.
    half = len(in_turn) // 2
    classes.place(in_turn[:half])
    classes.place(in_turn[half:])
    waiting = ([pod for pod in each if _waits(pod, classes.left)] for each in in_turn[:-1])
    classes.place([each for each in waiting if each])
    return classes.plan()


class _Classes:
    """Pods of many priorities, one class after the other; several at once where none takes a higher one's place."""

    def __init__(self, snapshot: Snapshot, planner: Planner) -> None:
        self._snapshot = snapshot
        self._planner = planner
        self._succession = Succession(snapshot)
        self.left: dict[PodKey, Unschedulable] = {}
        self._truncated = False

    def place(self, classes: Sequence[Sequence[Pod]]) -> None:
        """The highest first; half of them after the other where they can't be placed at once."""
        if not classes:
            return
        pods = [pod for each in classes for pod in each]
        plan = self._at_once(pods) if len(classes) > 1 else self._succession.extend(pods, self._planner)
        if plan is None:
            half = len(classes) // 2
            self.place(classes[:half])
            self.place(classes[half:])
            return
        for pod in pods:
            self.left.pop(pod.key, None)
        self.left |= {each.pod: each for each in plan.unschedulable}
        self._truncated |= plan.truncated

    def plan(self) -> Plan:
        """What came of it."""
        launches = self._succession.launches()
        return Plan(
            launches=launches,
            nominations=self._succession.nominations(),
            unschedulable=tuple(sorted(self.left.values(), key=lambda each: each.pod)),
            cost=sum(launch.price * len(launch.nodes) for launch in launches),
            truncated=self._truncated,
        )

    def _at_once(self, pods: Sequence[Pod]) -> Plan | None:
        if any(pod.key in self._snapshot.set_aside for pod in pods):
            return None
        return self._succession.attempt(pods, self._planner, lambda found, plan: not _outranked(found, plan))


def _waits(pod: Pod, left: Mapping[PodKey, Unschedulable]) -> bool:
    """Whether others than were there may help it."""
    if pod.key not in left or left[pod.key].reason in NEVER_PLANNED | PERMANENT:
        return False
    return bool(pod.affinity) or any(spread.hard for spread in pod.spreads)
