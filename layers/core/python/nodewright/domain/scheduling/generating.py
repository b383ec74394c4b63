"""Column generation: cheaper plans than any greedy packing's, and how far from the best they can be.

Imported only where a plan is worth the work: it brings HiGHS along.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.knapsacks import ORDERS, Knapsacks, Offer, Search, Worthwhile
from nodewright.domain.scheduling.linear_program import Column, Master, Relaxation
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


def generate(problem: Problem, master: Master, counts: Ints, proven: float, meter: Meter) -> Generated | None:
    """Add columns until hardly any is worth more than its node, the bound is near, or the meter stops.

    `proven`: what is known of the bound.
    """
    bound = proven
    last = relaxation = master.solve()
    knapsacks, searches = Knapsacks(problem), _searches(problem)
    how, before, quick = next(searches), np.inf, True
    while relaxation is not None and meter.spend(1 + len(counts) * len(master.columns) // _PER_UNIT):
        last = relaxation
        cost = float(relaxation.values @ counts)
        if cost <= bound * _NEAR:
            break
        quick = quick and cost <= before * _QUICK and meter.spend(problem.round_cost)
        quick = quick and master.add(filled(problem, counts, relaxation)) > 0
        if not quick:
            exact = knapsacks.search(counts, Offer(relaxation.values, priced(problem, relaxation)), how, meter)
            bound = max(bound, _proven(problem, counts, relaxation, exact))
            fresh = master.add(exact.columns)
            if exact.best <= _EXHAUSTED:
                following = next(searches, None)
                if following is None or (following.width > how.width and cost <= bound * _FAIR):
                    break
                how = following
            if not fresh:
                continue
        before = cost
        relaxation = master.solve()
    return None if last is None else Generated(last, bound)


def _searches(problem: Problem) -> Iterator[Search]:
    """What finds next to nothing is followed by another order, then by broader ones, and last by a proof.

    Where numbers per node count, nodes are small: narrow searches find what there is, and no proof is within reach.
    """
    for width, kinds in _FEW_A_NODE if len(single_resources(problem)) else _WIDTHS:
        yield from (Search(order, width, kinds) for order in ORDERS)


_WIDTHS: Final = ((20, 20), (80, 64), (320, 64), (5_120, 1_000))
"""Of a search: states of a kind, and kinds. What the narrow ones don't find costs most of the work."""
_FEW_A_NODE: Final = ((20, 8),)


def _proven(problem: Problem, counts: Ints, relaxation: Relaxation, exact: Worthwhile) -> float:
    """Not under limits: there pods may be left out, which costs nothing."""
    if (problem.purse >= 0).any():
        return 0.0
    return float(relaxation.values @ counts) / (exact.excess * _SAFE)


def filled(problem: Problem, counts: Ints, relaxation: Relaxation) -> list[Column]:
    """Good contents, by adaptive density, that are worth more than their node."""
    values = relaxation.values
    contents = fill(problem.room, problem.demand, problem.allowed & (values > 0), counts, values)
    found = [(np.arange(len(contents)), contents), *around_singles(problem, counts, values, duals(problem, counts))]
    least = priced(problem, relaxation) * _BETTER
    return [
        Column(int(row), content)
        for rows, several in found
        for row, content, worth in zip(rows, several, several @ values, strict=True)
        if worth > least[row]
    ]


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
_FAIR: Final = 1.005
"""Of the bound: whoever is as near needs no broad search."""
_NEAR: Final = 1.002
_QUICK: Final = 0.999
"""Filling by density is quick but weak: where a round gains less than that searching pays."""
_BETTER: Final = 1 + 1e-6
_NEARLY: Final = 0.98
_SAFE: Final = 1 + 1e-9
"""More than floats can be wrong by."""
