"""What a pool may still buy, counted as it will be reserved."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from nodewright.domain.limits import NODES, PRICE
from nodewright.domain.scheduling.arrays import Ints
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.snapshot import PoolOptions

UNLIMITED: Final = 2**62


def limited(options: PoolOptions) -> dict[str, int]:
    """What remains of each resource the pool limits; nothing of one it names no remainder of."""
    if options.remaining is None:
        return {}
    keys = {*options.remaining, *(options.pool.limits or ())}
    return {key: max(0, options.remaining.get(key)) for key in sorted(keys)}


def remaining(options: Sequence[PoolOptions], resources: Sequence[str]) -> Ints:
    """Pools × resources. A limit beyond what can be counted limits nothing."""
    rows = [[min(limited(pool).get(name, UNLIMITED), UNLIMITED) for name in resources] for pool in options]
    return np.array(rows, dtype=np.int64).reshape(len(options), len(resources))


def usage(market: Market, resources: Sequence[str]) -> Ints:
    """Rows × resources: what one node counts towards the pool's limits (capacity, not allocatable; and its price)."""
    amounts = market.shelf.amounts([kind.capacity for kind in market.shelf.types], resources)
    for column, resource in enumerate(resources):
        if resource == NODES:
            amounts[:, column] = 1
        elif resource == PRICE:
            amounts[:, column] = market.shelf.prices
    return amounts
