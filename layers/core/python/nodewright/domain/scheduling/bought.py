"""Nodes of launches that further pods may still go to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nodewright.domain.plans import Launch
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.planned_rooms import planned_name, planned_rooms, total
from nodewright.domain.scheduling.rooms import Floor
from nodewright.domain.scheduling.shapes import Waiting
from nodewright.domain.snapshot import Room, Snapshot


@dataclass(slots=True)
class _Node:
    launch: str
    """Name of its launch."""
    pods: tuple[PodKey, ...]


class Bought:
    """Launches node by node, each a room of its own."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._pods = {pod.key: pod for pod in snapshot.pods}
        self._launches: dict[str, Launch] = {}
        self._nodes: dict[str, _Node] = {}
        self._unseen: list[str] = []

    def add(self, launch: Launch, name: str) -> None:
        """Its nodes, named after it."""
        self._launches[name] = launch
        self._unseen.append(name)
        for number, pods in enumerate(launch.nodes):
            self._nodes[planned_name(name, number)] = _Node(name, pods)

    def rooms(self) -> Iterator[Room]:
        """Of the launches added since this was asked last: most plans leave nobody who would look for one."""
        while self._unseen:
            name = self._unseen.pop(0)
            yield from planned_rooms(self._snapshot, self._launches[name], self._pods, name)

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, room: str) -> bool:
        return room in self._nodes

    def send(self, room: str, pods: Sequence[PodKey]) -> None:
        """Further pods for a node."""
        self._nodes[room].pods += tuple(pods)

    def launches(self) -> Iterator[Launch]:
        """With all their pods; nodes of one launch stay one as long as they hold the same."""
        found: dict[tuple[str, Resources, tuple[str, ...]], list[tuple[PodKey, ...]]] = {}
        for node in self._nodes.values():
            pods = [self._pods[key] for key in node.pods]
            labels = _read(pods).union(self._launches[node.launch].selected_labels)
            found.setdefault((node.launch, total(pods), tuple(sorted(labels))), []).append(node.pods)
        for (name, requests, keys), nodes in found.items():
            yield replace(self._launches[name], requests=requests, nodes=tuple(nodes), selected_labels=keys)


def topped_up(snapshot: Snapshot, launches: Sequence[Launch], waiting: Waiting) -> tuple[Launch, ...]:
    """The launches with pods without rules that limits left, also where their kind of node is kept back from them."""
    limited = any(options.remaining is not None for options in snapshot.pools)
    if not (limited and launches and waiting.left.any()):
        return tuple(launches)
    bought = Bought(snapshot)
    for number, launch in enumerate(launches):
        bought.add(launch, f"{number}")
    rooms = list(bought.rooms())
    floor = Floor(rooms, waiting)
    floor.fill()
    for room, pods in zip(rooms, floor.placed, strict=True):
        bought.send(room.name, pods)
    return tuple(bought.launches())


def _read(pods: Sequence[Pod]) -> set[str]:
    """Labels that these ask for."""
    return {key for each in {pod.alternatives for pod in pods} for one in each for key in one}
