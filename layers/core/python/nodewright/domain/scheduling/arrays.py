"""The array types the planner computes with.

Amounts that decide are int64 (millicores, bytes, counts, nanodollars). Floats only steer a search;
integers below 2**53 in them are exact, which holds for any node's bytes.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Texts = NDArray[np.str_]


def every(matrix: Bools, axis: int = 1) -> Bools:
    """Whether all of each row (axis 1) or column (axis 0) holds."""
    if axis == 1 and 0 < matrix.shape[1] <= _FEW and len(matrix) >= _MANY:
        held = matrix[:, 0].copy()
        for column in range(1, matrix.shape[1]):
            held &= matrix[:, column]
        return held
    return np.logical_and.reduce(matrix, axis=axis, dtype=np.bool_)  # type: ignore[no-any-return]


_FEW: Final = 4
_MANY: Final = 200
"""Of long and narrow ones columns are put together six times as fast as rows are looked at."""


def distinct_rows(matrix: Bools) -> tuple[Bools, Ints]:
    """Its distinct rows in the order of their values, and which of those each row is.

    What `np.unique(matrix, axis=0, return_inverse=True)` says, which takes minutes for 90,000 rows of 500.
    """
    keys = [row.tobytes() for row in np.packbits(matrix, axis=1)]
    first = {key: row for row, key in reversed(list(enumerate(keys)))}
    number = {key: place for place, key in enumerate(sorted(first))}
    rows = np.array([first[key] for key in number], dtype=np.int64)
    return matrix[rows], np.array([number[key] for key in keys], dtype=np.int64)
