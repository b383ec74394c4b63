"""Can pods under several spreads at once get stuck? Found out by going through all orders in which they may come.

For one spread an argument is enough (waiting_order.py); with two, pods may wait for each other crosswise.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints


@dataclass(frozen=True, slots=True, eq=False)
class SpreadView:
    """One spread, as pods see it. A cell is where pods alike, to all of the spreads, are meant to go."""

    domain_of: tuple[int, ...]
    """Of each cell; -1 where it is in none."""
    binds: tuple[bool, ...]
    """Whether pods of the cell have it."""
    counted: tuple[bool, ...]
    """Whether it selects them."""
    most: Ints
    """Other pods that may be counted in each domain by then."""
    least: Ints
    """Other pods that surely are."""
    bound: Ints
    """Other pods that are there before any of these comes."""
    standing: Bools
    """Domains that have a node by then; any other is none until one of these pods is there."""
    max_skew: int
    enough_domains: bool

    def admits(self, cell: int, come: Ints, *, luckily: bool = False) -> Bools:
        """In which states one more of a cell may come, whoever else is there; or if that suits it best.

        `come`: cells × states, how many of each cell have come.
        """
        if not self.binds[cell]:
            return np.ones(come.shape[1], dtype=np.bool_)
        here = self.bound if luckily else self.most
        home, itself = self.domain_of[cell], int(self.counted[cell])
        count = here[home] + self._of_domain(home, come) + itself
        others = [self._elsewhere(each, come, luckily=luckily) for each in range(len(here)) if each != home]
        lowest = np.minimum.reduce(others) if others and self.enough_domains else 0
        if self.enough_domains and not others:
            lowest = count - itself
        fine: Bools = (count - lowest <= self.max_skew) & (itself <= self.max_skew)
        return fine

    def _elsewhere(self, domain: int, come: Ints, *, luckily: bool) -> Ints:
        count: Ints = self._of_domain(domain, come) + (self.most if luckily else self.least)[domain]
        if luckily and not self.standing[domain]:
            arrived = come[[n for n, each in enumerate(self.domain_of) if each == domain]].any(axis=0)
            count = np.where(arrived, count, _NONE)
        return count

    def _of_domain(self, domain: int, come: Ints) -> Ints:
        mine = [n for n, each in enumerate(self.domain_of) if each == domain and self.counted[n]]
        total: Ints = come[mine].sum(axis=0)
        return total


def never_stuck(cells: Sequence[int], spreads: Sequence[SpreadView]) -> bool:
    """Whether all of these pods come, in whatever order; False where there are too many states to go through.

    `cells`: how many pods are meant for each.
    """
    if states(cells) > MOST_STATES:
        return False
    shape = tuple(number + 1 for number in cells)
    come = np.indices(shape).reshape(len(shape), -1)
    left = [come[cell] < number for cell, number in enumerate(cells)]
    moves = [mask & _all(spreads, cell, come) for cell, mask in enumerate(left)]
    lucky = [mask & _all(spreads, cell, come, luckily=True) for cell, mask in enumerate(left)]
    stuck = np.logical_or.reduce(left) & ~np.logical_or.reduce(moves)
    return not bool((_reached(shape, lucky) & stuck).any())


def states(cells: Iterable[int]) -> int:
    """How many of each cell may have come."""
    return prod(number + 1 for number in cells)


MOST_STATES: Final = 100_000
_NONE: Final = 2**40
"""Where no node is there is no least."""


def _all(spreads: Sequence[SpreadView], cell: int, come: Ints, *, luckily: bool = False) -> Bools:
    found: Bools = np.logical_and.reduce([spread.admits(cell, come, luckily=luckily) for spread in spreads])
    return found


def _reached(shape: Sequence[int], moves: Sequence[Bools]) -> Bools:
    """States that some order leads to."""
    reached = np.zeros(prod(shape), dtype=np.bool_)
    reached[0] = True
    steps = [prod(shape[cell + 1 :]) for cell in range(len(shape))]
    for _ in range(sum(shape) - len(shape)):
        for move, step in zip(moves, steps, strict=True):
            onward = np.flatnonzero(reached & move) + step
            reached[onward] = True
    return reached
