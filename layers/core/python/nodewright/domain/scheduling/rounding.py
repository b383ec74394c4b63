"""Whole nodes out of a relaxation: floors with greedy rests, and diving."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from nodewright.domain.scheduling import ties
from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.budget import Budget, Meter, never
from nodewright.domain.scheduling.generating import filled, priced
from nodewright.domain.scheduling.knapsacks import ORDERS, Knapsacks, Offer, Search
from nodewright.domain.scheduling.linear_program import Column, Master, Relaxation
from nodewright.domain.scheduling.packing import Packing, Pattern, pack, pay, settled, times_affordable
from nodewright.domain.scheduling.pricing import duals, packing_prices, placeable
from nodewright.domain.scheduling.problems import Problem
from nodewright.domain.scheduling.singles import single_resources


def rounded(
    problem: Problem, counts: Ints, remaining: Floats, master: Master, start: Relaxation, *, adding: bool = True
) -> Packing:
    """The best whole plan found near an optimum of the relaxation. `master` is left with other numbers of pods.

    `adding`: whether contents for what is left are worked out on the way, and whole numbers of many items searched
    for, which takes most of the time.
    Its work is bounded by itself: each step lays at least one node of the relaxation, of which few aren't whole.
    """
    rounding = _Rounding(problem, counts, remaining, start.values, Meter(Budget(_WORK), never))
    found = [rounding.floored(master.columns, start.times)]
    if len(counts) <= _MANY:
        found += rounding.dived(master, start, adding=adding)
    best = ties.best(problem, found)
    most = _MORE if len(counts) <= _FEW_ITEMS else _FEW if adding else 0
    # A plan that leaves pods is beaten by any that places all of them.
    to_beat = _ENDLESS if best.left.any() else best.cost
    if start.times.sum() <= most and to_beat > start.cost * _CLOSE:
        best = ties.best(problem, [best, *rounding.searched(master, start, to_beat)])
    return best


class _Rounding:
    def __init__(self, problem: Problem, counts: Ints, remaining: Floats, values: Floats, meter: Meter) -> None:
        self._problem, self._counts, self._remaining, self._meter = problem, counts, remaining, meter
        self._adding = Meter(Budget(_WORK), never)
        self._values = placeable(problem, values)
        worth = problem.demand @ duals(problem, counts)
        self._others = packing_prices(problem, worth) if len(counts) <= _MANY_WAYS else ()

    def floored(self, columns: Sequence[Column], times: Floats) -> Packing:
        """Whole parts, and a greedy packing of the rest."""
        nodes = _Nodes(self._problem, self._counts, self._remaining)
        for at in np.argsort(-times, kind="stable").tolist():
            nodes.lay(columns[at], int(times[at] + _WHOLE))
        return self._finished(nodes, self._values, *self._others)

    def dived(self, master: Master, start: Relaxation, *, adding: bool) -> Iterator[Packing]:
        """Fix some nodes, solve for the rest, and so on; when few are left, pack the rest greedily.

        The last nodes of a relaxation hardly fit each other, so several rests are tried.
        """
        nodes = _Nodes(self._problem, self._counts, self._remaining)
        relaxation: Relaxation | None = start
        at_most, tries = _REST, _TRIES
        while relaxation is not None and nodes.left.any() and self._meter.spend(self._problem.round_cost):
            rest = float(relaxation.times.sum())
            if rest <= at_most:
                yield self._finished(nodes, self._values, *self._others)
                at_most, tries = rest * _LESS, tries - 1
            if not tries or not self._laid(nodes, master.columns, _nearly_whole(relaxation.times)):
                return
            master.demand(nodes.left)
            relaxation = master.solve()
            if adding and relaxation is not None and master.add(self._more(nodes.left, relaxation)):
                relaxation = master.solve()
        yield self._finished(nodes, self._values)

    def _more(self, left: Ints, relaxation: Relaxation) -> Sequence[Column]:
        """Contents for what is left; around each of a hundred groups with a place a node that took two seconds."""
        cost = self._problem.round_cost * (1 + len(single_resources(self._problem)))
        return filled(self._problem, left, relaxation) if self._adding.spend(cost) else ()

    def _laid(self, nodes: "_Nodes", columns: Sequence[Column], times: Ints) -> bool:
        """Whether any of these found pods."""
        before = int(nodes.left.sum())
        for at in np.flatnonzero(times).tolist():
            nodes.lay(columns[at], int(times[at]))
        return int(nodes.left.sum()) < before

    def searched(self, master: Master, start: Relaxation, to_beat: int) -> Iterator[Packing]:
        """By branch and bound, which pays where few nodes are to be chosen, with contents that are nearly worth it."""
        master.demand(self._counts)
        offer = Offer(start.values * _GENEROUS, priced(self._problem, start))
        knapsacks = Knapsacks(self._problem)
        for order in ORDERS:
            how = Search(order, _WIDTH, _KINDS)
            master.add(knapsacks.search(self._counts, offer, how, self._meter).columns)
        times = master.whole(start, to_beat)
        if times is not None:
            nodes = _Nodes(self._problem, self._counts, self._remaining)
            for at in np.flatnonzero(times).tolist():
                nodes.lay(master.columns[at], int(times[at]))
            yield self._finished(nodes, self._values)

    def _finished(self, nodes: "_Nodes", *values: Floats) -> Packing:
        """With the rest packed greedily, at what pods are worth in relaxations."""
        rest = pack(self._problem, nodes.left, nodes.purses, self._meter, values)
        return settled(self._problem, [*nodes.patterns, *rest.patterns], self._counts, self._remaining)


class _Nodes:
    """Whole nodes laid down, and what they leave."""

    def __init__(self, problem: Problem, counts: Ints, remaining: Floats) -> None:
        self.patterns: list[Pattern] = []
        self.left = counts.copy()
        self.purses = remaining.copy()
        self._problem = problem

    def lay(self, column: Column, times: int) -> None:
        """So many nodes of it as pods and limits allow; the last may hold less."""
        while times:
            content = np.minimum(column.counts, self.left)
            used = content > 0
            if not used.any():
                return
            many = min(times, int((self.left[used] // content[used]).min()))
            many = min(many, times_affordable(self._problem, self.purses, column.row))
            if not many:
                return
            self.patterns.append(Pattern(column.row, content, many))
            self.left -= many * content
            pay(self._problem, self.purses, column.row, many)
            times -= many


_WORK: Final = 50_000
"""Patterns; never reached but by a relaxation of very many parts."""
_MANY: Final = 128
"""Items; with more of them diving takes too long."""
_MANY_WAYS: Final = 32
"""Items up to which a rest is packed in every way."""
_FEW: Final = 12
"""Nodes. With more of them whole numbers are near the relaxation anyway (planning.md)."""
_MORE: Final = 40
_FEW_ITEMS: Final = 12
"""The same where items are few: such a search takes no time, and sizes that hardly fit a node leave much of it."""
_CLOSE: Final = 1.005
"""Hardly more is to be gained."""
_ENDLESS: Final = 2**62
_GENEROUS: Final = 1.15
_WIDTH: Final = 20
_KINDS: Final = 20
_WHOLE: Final = 1e-6
_REST: Final = 20.0
"""Nodes up to which a rest may be packed greedily."""
_TRIES: Final = 4
_LESS: Final = 0.85
"""Of a rest that was tried the next one has so much."""


def _nearly_whole(times: Floats) -> Ints:
    """All whole parts, and a node of each of the largest others; at least one."""
    whole = np.floor(times + _WHOLE).astype(np.int64)
    parts = times - whole
    largest = np.argsort(-parts, kind="stable")[:_AT_ONCE]
    whole[largest] += parts[largest] > _LARGE
    if not whole.any() and len(times):
        whole[int(np.argmax(times))] = 1
    return whole


_AT_ONCE: Final = 3
_LARGE: Final = 0.5
