"""How much work a plan may cost, and the guard that may cut it short."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Units of work, so that a plan depends on its snapshot and this alone, not on the machine."""

    patterns: int = 50_000
    """Node contents that may be worked out; one is some tens of microseconds."""


def never() -> bool:
    """The guard of somebody who can wait."""
    return False


class Meter:
    """Counts what is spent of a budget. Once it refused, it refuses for good."""

    def __init__(self, budget: Budget, expired: Callable[[], bool]) -> None:
        self._left = budget.patterns
        self._expired = expired
        self.stopped = False

    def spend(self, patterns: int = 1) -> bool:
        """Whether that much more may be done."""
        self.stopped = self.stopped or self._left < patterns or self._expired()
        self._left -= patterns
        return not self.stopped
