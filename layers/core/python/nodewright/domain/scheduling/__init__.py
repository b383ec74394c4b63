"""The scheduler: `solve` answers where pods go, what to buy, and why the rest waits."""

from nodewright.domain.scheduling.budget import AT_ONCE, Budget
from nodewright.domain.scheduling.solving import solve

__all__ = ["AT_ONCE", "Budget", "solve"]
