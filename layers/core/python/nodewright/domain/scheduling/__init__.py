"""The scheduler: `solve` answers where pods go, what to buy, and why the rest waits."""

from nodewright.domain.scheduling.budget import Budget
from nodewright.domain.scheduling.solving import solve

__all__ = ["Budget", "solve"]
