"""Pods that wait for several spreads at once, beyond what ranks allow (waiting_order.py): placed where exploring
proves that all come.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from nodewright.domain.scheduling.arrays import Ints
from nodewright.domain.scheduling.crossings import Cell, Cells, Crossing
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.terms import Ruling


@dataclass(frozen=True, slots=True)
class Target:
    """How many pods there are to be of some kinds where; so many surely come, in whatever order."""

    rules: tuple[int, ...]
    """Their spreads."""
    kinds: tuple[int, ...]
    cells: Cells

    def wanting(self, scene: Scene) -> Ruling:
        """What is to have more."""
        crossing = Crossing(scene, self.kinds, self.rules)
        there = crossing.placed()
        wanting = {cell for cell, many in self.cells.items() if many > there[cell]}
        return _ruling(scene, crossing, self.kinds[0], wanting)

    def is_reached(self, scene: Scene) -> bool:
        """Whether all came to be planned, and may count on it as everything else is now."""
        crossing = Crossing(scene, self.kinds, self.rules)
        there = crossing.placed()
        return all(there[cell] >= many for cell, many in self.cells.items()) and crossing.is_proven(there, there)


class Crossings:
    """Kinds whose spreads have to do with each other, as things stand."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._groups = _Groups(scene, _waited_for(scene))
        self._crossing = cache(partial(Crossing, scene))

    def fine(self, number: int) -> Iterator[tuple[Sequence[int], Ruling]]:
        """Several spreads of a kind, and where one more of its pods can't get stuck for them.

        First of those that are under the same spreads, then of all that have to do with each other.
        """
        for kinds, rules in self._groups.of(number):
            crossing = self._crossing(kinds, rules)
            placed = crossing.placed()
            if crossing.can_be_explored(placed):
                cells = set(crossing.cells(number))
                fine = {cell for cell in cells if crossing.is_proven(placed, placed + Counter({cell: 1}))}
                if fine:
                    yield rules, _ruling(self._scene, crossing, number, fine)


def even_targets(scene: Scene) -> tuple[Target, ...]:
    """For pods under the same spreads of which some are left: the most that are proven to come if spread evenly.

    Only where that is more than there are. Over domains of many nodes.
    """
    groups = _Groups(scene, scene.tallies.spreads_by_rule)
    alike = dict.fromkeys(groups.alike(number) for number, pods in enumerate(scene.waiting) if pods)
    crossings = [Crossing(scene, kinds, rules) for kinds, rules in filter(None, alike)]
    found = (_even(scene, each) for each in crossings)
    return tuple(target for target in found if target is not None)


def _ruling(scene: Scene, crossing: Crossing, kind: int, fine: AbstractSet[Cell]) -> Ruling:
    """Leaves these cells."""
    mask = np.array([cell in fine for cell in crossing.cells(kind)], dtype=np.bool_)
    if not crossing.by_site:
        return Ruling(mask)
    return Ruling(
        np.ones(len(scene.localities), dtype=np.bool_), only=frozenset(np.flatnonzero(mask).tolist()), opens=False
    )


def _even(scene: Scene, crossing: Crossing) -> Target | None:
    placed = crossing.placed()
    within = np.logical_and.reduce([scene.within_reach(each) for each in crossing.kinds])
    every = crossing.cells(crossing.kinds[0])
    cells = sorted({cell for cell, fine in zip(every, within, strict=True) if fine and cell.is_allowed})
    there = placed.total()
    wanted = there + sum(len(scene.waiting[each]) for each in crossing.kinds)
    fills = list(_fills(cells, crossing.counts_of_others(placed), wanted)) if cells else []
    for fill in reversed(fills[there:]):
        if crossing.is_proven(placed, fill):
            return Target(crossing.rules, crossing.kinds, fill)
    return None


def _fills(cells: Sequence[Cell], counts: Sequence[Ints], most: int) -> Iterator[Counter[Cell]]:
    """One pod, two pods, and so on, always one more where fewest are."""
    fill: Counter[Cell] = Counter()
    for _ in range(most):
        cell = min(
            cells, key=lambda each: (sum(int(c[d]) for c, d in zip(counts, each.domains, strict=True)), fill[each])
        )
        fill[cell] += 1
        for domain, count in zip(cell.domains, counts, strict=True):
            count[domain] += 1
        yield fill.copy()


_Group = tuple[tuple[int, ...], tuple[int, ...]]
"""Kinds, and the spreads that they are under."""


def _waited_for(scene: Scene) -> AbstractSet[int]:
    """Spreads that pods may have to wait for; over nodes only where no further ones can be had."""
    hosts = (rule for rule, tally in scene.tallies.host_spreads.items() if not tally.growing)
    return {*scene.tallies.spreads_by_rule, *hosts}


class _Groups:
    def __init__(self, scene: Scene, waited_for: Iterable[int]) -> None:
        self._scene = scene
        rules = frozenset(waited_for)
        kinds = scene.tangle.kinds
        self._owned = [rules.intersection(kind.owns) for kind in kinds]
        self._counting = [rules.intersection(kind.selected) for kind in kinds]
        self._under = [number for number, mine in enumerate(self._owned) if mine]
        self._touched = {number: self._owned[number] | self._counting[number] for number in self._under}
        self._known: dict[frozenset[int], _Group | None] = {}

    def of(self, number: int) -> Iterator[_Group]:
        """Those under the same spreads as a kind, then all that have to do with these; none that wait for company."""
        mine = self._owned[number]
        if mine not in self._known:
            self._known[mine] = self._related(mine)
        for group in dict.fromkeys(filter(None, (self.alike(number), self._known[mine]))):
            if not any(self._waits_for_company(each, group[0]) for each in group[0]):
                yield group

    def alike(self, number: int) -> _Group | None:
        """Kinds under the several spreads of this one; None where it has only one, or others have not all of them."""
        mine = self._owned[number]
        if len(mine) < 2:
            return None
        group = [each for each in self._under if not self._owned[each].isdisjoint(mine)]
        looks = {(self._owned[each], self._counting[each] & mine) for each in group}
        return (tuple(group), tuple(sorted(mine))) if len(looks) == 1 else None

    def _related(self, mine: frozenset[int]) -> _Group | None:
        """All kinds under spreads that bind or count each other's pods; None where that is a single spread."""
        kinds: set[int] = set()
        rules = set(mine)
        while True:
            near = {each for each in self._under if not rules.isdisjoint(self._touched[each])}
            if near == kinds:
                break
            kinds = near
            rules = rules.union(*(self._owned[each] for each in kinds))
        return (tuple(sorted(kinds)), tuple(sorted(rules))) if len(rules) > 1 else None

    def _waits_for_company(self, kind: int, group: Sequence[int]) -> bool:
        """Whether an affinity may keep it waiting for the group itself, of which spreads know nothing."""
        scene, kinds = self._scene, self._scene.tangle.kinds
        ranked = [rule for rule in kinds[kind].owns if scene.ranks[rule]]
        affinities = {rule for rule in ranked if scene.tallies.affinity(rule) is not None}
        others = set(range(len(kinds))).difference(group) if affinities else ()
        counted = {rule for each in others if scene.placed[each] for rule in kinds[each].selected}
        return not affinities <= counted
