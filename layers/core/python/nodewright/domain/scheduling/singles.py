"""Contents of nodes of which each holds at most one pod of a group: which one is decided first.

By density it would come last, after what it should share the node with has taken the room.
"""

from collections.abc import Iterator

import numpy as np

from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.patterns import fill
from nodewright.domain.scheduling.problems import Problem


def single_resources(problem: Problem) -> Ints:
    """Of which every node has one."""
    return np.flatnonzero((problem.room == 1).all(axis=0))


def around_singles(problem: Problem, counts: Ints, values: Floats, worth: Floats) -> Iterator[tuple[Ints, Ints]]:
    """Rows and a good content of each, around the single that is worth most beyond what it takes.

    `worth`: prices of resources.
    """
    for resource in single_resources(problem).tolist():
        single = problem.demand[:, resource] > 0
        lasting = np.where(np.arange(len(worth)) == resource, 0.0, worth)
        able = problem.allowed & single & (values > 0) & (counts > 0)
        profit = np.where(able, values - problem.demand @ lasting, -np.inf)
        chosen = profit.argmax(axis=1)
        rows = np.flatnonzero(able[np.arange(len(chosen)), chosen])
        chosen = chosen[rows]
        others = problem.allowed[rows] & (values > 0) & ~single
        contents = fill(problem.room[rows] - problem.demand[chosen], problem.demand, others, counts, values)
        contents[np.arange(len(rows)), chosen] += 1
        yield rows, contents
