"""Greedy packings: which node contents, on which kind of node, how often."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from nodewright.domain.scheduling import ties
from nodewright.domain.scheduling.arrays import Bools, Floats, Ints, every
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.patterns import fill
from nodewright.domain.scheduling.pricing import duals, packing_prices
from nodewright.domain.scheduling.problems import Problem, distinct_sizes


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """`times` nodes of one kind with equal content."""

    row: int
    counts: Ints
    """Pods of each item on one node."""
    times: int


@dataclass(frozen=True, slots=True, eq=False)
class Packing:
    """Patterns, what they leave, and what the pools' limits then still allow."""

    patterns: tuple[Pattern, ...]
    left: Ints
    remaining: Floats
    cost: int
    way: int = 0
    """Which of the ways to price pods it is from."""

    @property
    def rank(self) -> tuple[int, int, int]:
        """The smaller the better: pods left, then cost, then nodes."""
        return (int(self.left.sum()), self.cost, sum(pattern.times for pattern in self.patterns))


def pack(problem: Problem, counts: Ints, remaining: Floats, meter: Meter, prices: Sequence[Floats] = ()) -> Packing:
    """The best of a portfolio, or of these ways to say what pods are worth; the first that ranks best wins."""
    worth = problem.demand @ duals(problem, counts)
    rows = distinct_sizes(problem)
    coarse = problem.part(np.arange(len(counts)), rows)
    # Packings are kept for other plans; what the caller pays later must not show in them.
    best, work = Packing((), counts, remaining.copy(), 0), 0
    for way, values in enumerate(prices or packing_prices(problem, worth)):
        to_beat = np.inf if best.left.any() else float(best.cost)
        found, finished = _greedy(coarse, counts, remaining, values, _Race(meter, worth, to_beat))
        patterns = [Pattern(int(rows[pattern.row]), pattern.counts, pattern.times) for pattern in found]
        packing = replace(settled(problem, patterns, counts, remaining), way=way)
        best = ties.best(problem, [best, packing])
        work += len(patterns) * len(problem.demand)
        if not finished or work > _ENOUGH:
            break
    return best


def pack_alike(problem: Problem, counts: Ints, remaining: Floats, meter: Meter, model: Packing | None) -> Packing:
    """The same for a problem that is much like another: what was best there will do here."""
    if model is None:
        return pack(problem, counts, remaining, meter)
    worth = problem.demand @ duals(problem, counts)
    ways = packing_prices(problem, worth)
    packing = pack(problem, counts, remaining, meter, [ways[min(model.way, len(ways) - 1)]])
    return pack(problem, counts, remaining, meter) if packing.left.any() else replace(packing, way=model.way)


_ENOUGH: Final = 800_000
"""Patterns × items, about four seconds: where pods differ that much the rest of the portfolio is left out."""


@dataclass(frozen=True, slots=True, eq=False)
class _Race:
    """When a packing is to be given up."""

    meter: Meter
    worth: Floats
    """Of a pod of each item, at prices that make no node worth more than it costs."""
    to_beat: float

    def is_lost(self, spent: float, left: Ints) -> bool:
        """Whether what is spent and the least the rest can cost are dearer than the best so far."""
        return spent + float(left @ self.worth) > self.to_beat


_STALE_AT_ONCE: Final = 4
"""Kinds whose filling is worked out anew together: hardly dearer than one alone, and soon each is asked for."""


class _Fillings:
    """The best known filling of each kind of node and its price per value, kept lazily up to date.

    A filling that needs more pods than are left is stale. Its ratio stays a fair guess from below, so it
    is worked out anew only when it comes first. Where hardly any pods are alike every node makes nearly all fillings
    stale, and most of each may stay.
    """

    def __init__(self, problem: Problem, left: Ints, values: Floats) -> None:
        self._problem, self._most = problem.narrowed()
        self._values = values
        self.counts = np.zeros(problem.allowed.shape, dtype=np.int64)
        self._ratio = np.full(len(problem.prices), np.inf)
        self._fresh = np.zeros(len(problem.prices), dtype=np.bool_)
        self._renew(np.arange(len(problem.prices)), left)

    def best(self, left: Ints, affordable: Bools) -> int | None:
        """The kind with the least price per value, first of equals; None when nothing holds anything."""
        self._ratio[~affordable] = np.inf
        self._fresh &= every(self.counts <= left)
        while True:
            first = int(np.argmin(self._ratio))
            if np.isinf(self._ratio[first]):
                return None
            if self._fresh[first]:
                return first
            order = np.argsort(self._ratio, kind="stable")
            stale = order[~self._fresh[order] & np.isfinite(self._ratio[order])]
            self._renew(stale[:_STALE_AT_ONCE], left)

    def _renew(self, rows: Ints, left: Ints) -> None:
        problem, most = self._problem, np.minimum(self._most[rows], left)
        of = problem.room[rows], problem.demand, problem.allowed[rows], most, self._values
        self.counts[rows] = fill(*of, self._lasting(rows, most) if len(left) > _HARDLY_ALIKE else None)
        worth = self.counts[rows] @ self._values
        with np.errstate(divide="ignore", invalid="ignore"):
            self._ratio[rows] = np.where(worth > 0, problem.prices[rows] / worth, np.inf)
        self._fresh[rows] = True

    def _lasting(self, rows: Ints, most: Ints) -> Ints:
        """What is still to be had of these fillings, where that is a good part."""
        kept = np.minimum(self.counts[rows], most)
        kept[kept @ self._values < self.counts[rows] @ self._values * _GOOD_PART] = 0
        return kept


