"""Nodes of launches that further pods may still go to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from nodewright.domain.plans import Launch
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.planned_rooms import planned_rooms
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

    def add(self, launch: Launch, name: str) -> Iterator[Room]:
        """Its nodes, named after it."""
        self._launches[name] = launch
        rooms = planned_rooms(self._snapshot, launch, self._pods, name)
        for room, pods in zip(rooms, launch.nodes, strict=True):
            self._nodes[room.name] = _Node(name, pods)
            yield room

    def __contains__(self, room: str) -> bool:
        return room in self._nodes

    def send(self, room: str, pods: Sequence[PodKey]) -> None:
        """Further pods for a node."""
        self._nodes[room].pods += tuple(pods)

    def launches(self) -> Iterator[Launch]:
        """With all their pods; nodes of one launch stay one as long as they hold the same."""
        found: dict[tuple[str, Resources, tuple[str, ...]], list[tuple[PodKey, ...]]] = {}
        for node in self._nodes.values():
            requests = sum((self._pods[key].requests for key in node.pods), Resources())
            labels = _read([self._pods[key] for key in node.pods]).union(self._launches[node.launch].selected_labels)
            found.setdefault((node.launch, requests, tuple(sorted(labels))), []).append(node.pods)
        for (name, requests, keys), nodes in found.items():
            yield replace(self._launches[name], requests=requests, nodes=tuple(nodes), selected_labels=keys)


def topped_up(snapshot: Snapshot, launches: Sequence[Launch], waiting: Waiting) -> tuple[Launch, ...]:
    """The launches with pods without rules that limits left, also where their kind of node is kept back from them."""
    limited = any(options.remaining is not None for options in snapshot.pools)
    if not (limited and launches and waiting.left.any()):
        return tuple(launches)
    bought = Bought(snapshot)
    rooms = [room for number, launch in enumerate(launches) for room in bought.add(launch, f"{number}")]
    floor = Floor(rooms, waiting)
    floor.fill()
    for room, pods in zip(rooms, floor.placed, strict=True):
        bought.send(room.name, pods)
    return tuple(bought.launches())


def _read(pods: Sequence[Pod]) -> set[str]:
    """Labels that these ask for."""
    return {key for pod in pods for each in pod.alternatives for key in each}
