"""Rows that are alike, found quickly."""

import numpy as np
import pytest

from nodewright.domain.scheduling.arrays import distinct_rows


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (50, 2), (200, 9), (300, 17)])
def test_distinct_rows_are_those_that_numpy_finds_in_its_order(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(1).random(shape) < 0.3
    expected, which = np.unique(matrix, axis=0, return_inverse=True)
    found, of = distinct_rows(matrix)
    assert np.array_equal(found, expected)
    assert np.array_equal(of, which.reshape(-1))


def test_rows_without_columns_are_all_one() -> None:
    found, of = distinct_rows(np.zeros((3, 0), dtype=np.bool_))
    assert (found.shape, of.tolist()) == ((1, 0), [0, 0, 0])
