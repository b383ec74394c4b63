"""What few pods cost at least on nodes that can't be divided: every way to share them out, by dynamic programming."""

from math import prod
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.problems import Problem


def states(counts: Ints) -> int:
    """How many numbers of pods of each item may be left: what `covering` goes through, some microseconds each."""
    return prod((counts + 1).tolist())


def covering(problem: Problem, counts: Ints) -> int:
    """The least that nodes for these pods cost whatever else holds, exactly.

    A linear bound is far off where a few nodes are bought: half a node costs as much as a whole one.
    """
    shape = tuple((counts + 1).tolist())
    node = _prices(problem, shape)
    least = np.zeros(shape, dtype=np.int64)
    for left in np.ndindex(shape):
        if any(left):
            box = tuple(slice(0, number + 1) for number in left)
            # One node with some of them, and the rest.
            least[left] = (node[box] + np.flip(least[box])).min()
    return int(least.reshape(-1)[-1])


def _prices(problem: Problem, shape: tuple[int, ...]) -> Ints:
    """The cheapest node for each content; none pays off without any."""
    contents = np.indices(shape).reshape(len(shape), -1).T
    holds = _holds(problem, contents)
    cheapest = np.where(holds.any(axis=0), problem.prices[holds.argmax(axis=0)], _ENDLESS)
    cheapest[0] = _ENDLESS
    return cheapest.reshape(shape)


def _holds(problem: Problem, contents: Ints) -> Bools:
    """Rows × contents."""
    amounts = contents @ problem.demand
    holds = ~(~problem.allowed @ (contents > 0).T)
    for resource in range(amounts.shape[1]):
        holds &= problem.room[:, resource, None] >= amounts[None, :, resource]
    return holds


_ENDLESS: Final = 2**60
