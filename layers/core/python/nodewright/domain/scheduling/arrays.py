"""The array types the planner computes with.

Amounts that decide are int64 (millicores, bytes, counts, nanodollars). Floats only steer a search;
integers below 2**53 in them are exact, which holds for any node's bytes.
"""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Texts = NDArray[np.str_]


def every(matrix: Bools, axis: int = 1) -> Bools:
    """Whether all of each row (axis 1) or column (axis 0) holds."""
    return np.logical_and.reduce(matrix, axis=axis, dtype=np.bool_)  # type: ignore[no-any-return]
