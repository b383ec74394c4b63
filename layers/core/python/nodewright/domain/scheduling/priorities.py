"""Higher priority first where not all can be placed: class by class, each with what the higher ones left.

Where all find a place, or all have one priority, nothing of this costs anything.
"""

from collections.abc import Callable, Mapping
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
        plan = min(plan, again, key=lambda each: _left_out(snapshot, each))
    return _in_place_of_others(snapshot, plan)


def _in_place_of_others(snapshot: Snapshot, plan: Plan) -> Plan:
    """The plan with pods that stayed out in the places of less important ones that are like them."""
    names = yielding(snapshot, plan, [each.pod for each in plan.unschedulable if each.reason not in _NEVER_PLANNED])
    told = (replace(each, pod=names.get(each.pod, each.pod)) for each in plan.unschedulable)
    left = tuple(sorted(told, key=lambda each: each.pod))
    return replace(renamed(plan, names), unschedulable=left) if names else plan


_NEVER_PLANNED: Final = frozenset({"Unsupported", "SetAside"})
_PERMANENT: Final = frozenset({"NoPool", "NoInstanceType", "TaintNotTolerated", "VolumeZone", "AttachLimit"})
"""Why nothing is bought for a pod whatever the limits."""


def _outranked(snapshot: Snapshot, plan: Plan) -> bool:
    """Whether some pod stayed out where one of lower priority took what it could have used."""
    pods = {pod.key: pod for pod in snapshot.pods}
    left = [(pods[each.pod], each.reason) for each in plan.unschedulable if each.reason not in _NEVER_PLANNED]
    new = (key for launch in plan.launches for node in launch.nodes for key in node)
    if any(options.remaining is not None for options in snapshot.pools):
        bought = min((pods[key].priority for key in new), default=None)
        if bought is not None and any(pod.priority > bought for pod, word in left if word not in _PERMANENT):
            return True
    rooms = {room.name: room for room in snapshot.rooms}
    taken = [(rooms[each.node], min(pods[key].priority for key in each.pods)) for each in plan.nominations]
    return any(pod.priority > least and _would_do(room, pod) for pod, _ in left for room, least in taken)


def _would_do(room: Room, pod: Pod) -> bool:
    if not pod.requests.fits(room.available) or untolerated(pod.tolerations, room.taints):
        return False
    return any(each.admits(room.labels) for each in pod.alternatives)


def _left_out(snapshot: Snapshot, plan: Plan) -> tuple[int, ...]:
    """How many of each priority, the highest first."""
    priorities = {pod.key: pod.priority for pod in snapshot.pods}
    left = [priorities[each.pod] for each in plan.unschedulable]
    return tuple(left.count(priority) for priority in sorted(set(priorities.values()), reverse=True))


def _class_by_class(snapshot: Snapshot, planner: Planner) -> Plan:
    """Twice: what waits for pods of lower rank finds them there then."""
    succession = Succession(snapshot)
    left: dict[PodKey, Unschedulable] = {}
    truncated = False
    classes = sorted({pod.priority for pod in snapshot.pods}, reverse=True)
    for turn, priority in [*((0, each) for each in classes), *((1, each) for each in classes[:-1])]:
        some = [pod for pod in snapshot.pods if pod.priority == priority and (not turn or _waits(pod, left))]
        if some:
            plan = succession.extend(some, planner)
            for pod in some:
                left.pop(pod.key, None)
            left |= {each.pod: each for each in plan.unschedulable}
            truncated |= plan.truncated
    launches = succession.launches()
    return Plan(
        launches=launches,
        nominations=succession.nominations(),
        unschedulable=tuple(sorted(left.values(), key=lambda each: each.pod)),
        cost=sum(launch.price * len(launch.nodes) for launch in launches),
        truncated=truncated,
    )


def _waits(pod: Pod, left: Mapping[PodKey, Unschedulable]) -> bool:
    """Whether others than were there may help it."""
    if pod.key not in left or left[pod.key].reason in _NEVER_PLANNED | _PERMANENT:
        return False
    return bool(pod.affinity) or any(spread.hard for spread in pod.spreads)
