"""Column generation: cheaper plans than any greedy packing's, and how far from the best they can be.

Imported only where a plan is worth the work: it brings HiGHS along.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.knapsacks import ORDERS, Offer, Order, Worthwhile, worthwhile
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
    searches = _searches()
    how = next(searches)
    before, picky = np.inf, len(single_resources(problem)) > 0
    while relaxation is not None and meter.spend(problem.round_cost + len(master.columns) // _PER_UNIT):
        last = relaxation
        cost = float(relaxation.values @ counts)
        if cost <= bound * _NEAR:
            break
        fresh = master.add(filled(problem, counts, relaxation))
        if not fresh or (picky and cost > before * _SLOW):
            exact = worthwhile(problem, counts, Offer(relaxation.values, priced(problem, relaxation)), *how, meter)
            bound = max(bound, _proven(problem, counts, relaxation, exact))
            if not master.add(exact.columns) and not fresh:
                if (following := next(searches, None)) is None:
                    break
                how = following
                continue
        before = cost
        relaxation = master.solve()
    return None if last is None else Generated(last, bound)


def _searches() -> Iterator[tuple[Order, int]]:
    """What finds nothing is tried in another order, then more broadly, and last to prove that there is nothing."""
    yield from ((order, width) for width in _WIDTHS for order in ORDERS)
    yield ORDERS[0], _PROVING


_WIDTHS: Final = (100, 400, 1_600)
"""Of a search; what the narrow ones don't find costs most of the work."""
_PROVING: Final = 6_400


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


_PER_UNIT: Final = 8
"""Columns of a linear program that cost as much as one pattern of the budget."""
_NEAR: Final = 1.002
_SLOW: Final = 0.9995
"""Around singles, filling by density is weak: where a round gains less than that searching pays."""
_BETTER: Final = 1 + 1e-6
_NEARLY: Final = 0.98
_SAFE: Final = 1 + 1e-9
"""More than floats can be wrong by."""
