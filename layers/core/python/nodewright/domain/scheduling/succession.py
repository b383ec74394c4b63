"""Plans made one after the other, each with what those before it left."""

from collections.abc import Sequence
from dataclasses import replace

from nodewright.domain.plans import Launch, Nomination, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling.bought import Bought
from nodewright.domain.scheduling.planned_rooms import filled, paid
from nodewright.domain.snapshot import Snapshot


class Succession:
    """Rooms fill, pools are used up, and nodes that were bought are rooms for whoever comes later."""

    def __init__(self, snapshot: Snapshot) -> None:
        """`snapshot.pods`: those of all the plans."""
        self._snapshot = snapshot
        self._pods = {pod.key: pod for pod in snapshot.pods}
        self._rooms = {room.name: room for room in snapshot.rooms}
        self._pools = snapshot.pools
        self._sent: dict[str, tuple[PodKey, ...]] = {}
        self._bought = Bought(snapshot)
        self._plans = 0

    def left(self, pods: Sequence[Pod]) -> Snapshot:
        """What these find."""
        self._rooms |= {room.name: room for room in self._bought.rooms()}
        return replace(self._snapshot, pods=tuple(pods), rooms=tuple(self._rooms.values()), pools=self._pools)

    def add(self, plan: Plan) -> None:
        """One made on what was left."""
        for nomination in plan.nominations:
            self._send(nomination)
        for place, launch in enumerate(plan.launches):
            self._bought.add(launch, f"new {self._plans}.{place}")
            self._pools = tuple(paid(options, launch) for options in self._pools)
        self._plans += 1

    def launches(self) -> tuple[Launch, ...]:
        """Of all plans, with whoever came later."""
        return tuple(self._bought.launches())

    def nominations(self) -> tuple[Nomination, ...]:
        """Of all plans, to rooms that were there before the first."""
        return tuple(Nomination(name, keys) for name, keys in sorted(self._sent.items()))

    def _send(self, nomination: Nomination) -> None:
        name = nomination.node
        self._rooms[name] = filled(self._rooms[name], tuple(self._pods[key] for key in nomination.pods))
        if name in self._bought:
            self._bought.send(name, nomination.pods)
        else:
            self._sent[name] = (*self._sent.get(name, ()), *nomination.pods)