_HARDLY_ALIKE: Final = 400
"""Items; of fewer ones there are mostly several pods each, and a filling that is worked out anew is a better one."""
_GOOD_PART: Final = 0.5


def _greedy(
    problem: Problem, counts: Ints, remaining: Floats, values: Floats, race: _Race
) -> tuple[list[Pattern], bool]:
    """Patterns until nothing is left or fits or the race is lost, and whether the meter let it finish."""
    left, purses = counts.copy(), remaining.copy()
    fillings = _Fillings(problem, left, values)
    patterns: list[Pattern] = []
    spent = 0.0
    while left.any() and not race.is_lost(spent, left):
        if not race.meter.spend():
            return patterns, False
        row = fillings.best(left, _affordable(problem, purses))
        if row is None:
            break
        content = fillings.counts[row].copy()
        used = content > 0
        times = min(int((left[used] // content[used]).min()), times_affordable(problem, purses, row))
        patterns.append(Pattern(row, content, times))
        left -= times * content
        spent += times * float(problem.prices[row])
        pay(problem, purses, row, times)
    return patterns, True


def _affordable(problem: Problem, purses: Floats) -> Bools:
    """Rows of which the limits allow one more."""
    limited = problem.purse >= 0
    fits: Bools = ~limited
    fits[limited] = every(problem.usage[limited] <= purses[problem.purse[limited]])
    return fits


def times_affordable(problem: Problem, purses: Floats, row: int) -> int:
    """How many nodes of a row the limits still allow."""
    if problem.purse[row] < 0:
        return _ENDLESS
    usage = problem.usage[row]
    used = usage > 0
    return int((purses[problem.purse[row]][used] // usage[used]).min(initial=_ENDLESS))


_ENDLESS: Final = 2**31


def pay(problem: Problem, purses: Floats, row: int, times: int) -> None:
    """Take what so many nodes count from their pool's limits."""
    if problem.purse[row] >= 0:
        purses[problem.purse[row]] -= times * problem.usage[row]


def settled(problem: Problem, patterns: Iterable[Pattern], counts: Ints, remaining: Floats) -> Packing:
    """Every content on the cheapest kind of node that holds it and that the limits allow."""
    purses = remaining.copy()
    merged = merged_patterns(patterns)
    for pattern in merged:
        pay(problem, purses, pattern.row, pattern.times)
    settled = merged_patterns([_cheapest(problem, pattern, purses) for pattern in merged])
    placed = sum((pattern.times * pattern.counts for pattern in settled), np.zeros_like(counts))
    cost = sum(pattern.times * int(problem.prices[pattern.row]) for pattern in settled)
    return Packing(tuple(settled), counts - placed, purses, cost)


def merged_patterns(patterns: Iterable[Pattern]) -> list[Pattern]:
    """Equal contents of one kind as one pattern."""
    times: dict[tuple[int, bytes], tuple[Ints, int]] = {}
    for pattern in patterns:
        key = (pattern.row, pattern.counts.tobytes())
        times[key] = (pattern.counts, times.get(key, (pattern.counts, 0))[1] + pattern.times)
    return [Pattern(row, content, many) for (row, _), (content, many) in times.items()]


def _cheapest(problem: Problem, pattern: Pattern, purses: Floats) -> Pattern:
    """Rows are sorted by price, so the first that does is the one."""
    used = pattern.counts > 0
    holds = every(problem.room >= pattern.counts @ problem.demand) & every(problem.allowed[:, used])
    pay(problem, purses, pattern.row, -pattern.times)
    for row in np.flatnonzero(holds[: pattern.row]).tolist():
        if times_affordable(problem, purses, row) >= pattern.times:
            pay(problem, purses, row, pattern.times)
            return Pattern(row, pattern.counts, pattern.times)
    pay(problem, purses, pattern.row, pattern.times)
    return pattern
