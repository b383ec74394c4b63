"""Column generation: cheaper plans than any greedy packing's, and how far from the best they can be.

Imported only where a plan is worth the work: it brings HiGHS along.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.knapsacks import ORDERS, Knapsacks, Offer, Search, Worthwhile
from nodewright.domain.scheduling.linear_program import MANY_ITEMS, Column, Master, Relaxation
from nodewright.domain.scheduling.patterns import fill
from nodewright.domain.scheduling.pricing import duals
from nodewright.domain.scheduling.problems import Problem
from nodewright.domain.scheduling.singles import around_singles, single_resources


@dataclass(frozen=True, slots=True, eq=False)
class Generated:
    """The relaxation when no more columns were found or the meter stopped, and what all pods must cost at least."""

    relaxation: Relaxation
    bound: float
    """Nanodollars per hour."""


def generate(
    problem: Problem, master: Master, counts: Ints, proven: float, meter: Meter, searches: Iterator[Search]
) -> Generated | None:
    """Add columns until hardly any is worth more than its node, the bound is near, or the meter stops.

    `proven`: what is known of the bound. `searches`: one after the other, each as long as it finds something.
    """
    last = relaxation = master.solve()
    pricing = _Pricing(problem, counts, proven, meter, searches)
    before, quick = np.inf, not len(single_resources(problem))
    enough = _TOO_FEW if len(counts) > MANY_ITEMS else 0
    while relaxation is not None and meter.spend(1 + len(counts) * len(master.columns) // _PER_UNIT):
        last = relaxation
        cost = float(relaxation.values @ counts)
        if cost <= pricing.bound * _NEAR:
            break
        quick = quick and (cost <= before * _QUICK or len(counts) > MANY_ITEMS) and meter.spend(problem.round_cost)
        quick = quick and master.add(filled(problem, counts, relaxation)) > enough
        if not quick:
            columns = pricing.columns(relaxation)
            if columns is None:
                break
            if not master.add(columns):
                continue
        before = cost
        relaxation = master.solve()
    return None if last is None else Generated(last, pricing.bound)


class _Pricing:
    """Searches for columns. Values of the pods are taken between those of the relaxation and the best ones so far.

    Those of the relaxation alone jump about, which takes a quarter more rounds.
    """

    def __init__(self, problem: Problem, counts: Ints, proven: float, meter: Meter, searches: Iterator[Search]) -> None:
        self.bound = proven
        self._problem, self._counts, self._meter = problem, counts, meter
        self._knapsacks, self._searches = Knapsacks(problem), searches
        self._how = next(self._searches)
        self._best, self._reached = problem.demand @ duals(problem, counts), 0.0
        self._steady = _STEADY if len(single_resources(problem)) else 0.0
        self._part = self._steady

    def columns(self, relaxation: Relaxation) -> list[Column] | None:
        """What makes the relaxation cheaper, or nothing this time; None where there is nothing more to look for."""
        values = (1 - self._part) * relaxation.values + self._part * self._best
        prices = priced(self._problem, relaxation)
        how = replace(self._how, worth=_WORTH if self._part else self._how.worth)
        found = self._knapsacks.search(self._counts, Offer(values, prices), how, self._meter)
        self._learn(values, found)
        ratios = [float(each.counts @ relaxation.values) / prices[each.row] for each in found.columns]
        exhausted = max(ratios, default=0.0) <= (_ALL_BUT if self._how == _OF_EVERY_KIND else _EXHAUSTED)
        if exhausted and not self._part and not self._went_on(float(relaxation.values @ self._counts)):
            return None
        self._part = 0.0 if exhausted or self._how.order != ORDERS[0] else self._steady
        return [each for each, ratio in zip(found.columns, ratios, strict=True) if ratio > _BETTER]

    def _learn(self, values: Floats, found: Worthwhile) -> None:
        worth = float(values @ self._counts)
        if worth / max(found.best, 1.0) > self._reached:
            self._best, self._reached = values / max(found.best, 1.0), worth / max(found.best, 1.0)
        # Under limits pods may be left out, which costs nothing.
        if not (self._problem.purse >= 0).any():
            self.bound = max(self.bound, worth / (found.excess * _SAFE))

    def _went_on(self, cost: float) -> bool:
        """Whether there is another way to look that is worth its work."""
        following = next(self._searches, None)
        if following is None or (following.width > self._how.width and cost <= self.bound * _FAIR):
            return False
        self._how = following
        return True


_STEADY: Final = 0.5
_WORTH: Final = -0.03
"""At values that aren't the relaxation's: what is worth a little less may be worth more at those."""


def every_kind() -> Iterator[Search]:
    """Where prices are in proportion to sizes, hundreds of kinds promise the same.

    Which of them keeps it is only seen by filling each.
    """
    yield _OF_EVERY_KIND


def narrow_first(problem: Problem) -> Iterator[Search]:
    """What finds next to nothing is followed by another order, then by broader ones, and last by a proof.

    Where numbers per node count, nodes are small: narrow searches find most of what there is, a broader one the rest
    if items are few, and no proof is within reach.
    """
    if len(single_resources(problem)):
        yield from (Search(order, *_FEW_A_NODE) for order in ORDERS[:2])
        if len(problem.demand) <= _FEW:
            yield Search(ORDERS[0], *_MORE_A_NODE)
        return
    for width, kinds in _WIDTHS:
        yield from (Search(order, width, kinds) for order in ORDERS)


_OF_EVERY_KIND: Final = Search(ORDERS[0], 4, 100_000)
_WIDTHS: Final = ((20, 20), (80, 64), (320, 64), (5_120, 1_000))
"""Of a search: states of a kind, and kinds. What the narrow ones don't find costs most of the work."""
_FEW_A_NODE: Final = (20, 8)
_MORE_A_NODE: Final = (60, 24)
_FEW: Final = 80
"""Items; with more of them a broader search takes half a second and finds next to nothing."""


