"""Higher priority first where not all can be placed: class by class, each with what the higher ones left.

Where all find a place, or all have one priority, nothing of this costs anything.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from nodewright.domain.plans import Nomination, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling.bought import Bought
from nodewright.domain.scheduling.planned_rooms import filled, paid
from nodewright.domain.snapshot import Room, Snapshot
from nodewright.domain.taints import untolerated

Planner = Callable[[Snapshot], Plan]


def higher_first(snapshot: Snapshot, plan: Plan, planner: Planner) -> Plan:
    """The plan, or one in which pods that stayed out come before those of lower priority that came in."""
    if plan.truncated or not _outranked(snapshot, plan):
        return plan
    again = _Classes(snapshot, planner).plan()
    return min(plan, again, key=lambda each: _left_out(snapshot, each))


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


class _Classes:
    """A plan made class by class, each with what the higher ones left."""

    def __init__(self, snapshot: Snapshot, planner: Planner) -> None:
        self._snapshot = snapshot
        self._planner = planner
        self._pods = {pod.key: pod for pod in snapshot.pods}
        self._rooms = {room.name: room for room in snapshot.rooms}
        self._pools = snapshot.pools
        self._sent: dict[str, tuple[PodKey, ...]] = {}
        self._bought = Bought(snapshot)

    def plan(self) -> Plan:
        """All classes, one after the other."""
        priorities = sorted({pod.priority for pod in self._pods.values()}, reverse=True)
        plans = [self._class(number, priority) for number, priority in enumerate(priorities)]
        launches = tuple(self._bought.launches())
        return Plan(
            launches=launches,
            nominations=tuple(Nomination(name, keys) for name, keys in sorted(self._sent.items())),
            unschedulable=tuple(sorted((u for plan in plans for u in plan.unschedulable), key=lambda each: each.pod)),
            cost=sum(launch.price * len(launch.nodes) for launch in launches),
            truncated=any(plan.truncated for plan in plans),
        )

    def _class(self, number: int, priority: int) -> Plan:
        some = tuple(pod for pod in self._snapshot.pods if pod.priority == priority)
        plan = self._planner(
            replace(self._snapshot, pods=some, rooms=tuple(self._rooms.values()), pools=tuple(self._pools))
        )
        for nomination in plan.nominations:
            self._send(nomination)
        for place, launch in enumerate(plan.launches):
            self._rooms |= {room.name: room for room in self._bought.add(launch, f"new {number}.{place}")}
            self._pools = tuple(paid(options, launch) for options in self._pools)
        return plan

    def _send(self, nomination: Nomination) -> None:
        name = nomination.node
        self._rooms[name] = filled(self._rooms[name], tuple(self._pods[key] for key in nomination.pods))
        if name in self._bought:
            self._bought.send(name, nomination.pods)
        else:
            self._sent[name] = (*self._sent.get(name, ()), *nomination.pods)
