"""Packings under limits, and those that are kept for another plan of the same problem."""

from dataclasses import replace

import numpy as np

from nodewright.domain.scheduling import AT_ONCE, Budget
from nodewright.domain.scheduling.budget import Known, Meter, never
from nodewright.domain.scheduling.improving import pack_all
from tests.domain.scheduling.test_packing_parts import problem


def test_a_plan_that_begins_as_another_did_has_as_much_of_the_limits() -> None:
    """Of nine cores the first pods take four; the next would take six and gets none; for the last four are left."""
    world = replace(
        problem([1, 4, 6], [[2], [4], [4]], [[1], [3], [1]], allowed=np.eye(3, dtype=np.bool_)),
        purse=np.zeros(3, dtype=np.int64),
        usage=np.array([[2.0], [6.0], [4.0]]),
    )
    known: Known = {}
    for budget in (AT_ONCE, Budget(), AT_ONCE):
        purses = np.array([[9.0]])
        packed = pack_all(world, np.array([4, 1, 1]), purses, Meter(budget, never, known))

        assert [(each.row, each.times) for each in packed.patterns()] == [(0, 2), (2, 1)]
        assert purses.tolist() == [[1.0]]
