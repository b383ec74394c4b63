"""Can pods under several spreads at once get stuck? Found out by going through all orders in which they may come.

For one spread an argument is enough (waiting_order.py); with two, pods may wait for each other crosswise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

State = tuple[int, ...]
"""How many of each cell's pods have come."""


@dataclass(frozen=True, slots=True)
class SpreadView:
    """One spread, as pods that all have it see it."""

    domain_of: tuple[str, ...]
    """Of each cell."""
    counts_itself: bool
    most: Mapping[str, int]
    """Other pods that may be counted in each domain by then."""
    least: Mapping[str, int]
    """Other pods that surely are; every domain is named."""
    max_skew: int
    enough_domains: bool

    def admits(self, cell: int, state: State, *, luckily: bool = False) -> bool:
        """Whether one more of a cell may come, whoever else is there; or if those that are there suit it best."""
        here, there = (self.least, self.most) if luckily else (self.most, self.least)
        home = self.domain_of[cell]
        mine = dict.fromkeys(self.least, 0)
        for number, domain in zip(state, self.domain_of, strict=True):
            mine[domain] += number
        others = [there.get(domain, 0) + mine[domain] for domain in self.least if domain != home]
        lowest = min(others, default=_NONE) if self.enough_domains else 0
        count = here.get(home, 0) + mine[home] + self.counts_itself
        return self.counts_itself <= self.max_skew and count - lowest <= self.max_skew


def never_stuck(cells: Sequence[int], spreads: Sequence[SpreadView]) -> bool:
    """Whether all of these pods come, in whatever order; False where there are too many orders to know.

    `cells`: how many are meant for the same domain of each spread.
    """
    orders = 1
    for number in cells:
        orders *= number + 1
    if orders > _MOST:
        return False
    whole = tuple(cells)
    known = {(0,) * len(cells)}
    front = list(known)
    while front:
        state = front.pop()
        left = [cell for cell in range(len(cells)) if state[cell] < whole[cell]]
        if left and not any(all(spread.admits(cell, state) for spread in spreads) for cell in left):
            return False
        for cell in left:
            following = (*state[:cell], state[cell] + 1, *state[cell + 1 :])
            if following not in known and all(spread.admits(cell, state, luckily=True) for spread in spreads):
                known.add(following)
                front.append(following)
    return True


_MOST: Final = 5_000
_NONE: Final = 2**40
