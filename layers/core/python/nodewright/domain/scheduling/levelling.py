"""Contents of nodes that all hold the same: so many pods of each item as a node's part of them comes to.

Where each node may hold few pods of a group, or no size is dearer for what it holds than another, plans of few
different contents are good ones. Searches at a relaxation's values hardly come upon them: a node with a bit of
everything is worth more than it costs only once the values of all items fit each other.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Floats, Ints, every
from nodewright.domain.scheduling.dividing import Part, shared_out
from nodewright.domain.scheduling.problems import Problem


def level(problem: Problem, counts: Ints) -> Iterator[tuple[int, Ints]]:
    """Rows and contents, for each number of nodes that all pods would take of some kind if they could be divided."""
    for part in shared_out(problem, counts):
        for many in _numbers(problem, part):
            content = np.zeros(len(counts), dtype=np.int64)
            content[part.items] = (2 * part.counts + many) // (2 * many)
            holds = every(problem.room[part.rows] >= content @ problem.demand)
            holds &= every(problem.allowed[np.ix_(part.rows, content > 0)])
            if content.any() and holds.any():
                yield int(part.rows[int(np.argmax(holds))]), content


_MOST: Final = 40
"""Numbers of nodes; with more of them nodes are small, and searches find what there is."""


def _numbers(problem: Problem, part: Part) -> Sequence[int]:
    room, asked = problem.room[part.rows], part.counts @ problem.demand[part.items]
    wanted = asked > 0
    with np.errstate(divide="ignore"):
        share: Floats = np.where(room[:, wanted] > 0, asked[wanted] / room[:, wanted], np.inf).max(axis=1, initial=0.0)
    numbers = np.unique(np.ceil(share[np.isfinite(share)])).astype(np.int64)
    return [many for many in numbers.tolist() if many > 0][:_MOST]
