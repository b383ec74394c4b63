"""Whole nodes out of a relaxation: floors with greedy rests, and diving."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from nodewright.domain.scheduling import ties
from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.budget import Budget, Meter, never
from nodewright.domain.scheduling.generating import filled, priced
from nodewright.domain.scheduling.knapsacks import ORDERS, Offer, worthwhile
from nodewright.domain.scheduling.linear_program import Column, Master, Relaxation
from nodewright.domain.scheduling.packing import Packing, Pattern, pack, pay, settled, times_affordable
from nodewright.domain.scheduling.problems import Problem


def rounded(problem: Problem, counts: Ints, remaining: Floats, master: Master, start: Relaxation) -> Packing:
    """The best whole plan found near an optimum of the relaxation. `master` is left with other numbers of pods.

    Its work is bounded by itself: each step lays at least one node of the relaxation, of which few aren't whole.
    """
    rounding = _Rounding(problem, counts, remaining, start.values, Meter(Budget(_WORK), never))
    found = [rounding.floored(master.columns, start.times)]
    found += [rounding.dived(master, start, step) for step in _STEPS if len(counts) <= _MANY]
    if start.times.sum() <= _FEW:
        found += rounding.searched(master, start)
    return ties.best(problem, found)


class _Rounding:
    def __init__(self, problem: Problem, counts: Ints, remaining: Floats, values: Floats, meter: Meter) -> None:
        self._problem, self._counts, self._remaining, self._meter = problem, counts, remaining, meter
        # With many items packing a rest takes as long as packing all: then the relaxation's own values have to do.
        self._values = [values] if len(counts) > _MANY else []

    def floored(self, columns: Sequence[Column], times: Floats) -> Packing:
        """Whole parts, and a greedy packing of the rest."""
        nodes = _Nodes(self._problem, self._counts, self._remaining)
        for at in np.argsort(-times, kind="stable").tolist():
            nodes.lay(columns[at], int(times[at] + _WHOLE))
        return self._finished(nodes)

    def dived(self, master: Master, start: Relaxation, step: Callable[[Floats], Ints]) -> Packing:
        """Fix some nodes, solve for the rest, and so on; a rest that needs no whole node is packed greedily."""
        nodes = _Nodes(self._problem, self._counts, self._remaining)
        relaxation: Relaxation | None = start
        while relaxation is not None and nodes.left.any() and self._meter.spend(self._problem.round_cost):
            times = step(relaxation.times)
            before = int(nodes.left.sum())
            for at in np.flatnonzero(times).tolist():
                nodes.lay(master.columns[at], int(times[at]))
            if int(nodes.left.sum()) == before:
                break
            master.demand(nodes.left)
            relaxation = master.solve()
            if relaxation is not None and master.add(filled(self._problem, nodes.left, relaxation)):
                relaxation = master.solve()
        return self._finished(nodes)

    def searched(self, master: Master, start: Relaxation) -> list[Packing]:
        """By branch and bound, which pays where few nodes are to be chosen, with contents that are nearly worth it."""
        master.demand(self._counts)
        offer = Offer(start.values * _GENEROUS, priced(self._problem, start))
        for order in ORDERS:
            master.add(worthwhile(self._problem, self._counts, offer, order, _BROAD, self._meter).columns)
        times = master.whole()
        if times is None:
            return []
        nodes = _Nodes(self._problem, self._counts, self._remaining)
        for at in np.flatnonzero(times).tolist():
            nodes.lay(master.columns[at], int(times[at]))
        return [self._finished(nodes)]

    def _finished(self, nodes: "_Nodes") -> Packing:
        rest = pack(self._problem, nodes.left, nodes.purses, self._meter, self._values)
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
"""Items."""
_FEW: Final = 12
"""Nodes. With more of them whole numbers are near the relaxation anyway (planning.md)."""
_GENEROUS: Final = 1.15
_BROAD: Final = 400
_WHOLE: Final = 1e-6


def _largest(times: Floats) -> Ints:
    """All whole parts; where there are none one node of the largest part."""
    whole = np.floor(times + _WHOLE).astype(np.int64)
    if not whole.any() and len(times):
        whole[int(np.argmax(times))] = 1
    return whole


def _nearly_whole(times: Floats) -> Ints:
    """As `_largest`, and whatever is nearly whole with it."""
    whole = np.floor(times + _NEARLY).astype(np.int64)
    return whole if whole.any() else _largest(times)


_NEARLY: Final = 0.3
_STEPS: Final = (_largest, _nearly_whole)
