"""kube-scheduler in small: pods one by one to nodes that take them, by rules that no planner of ours shares.

Enough of the real one for simulations: requests, node selectors and affinity, taints, nominations; nodes
that are equally good are told apart by chance, as there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from nodewright.domain.nodes import Node
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import CPU, Resources
from nodewright.domain.taints import untolerated


@dataclass(frozen=True, slots=True)
class Scheduled:
    """What came of one pass."""

    bound: Mapping[PodKey, str]
    failed: tuple[PodKey, ...]


@dataclass(slots=True)
class Seat:
    """A node with what is free on it."""

    node: Node
    free: Resources


@dataclass
class KubeScheduler:
    """Remembers nothing but its luck."""

    chance: Random = field(default_factory=lambda: Random(0))  # noqa: S311  luck, no secret

    def schedule(self, nodes: Iterable[Node], pods: Iterable[Pod]) -> Scheduled:
        """Bind what waits, by priority, then age: each to the emptiest node that takes it."""
        everybody = tuple(pods)
        seats = free_seats(nodes, everybody)
        bound: dict[PodKey, str] = {}
        failed: list[PodKey] = []
        for pod in sorted(filter(waits, everybody), key=lambda pod: (-pod.priority, pod.created, pod.key)):
            seat = self._choose(pod, [seat for seat in seats if takes(seat.node, seat.free, pod)])
            if seat is None:
                failed.append(pod.key)
            else:
                bound[pod.key] = seat.node.name
                seat.free -= pod.requests
        return Scheduled(bound, tuple(failed))

    def _choose(self, pod: Pod, seats: list[Seat]) -> Seat | None:
        nominated = [seat for seat in seats if seat.node.name == pod.nominated_node_name]
        best = nominated or _emptiest(seats)
        return self.chance.choice(best) if best else None


def free_seats(nodes: Iterable[Node], pods: Iterable[Pod]) -> list[Seat]:
    """Nodes in order of their names, each with what its pods leave free."""
    used: dict[str, Resources] = {}
    for pod in pods:
        if pod.node_name and not pod.is_terminal:
            used[pod.node_name] = used.get(pod.node_name, Resources()) + pod.requests
    ready = sorted((node for node in nodes if node.ready), key=lambda node: node.name)
    return [Seat(node, node.allocatable - used.get(node.name, Resources())) for node in ready]


def waits(pod: Pod) -> bool:
    """Whether the default scheduler would try to place it."""
    settled = pod.node_name or pod.is_terminal or pod.terminating or pod.gated
    return not settled and pod.scheduler_name == "default-scheduler"


def takes(node: Node, free: Resources, pod: Pod) -> bool:
    """Whether the filters let the pod onto the node."""
    if node.unschedulable or untolerated(pod.tolerations, node.taints):
        return False
    return pod.requests.fits(free) and any(term.admits(node.labels) for term in pod.alternatives)


def _emptiest(seats: list[Seat]) -> list[Seat]:
    most = max((_share(seat) for seat in seats), default=0)
    return [seat for seat in seats if _share(seat) == most]


def _share(seat: Seat) -> int:
    return seat.free.get(CPU) * 100 // max(1, seat.node.allocatable.get(CPU))
