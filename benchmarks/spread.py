"""How a measurement that was made many times is told."""

import statistics
from collections.abc import Sequence


def spread(values: Sequence[float], digits: int = 1) -> tuple[str, str, str]:
    """Median, ninth decile and the greatest."""
    ordered = sorted(values)
    ninth = ordered[min(len(ordered) - 1, len(ordered) * 9 // 10)]
    return (f"{statistics.median(ordered):.{digits}f}", f"{ninth:.{digits}f}", f"{ordered[-1]:.{digits}f}")
