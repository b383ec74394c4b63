"""Pods whose place matters to other pods or to what else is on a node, apart from those it doesn't matter for.

Only they need the careful path (careful.py); the others are planned by shape.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nodewright.domain.host_ports import HostPort
from nodewright.domain.pods import Attachment, Pod
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.rules import RepulsionRule, Rule, order, rules_of
from nodewright.domain.scheduling.selections import Selections
from nodewright.domain.scheduling.shapes import Wish, size_of, turn, wish_of
from nodewright.domain.snapshot import Room, Snapshot


@dataclass(frozen=True, slots=True)
class Kind:
    """Entangled pods that no decision can tell apart, in the order in which they are served."""

    requests: Resources
    wish: Wish
    reach: Wish
    """What the pods ask of nodes without their volumes: a spread's domains don't look at those."""
    owns: tuple[int, ...]
    """Rules they have."""
    selected: tuple[int, ...]
    """Rules that count them."""
    host_ports: tuple[HostPort, ...]
    attachments: frozenset[Attachment]
    held: bool
    """Nothing is bought for them now."""
    pods: tuple[Pod, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Tangle:
    """The entangled pods of a snapshot and the rules that matter."""

    rules: tuple[Rule, ...]
    index: Mapping[Rule, int]
    """Of each rule."""
    selections: Selections
    kinds: tuple[Kind, ...]
    free: tuple[Pod, ...]
    """All others."""


def tangle(snapshot: Snapshot, pods: Sequence[Pod], *, whole: bool = False) -> Tangle:
    """Sort these pending pods. Rules are in an order of their own, whatever order the snapshot has.

    `whole`: all of them count as entangled, so that nodes opened for some grow for others, too.
    """
    owned = {pod.key: tuple(rules_of(pod)) for pod in pods if pod.spreads or pod.affinity or pod.anti_affinity}
    rules = _ordered([*(rule for each in owned.values() for rule in each), *_standing(snapshot)])
    index = {rule: number for number, rule in enumerate(rules)}
    selections = Selections(rules, snapshot.namespaces)
    kinds: dict[_Likeness, list[Pod]] = {}
    free: list[Pod] = []
    for pod in pods:
        mine = tuple(sorted({index[rule] for rule in owned.get(pod.key, ())}))
        selected = selections.of(pod.key.namespace, pod.labels) if rules else ()
        if whole or mine or selected or pod.host_ports or pod.attachments:
            kinds.setdefault(_likeness(pod, mine, selected, held=pod.key in snapshot.set_aside), []).append(pod)
        else:
            free.append(pod)
    made = sorted((_kind(alike, members) for alike, members in kinds.items()), key=min_key)
    return Tangle(rules, index, selections, tuple(made), tuple(free))


def are_entangled(snapshot: Snapshot) -> bool:
    """Whether there is any rule between pods, or anything but resources that pods share a node's of."""
    mine = (p.spreads or p.affinity or p.anti_affinity or p.host_ports or p.attachments for p in snapshot.pods)
    return any(mine) or any(pod.anti_affinity for room in _everywhere(snapshot) for pod in room.pods)


def min_key(kind: Kind) -> tuple[tuple[int, int], tuple[str, str]]:
    """A total order, large ones first: no two kinds share a pod."""
    return size_of(kind.requests), min(pod.key for pod in kind.pods)


_Likeness = tuple[
    Resources, Wish, Wish, tuple[int, ...], tuple[int, ...], tuple[HostPort, ...], frozenset[Attachment], bool
]


def _likeness(pod: Pod, owns: tuple[int, ...], selected: tuple[int, ...], *, held: bool) -> _Likeness:
    reach = Wish(pod.alternatives, pod.tolerations)
    ports = tuple(sorted(set(pod.host_ports)))
    return (pod.requests, wish_of(pod), reach, owns, selected, ports, pod.attachments, held)


def _kind(alike: _Likeness, pods: list[Pod]) -> Kind:
    return Kind(*alike, pods=tuple(sorted(pods, key=turn)))


def _standing(snapshot: Snapshot) -> Iterator[Rule]:
    """Rules of bound pods that bind others: their required anti-affinity; and all of those that are yet to come."""
    for room in _everywhere(snapshot):
        yield from repulsions(room)
        yield from (rule for pod in room.pods if pod.key in room.coming for rule in rules_of(pod))


def _everywhere(snapshot: Snapshot) -> tuple[Room, ...]:
    return (*snapshot.rooms, *snapshot.bystanders)


def repulsions(room: Room) -> Iterator[Rule]:
    """Of the pods bound there."""
    for pod in room.pods:
        if pod.anti_affinity:
            yield from map(RepulsionRule, pod.anti_affinity)


def _ordered(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(sorted(dict.fromkeys(rules), key=order))