def filled(problem: Problem, counts: Ints, relaxation: Relaxation) -> list[Column]:
    """Good contents, by adaptive density, that are worth more than their node."""
    values = relaxation.values
    lean, most = problem.narrowed()
    contents = fill(lean.room, lean.demand, lean.allowed & (values > 0), np.minimum(most, counts), values)
    found = [(np.arange(len(contents)), contents), *around_singles(problem, counts, values, duals(problem, counts))]
    rows, contents = np.concatenate([rows for rows, _ in found]), np.concatenate([some for _, some in found])
    ratio = contents @ values / priced(problem, relaxation)[rows]
    best = np.argsort(-ratio, kind="stable")[:_MOST]
    return [Column(int(rows[at]), contents[at]) for at in best[ratio[best] > _BETTER].tolist()]


def promising(problem: Problem, master: Master, relaxation: Relaxation) -> Iterator[Column]:
    """Columns that are nearly worth their nodes."""
    least = priced(problem, relaxation) * _NEARLY
    return (each for each in master.columns if float(each.counts @ relaxation.values) >= least[each.row])


def priced(problem: Problem, relaxation: Relaxation) -> Floats:
    """Price of each row with what it takes of scarce limits."""
    tolls = (problem.usage * relaxation.tolls[problem.purse]).sum(axis=1)
    return np.where(problem.purse >= 0, problem.prices + tolls, problem.prices.astype(np.float64))


_PER_UNIT: Final = 1_000
"""Items × columns of a linear program that cost as much as one pattern of the budget."""
_EXHAUSTED: Final = 1.003
"""Where no content is worth more than so many times its price, the program hardly gets cheaper."""
_ALL_BUT: Final = 1.001
"""The same where every kind was looked at."""
_FAIR: Final = 1.005
"""Of the bound: whoever is as near needs no broad search."""
_NEAR: Final = 1.002
_QUICK: Final = 0.999
"""Filling by density is quick but weak: where a round gains less than that searching pays. With many items it takes
a round of six as long to search, and what a round gains says little."""
_TOO_FEW: Final = 9
"""Contents: a round of filling that finds no more than these isn't worth its linear program."""
_MOST: Final = 64
"""Contents of a round: with more, linear programs take longer than they save rounds."""
_BETTER: Final = 1 + 1e-6
_NEARLY: Final = 0.98
_SAFE: Final = 1 + 1e-9
"""More than floats can be wrong by."""
