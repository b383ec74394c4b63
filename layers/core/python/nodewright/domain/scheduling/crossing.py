"""Pods that wait for several spreads at once, beyond what ranks allow (waiting_order.py): placed where exploring
proves that all come.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

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


def crossed(scene: Scene, number: int) -> Iterator[tuple[Sequence[int], Ruling]]:
    """Several spreads of a kind, and where one more of its pods can't get stuck for them.

    First of those that are under the same spreads, then of all that have to do with each other.
    """
    for crossing in _crossings(scene, number):
        placed = crossing.placed()
        fine = {cell for cell in set(crossing.cells(number)) if crossing.is_proven(placed, placed + Counter({cell: 1}))}
        if fine:
            yield crossing.rules, _ruling(scene, crossing, number, fine)


def even_targets(scene: Scene) -> tuple[Target, ...]:
    """For pods under the same spreads of which some are left: the most that are proven to come if spread evenly.

    Only where that is more than there are. Over domains of many nodes.
    """
    over_many = scene.tallies.spreads_by_rule.keys()
    kinds = [number for number, pods in enumerate(scene.waiting) if pods]
    alike = dict.fromkeys(_alike(scene, each, over_many) for each in kinds)
    crossings = [Crossing(scene, kinds, rules) for kinds, rules in filter(None, alike)]
    found = (_even(scene, each) for each in crossings)
    return tuple(target for target in found if target is not None)


def _crossings(scene: Scene, number: int) -> Iterator[Crossing]:
    waited_for = _waited_for(scene)
    alike = _alike(scene, number, waited_for)
    related = _related(scene, number, waited_for)
    for kinds, rules in dict.fromkeys(filter(None, (alike, related))):
        yield Crossing(scene, kinds, rules)


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


def _alike(scene: Scene, number: int, waited_for: AbstractSet[int]) -> _Group | None:
    """Kinds under the several spreads of this one; None where it has only one, or others have not all of them."""
    mine = _owned(scene, number, waited_for)
    if len(mine) < 2:
        return None
    group = [each for each in range(len(scene.tangle.kinds)) if set(scene.tangle.kinds[each].owns) & mine]
    alike = all(
        _owned(scene, each, waited_for) == mine and _counting(scene, each, mine) == _counting(scene, number, mine)
        for each in group
    )
    return (tuple(group), tuple(sorted(mine))) if alike else None


def _related(scene: Scene, number: int, waited_for: AbstractSet[int]) -> _Group | None:
    """All kinds under spreads that bind or count each other's pods; None where that is a single spread."""
    kinds: set[int] = set()
    rules = set(_owned(scene, number, waited_for))
    owned = {each: _owned(scene, each, waited_for) for each in range(len(scene.tangle.kinds))}
    under = {each: mine for each, mine in owned.items() if mine}
    while True:
        near = {each for each, mine in under.items() if not rules.isdisjoint(mine | _counting(scene, each, waited_for))}
        if near == kinds:
            break
        kinds = near
        rules = rules.union(*(under[each] for each in kinds))
    return (tuple(sorted(kinds)), tuple(sorted(rules))) if len(rules) > 1 else None


def _owned(scene: Scene, kind: int, rules: AbstractSet[int]) -> AbstractSet[int]:
    return rules & frozenset(scene.tangle.kinds[kind].owns)


def _counting(scene: Scene, kind: int, rules: AbstractSet[int]) -> AbstractSet[int]:
    return rules & frozenset(scene.tangle.kinds[kind].selected)
