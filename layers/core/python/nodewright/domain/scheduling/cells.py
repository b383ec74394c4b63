"""Offerings of a tier that are worth opening, by market and locality."""

from collections.abc import Sequence

import numpy as np

from nodewright.domain.scheduling import flexibility
from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.frontier import frontier
from nodewright.domain.scheduling.reserves import reserve
from nodewright.domain.scheduling.tiers import Tier


def cells_of(place: Tier, localities: Ints, masks: Sequence[Bools], room: Ints, usage: Ints) -> list[Ints]:
    """Cheapest first; what they take of limits is put in `usage`."""
    allowed = np.array(masks, dtype=np.bool_).reshape(len(masks), len(place.prices)).T
    usable = place.affordable & allowed.any(axis=1)
    cells: list[Ints] = []
    for number, market in enumerate(place.markets):
        span = place.rows(number)
        own = np.arange(span.start, span.stop)[usable[span]]
        for locality in np.unique(localities[own]).tolist():
            rows = own[localities[own] == locality]
            if flexibility.wishes(market) and place.limited:
                usage[rows] = [reserve(place, row, rows, allowed, room) for row in rows.tolist()]
            if flexibility.wishes(market):
                shelf = np.zeros(market.shelf.rows, dtype=np.bool_)
                shelf[rows - span.start] = True
                rows = rows[flexibility.anchors(market, room[span], allowed[span] & shelf[:, None])[rows - span.start]]
            cells.append(
                rows[frontier(place.prices[rows], room[rows], allowed[rows], place.purse_of[rows], usage[rows])]
            )
    return [cell for cell in cells if len(cell)]
