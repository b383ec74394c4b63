"""What a node takes of its pool's limits, where minValues make its launch list need more than the planned type."""

import numpy as np

from nodewright.domain.scheduling import flexibility
from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.tiers import Tier


def reserve(place: Tier, row: int, like: Ints, allowed: Bools, room: Ints) -> Ints:
    """The most that any offering takes among the row and the cheapest others that keep minValues.

    `like`: rows it may share a list with; of those the ones that are as large and open to the same pods count.
    """
    market = place.markets[place.market_of[row]]
    first = place.rows(int(place.market_of[row])).start
    kinds = market.shelf.capacity_types
    stand_in = (room[like] >= room[row]).all(axis=1) & (allowed[like] >= allowed[row]).all(axis=1)
    same = like[stand_in & (kinds[like - first] == kinds[row - first])]
    by_price = same[np.argsort(place.prices[same], kind="stable")]
    needed = {row}
    for key, least in flexibility.wishes(market).items():
        codes = market.columns.column(key).codes
        _, firsts = np.unique(codes[by_price - first], return_index=True)
        others = [each for each in by_price[np.sort(firsts)].tolist() if codes[each - first] != codes[row - first]]
        needed.update(others[: least - 1])
    most: Ints = place.usage[sorted(needed)].max(axis=0)
    return most
