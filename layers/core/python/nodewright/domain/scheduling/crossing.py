"""Pods under several spreads at once, beyond what ranks allow (waiting_order.py): placed where exploring proves it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.exploring import SpreadView, never_stuck
from nodewright.domain.scheduling.roles import Role
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.tallies import SpreadTally

Cell = tuple[int, ...]
"""A domain of each of the spreads."""
_Cells = Mapping[Cell, int]
"""How many pods in each."""


@dataclass(frozen=True, slots=True)
class Target:
    """How many pods there are to be of some kinds where; so many surely come, in whatever order."""

    rules: tuple[int, ...]
    """Their spreads."""
    kinds: frozenset[int]
    cells: _Cells

    def wanting(self, scene: Scene) -> Bools:
        """Localities that are to have more."""
        there = _placed(scene, self.rules, self.kinds)
        wanting = {cell for cell, many in self.cells.items() if many > there[cell]}
        return np.array([cell in wanting for cell in _cells(scene, self.rules)], dtype=np.bool_)

    def is_reached(self, scene: Scene) -> bool:
        """Whether all came to be planned, and may count on it as everything else is now."""
        there = _placed(scene, self.rules, self.kinds)
        number = min(self.kinds)
        return all(there[cell] >= many for cell, many in self.cells.items()) and _proven(
            scene, number, self.rules, there, there
        )


def crossed(scene: Scene, number: int) -> tuple[tuple[int, ...], Bools] | None:
    """The several spreads of a kind, and localities where one more pod can't get stuck for them.

    None where it has only one, or where they bind pods that don't have them all.
    """
    group = _group(scene, number)
    if group is None:
        return None
    mine = _spreads(scene, number)
    placed = _placed(scene, mine, group)
    cells = _cells(scene, mine)
    fine = {
        cell: min(cell) >= 0 and _proven(scene, number, mine, placed, placed + Counter({cell: 1}))
        for cell in set(cells)
    }
    return mine, np.array([fine[cell] for cell in cells], dtype=np.bool_)


def even_targets(scene: Scene) -> tuple[Target, ...]:
    """For pods under several spreads of which some are left: the most that are proven to come if spread evenly.

    Only where that is more than there are.
    """
    groups = (_group(scene, number) for number, pods in enumerate(scene.waiting) if pods)
    found = (_even(scene, group) for group in dict.fromkeys(groups) if group is not None)
    return tuple(target for target in found if target is not None)


def _even(scene: Scene, group: frozenset[int]) -> Target | None:
    number = min(group)
    rules = _spreads(scene, number)
    placed = _placed(scene, rules, group)
    within = np.logical_and.reduce([scene.within_reach(each) for each in group])
    cells = sorted({cell for cell, fine in zip(_cells(scene, rules), within, strict=True) if fine and min(cell) >= 0})
    there = placed.total()
    wanted = there + sum(len(scene.waiting[each]) for each in group)
    tallies = [scene.tallies.spreads_by_rule[rule] for rule in rules]
    counts = [tally.counts.copy() for tally in tallies]
    for cell, many in placed.items():
        for domain, count in zip(cell, counts, strict=True):
            count[domain] -= many
    fills = list(_fills(cells, counts, wanted)) if cells else []
    for fill in reversed(fills[there:]):
        if _proven(scene, number, rules, placed, fill):
            return Target(rules, group, fill)
    return None


def _fills(cells: Sequence[Cell], counts: Sequence[Ints], most: int) -> Iterator[Counter[Cell]]:
    """One pod, two pods, and so on, always one more where fewest are."""
    fill: Counter[Cell] = Counter()
    for _ in range(most):
        cell = min(cells, key=lambda each: (sum(int(c[d]) for c, d in zip(counts, each, strict=True)), fill[each]))
        fill[cell] += 1
        for domain, count in zip(cell, counts, strict=True):
            count[domain] += 1
        yield fill.copy()


def _group(scene: Scene, number: int) -> frozenset[int] | None:
    """Kinds under the several spreads of this one; None where it has only one, or others have not all of them."""
    mine = _spreads(scene, number)
    if len(mine) < 2:
        return None
    group = [each for each in range(len(scene.tangle.kinds)) if set(_rules(scene, each)) & set(mine)]
    alike = all(_look(scene, each, mine) == _look(scene, number, mine) for each in group)
    return frozenset(group) if alike else None


def _cells(scene: Scene, rules: Sequence[int]) -> list[Cell]:
    """Of each locality."""
    domains = np.array([scene.tallies.spreads_by_rule[rule].domain for rule in rules])
    return [tuple(each) for each in domains.T.tolist()]


def _placed(scene: Scene, rules: Sequence[int], group: Iterable[int]) -> Counter[Cell]:
    cells = _cells(scene, rules)
    placed: Counter[Cell] = Counter()
    for each in group:
        for locality, many in scene.placed[each].items():
            placed[cells[locality]] += many
    return placed


def _proven(scene: Scene, number: int, mine: Sequence[int], placed: Counter[Cell], counts: _Cells) -> bool:
    """Whether so many come, in place of those that are planned now."""
    cells = sorted(counts)
    roles = {role.rule: role for role in scene.roles[number]}
    views = [
        _view(scene.tallies.spreads_by_rule[rule], roles[rule], [cell[at] for cell in cells], placed, at)
        for at, rule in enumerate(mine)
    ]
    return never_stuck([counts[cell] for cell in cells], views)


def _view(tally: SpreadTally, role: Role, domain_of: Sequence[int], placed: Counter[Cell], at: int) -> SpreadView:
    """The spread without the group itself, over the domains there are or may be."""
    known = sorted({*np.flatnonzero(tally.domains).tolist(), *domain_of})
    index = {domain: place for place, domain in enumerate(known)}
    most, least = tally.counts[known].copy(), tally.relied_on[known].copy()
    for cell, many in placed.items():
        most[index[cell[at]]] -= many * role.selected
        least[index[cell[at]]] -= many * (role.selected and role.counted_on)
    return SpreadView(
        domain_of=tuple(index[domain] for domain in domain_of),
        counts_itself=role.selected,
        most=most,
        least=least,
        max_skew=tally.rule.max_skew,
        enough_domains=len(known) >= tally.rule.min_domains,
    )


def _spreads(scene: Scene, number: int) -> tuple[int, ...]:
    return tuple(sorted(_rules(scene, number)))


def _rules(scene: Scene, number: int) -> Iterator[int]:
    return (rule for rule in scene.tangle.kinds[number].owns if rule in scene.tallies.spreads_by_rule)


def _look(scene: Scene, number: int, mine: Sequence[int]) -> tuple[object, ...]:
    """What these spreads see of a kind."""
    return (_spreads(scene, number), [(role.rule, role.selected) for role in scene.roles[number] if role.rule in mine])
