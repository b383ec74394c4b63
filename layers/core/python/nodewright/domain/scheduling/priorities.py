"""Higher priority first where not all can be placed: class by class, each with what the higher ones left.

Where all find a place, or all have one priority, nothing of this costs anything.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from nodewright.domain.plans import Launch, Nomination, Plan, Unschedulable
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.planned_rooms import filled, paid, planned_rooms
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
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


@dataclass(slots=True)
class _Bought:
    """A node of an earlier class."""

    launch: Launch
    pods: tuple[PodKey, ...]


@dataclass(slots=True)
class _Classes:
    snapshot: Snapshot
    planner: Planner
    _rooms: dict[str, Room] = field(default_factory=dict, init=False)
    _pools: tuple[PoolOptions, ...] = field(default=(), init=False)
    _sent: dict[str, tuple[PodKey, ...]] = field(default_factory=dict, init=False)
    _bought: dict[str, _Bought] = field(default_factory=dict, init=False)
    _left: list[Unschedulable] = field(default_factory=list, init=False)
    _truncated: bool = field(default=False, init=False)

    def plan(self) -> Plan:
        """All classes, one after the other."""
        self._rooms = {room.name: room for room in self.snapshot.rooms}
        self._pools = self.snapshot.pools
        pods = {pod.key: pod for pod in self.snapshot.pods}
        for number, priority in enumerate(sorted({pod.priority for pod in pods.values()}, reverse=True)):
            some = tuple(pod for pod in self.snapshot.pods if pod.priority == priority)
            now = replace(self.snapshot, pods=some, rooms=tuple(self._rooms.values()), pools=self._pools)
            self._take(self.planner(now), pods, number)
        launches = tuple(self._launches(pods))
        return Plan(
            launches=launches,
            nominations=tuple(Nomination(name, keys) for name, keys in sorted(self._sent.items())),
            unschedulable=tuple(sorted(self._left, key=lambda each: each.pod)),
            cost=sum(launch.price * len(launch.nodes) for launch in launches),
            truncated=self._truncated,
        )

    def _take(self, plan: Plan, pods: Mapping[PodKey, Pod], number: int) -> None:
        for nomination in plan.nominations:
            self._send(nomination, tuple(pods[key] for key in nomination.pods))
        for place, launch in enumerate(plan.launches):
            rooms = planned_rooms(self.snapshot, launch, pods, f"new {number}.{place}")
            for room, node in zip(rooms, launch.nodes, strict=True):
                self._rooms[room.name] = room
                self._bought[room.name] = _Bought(replace(launch, nodes=()), node)
            self._pools = tuple(paid(options, launch) for options in self._pools)
        self._left += plan.unschedulable
        self._truncated |= plan.truncated

    def _send(self, nomination: Nomination, pods: tuple[Pod, ...]) -> None:
        name = nomination.node
        self._rooms[name] = filled(self._rooms[name], pods)
        if name in self._bought:
            self._bought[name].pods += nomination.pods
        else:
            self._sent[name] = (*self._sent.get(name, ()), *nomination.pods)

    def _launches(self, pods: Mapping[PodKey, Pod]) -> Iterator[Launch]:
        """Nodes of one launch stay one as long as their pods ask for the same."""
        found: dict[str, list[_Bought]] = {}
        for name, bought in self._bought.items():
            requests = sum((pods[key].requests for key in bought.pods), Resources())
            keys = {key for pod in bought.pods for each in pods[pod].alternatives for key in each}
            bought.launch = replace(
                bought.launch,
                requests=requests,
                selected_labels=tuple(sorted(keys.union(bought.launch.selected_labels))),
            )
            found.setdefault(f"{name.rpartition('.')[0]} {requests} {bought.launch.selected_labels}", []).append(bought)
        for alike in found.values():
            yield replace(alike[0].launch, nodes=_nodes(alike))


def _nodes(bought: Sequence[_Bought]) -> tuple[tuple[PodKey, ...], ...]:
    return tuple(each.pods for each in bought)
