"""Very many different items as several problems: the work of one grows with the square of its items."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Ints
from nodewright.domain.scheduling.problems import Problem


def samples(problem: Problem) -> Iterator[Ints]:
    """The items, all at once or as fair samples: dealt out in the order of what they may use and ask for.

    What is lost is a node or so that isn't full per sample; greedy packings of a few hundred items lose more where
    their work is cut short.
    """
    parts = -(-len(problem.demand) // _MOST)
    order = np.lexsort((*problem.demand.T, *problem.allowed)) if parts > 1 else np.arange(len(problem.demand))
    for first in range(parts):
        yield np.sort(order[first::parts])


_MOST: Final = 1_000
"""Items of one sample: about six hundred nodes if each holds few of them."""
