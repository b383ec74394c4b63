"""How much work a plan may cost, and the guard that may cut it short."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from nodewright.domain.pods import PodKey

Known = dict[bytes, object]
"""Greedy packings by their problem: a plan that is to be made cheaper begins as the quick one does."""
Contents = tuple[tuple[PodKey, ...], ...]
"""Pods node by node."""


@dataclass(frozen=True, slots=True)
class Toll:
    """What a node counts as beyond its price while a plan is made, so that it takes less of a scarce limit."""

    price: int
    """Nanodollars per hour of one that takes all that a pool's limits leave; of others in proportion."""
    resource: str = ""
    """The limit that counts; none: of each node the one of which it takes most."""


NO_TOLL: Final = Toll(0)


@dataclass(frozen=True, slots=True)
class Budget:
    """Units of work, so that a plan depends on its snapshot and this alone, not on the machine."""

    patterns: int = 50_000
    """Node contents that greedy packings may work out; one is some tens of microseconds."""
    columns: int = 60_000
    """The same for making the plan cheaper afterwards; 0 where the plan is wanted at once."""
    contents: Contents = ()
    """Of new nodes in another plan: bought again, as far as they still may be, before any are worked out."""
    toll: Toll = NO_TOLL


AT_ONCE: Final = Budget(columns=0)
"""For what can't wait, an interruption for instance: the best greedy plan."""


def never() -> bool:
    """The guard of somebody who can wait."""
    return False


class Meter:
    """Counts what is spent of a budget. Once it refused, it refuses for good."""

    def __init__(self, budget: Budget, expired: Callable[[], bool], known: Known | None = None) -> None:
        """`known`: worked out for a plan before, under another meter of as many patterns."""
        self._left = budget.patterns
        self._expired = expired
        self.stopped = False
        self.contents = budget.contents
        self.toll = budget.toll
        self.known: Known = {} if known is None else known
        self.finishing = budget.columns
        """Units for making the plan cheaper. Running out of them cuts nothing off."""

    def share(self, part: float) -> "Meter":
        """A meter of its own for a part of the finishing, under the same guard."""
        return Meter(Budget(int(self.finishing * part), 0), self._expired)

    def at_once(self) -> "Meter":
        """One for a greedy plan of the same, of which much is known by now."""
        return Meter(Budget(self._left, 0, self.contents, self.toll), self._expired, self.known)

    def spend(self, patterns: int = 1) -> bool:
        """Whether that much more may be done."""
        self.stopped = self.stopped or self._left < patterns or self._expired()
        self._left -= patterns
        return not self.stopped
