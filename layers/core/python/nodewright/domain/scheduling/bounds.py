"""A proven lower bound of a plan's cost, in exact integers."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Floats, Ints, every
from nodewright.domain.scheduling.covering import covering, states
from nodewright.domain.scheduling.pricing import duals
from nodewright.domain.scheduling.problems import Problem, components


def bound(problem: Problem, counts: Ints) -> int:
    """What these counts cost at the very least.

    Weak duality: prices per resource under which no node holds more value than it costs make
    the value of all pods a lower bound. Groups of items that share no node are proven apart.
    """
    wanted = counts > 0
    total, allowance = 0, MOST_STATES
    for group in components(problem.allowed[:, wanted]):
        items = wanted.nonzero()[0][group]
        part = problem.part(items)
        of = counts[items]
        least = max(proven(part, of, duals(part, of)), whole(part, of))
        if states(of) <= allowance:
            allowance -= states(of)
            least = max(least, covering(part, of))
        total += least
    return total


MOST_STATES: Final = 2_000
"""Of all groups together: some hundredths of a second."""


def whole(problem: Problem, counts: Ints) -> int:
    """What nodes that can't be divided cost at least: either one holds all, or there are two.

    Then one of them holds a pod of the item that is dearest to host, and the other is no cheaper than any.
    """
    least = np.where(problem.allowed, problem.prices[:, None], _ENDLESS).min(axis=0)
    two = int(least.max()) + int(least.min())
    holds = every(problem.room >= counts @ problem.demand) & every(problem.allowed)
    return min(two, int(problem.prices[holds].min(initial=two)))


_ENDLESS: Final = 2**62


def proven(problem: Problem, counts: Ints, prices: Floats) -> int:
    """The value of the counts at these resource prices, scaled down exactly until they are valid.

    Floats only proposed the prices; as integers over a common power of two they are what they are.
    """
    exact, one = _integers(prices)
    total = sum(p * int(amount) for p, amount in zip(exact, counts @ problem.demand, strict=True))
    numerator, denominator = 1, one
    for cost, room in zip(problem.prices.tolist(), problem.room.tolist(), strict=True):
        value = sum(p * max(0, int(amount)) for p, amount in zip(exact, room, strict=True))
        # value · scale ≤ cost must hold for every node.
        if value * numerator > cost * denominator:
            numerator, denominator = cost, value
    return total * numerator // denominator


def _integers(prices: Floats) -> tuple[Sequence[int], int]:
    """Each price times `one`, as integers; floats are exact binary fractions."""
    ratios = [value.as_integer_ratio() for value in prices.tolist()]
    one = max(denominator for _, denominator in ratios)
    return [numerator * (one // denominator) for numerator, denominator in ratios], one
