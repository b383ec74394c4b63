"""Pools of equal weight as one place to buy: all their offerings, and who may use which."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from nodewright.domain.pods import DaemonSet
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling import limits
from nodewright.domain.scheduling.arrays import Bools, Ints, every
from nodewright.domain.scheduling.daemons import overhead, runs_on
from nodewright.domain.scheduling.offerings import Market, markets
from nodewright.domain.scheduling.shapes import Shape, Wish
from nodewright.domain.snapshot import PoolOptions

NO_CAPS: Final[Mapping[str, int]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Tier:
    """Rows are offerings, market after market in the order of pool name, lane, type, zone."""

    pools: tuple[PoolOptions, ...]
    markets: tuple[Market, ...]
    resources: tuple[str, ...]
    """What pods and DaemonSets ask for; the columns of `room`."""
    market_of: Ints
    row_of: Ints
    """Row of the market's shelf."""
    prices: Ints
    room: Ints
    """Allocatable less DaemonSets."""
    on_sale: Bools
    purse_of: Ints
    """Index of the pool, whose limits count."""
    limited: tuple[str, ...]
    """Limited resources; the columns of `usage` and `remaining`."""
    usage: Ints
    remaining: Ints
    """Pools × limited resources."""

    def across(self, rows_of: Callable[[Market], Bools]) -> Bools:
        """A mask over all rows, made market by market."""
        return _joined([rows_of(market) for market in self.markets]).astype(np.bool_)

    def rows(self, market: int) -> slice:
        """Where one market's rows are."""
        first, last = np.searchsorted(self.market_of, [market, market + 1])
        return slice(int(first), int(last))

    @property
    def affordable(self) -> Bools:
        """Rows of which the limits leave room for one more node."""
        return every(self.usage <= self.remaining[self.purse_of])

    def holds(self, request: Ints) -> Bools:
        """Rows large enough for one such pod."""
        return every(self.room >= request)

    def request(self, requests: Resources) -> Ints:
        """In the order of `resources`."""
        return np.array([requests.get(resource) for resource in self.resources], dtype=np.int64)


def tiers(
    pools: Sequence[PoolOptions],
    shapes: Sequence[Shape],
    daemon_sets: Sequence[DaemonSet],
    choices: Sequence[Wish] = (),
    caps: Mapping[str, int] = NO_CAPS,
) -> tuple[Tier, ...]:
    """By weight, heavy first; a pod goes to the first that can host it."""
    weights = sorted({options.pool.weight for options in pools}, reverse=True)
    return tuple(
        tier([options for options in pools if options.pool.weight == weight], shapes, daemon_sets, choices, caps)
        for weight in weights
    )


def tier(
    pools: Iterable[PoolOptions],
    shapes: Sequence[Shape],
    daemon_sets: Sequence[DaemonSet],
    choices: Sequence[Wish] = (),
    caps: Mapping[str, int] = NO_CAPS,
) -> Tier:
    """These pools as one tier, whatever their weights.

    `caps`: what every node has of resources that only count pods (caps.py).
    `choices` are wishes that nobody has, but by which open labels are told apart, too: rules between pods.
    """
    options = tuple(sorted(pools, key=lambda each: each.pool.name))
    wishes = tuple(dict.fromkeys((*(shape.wish for shape in shapes), *choices)))
    stalls = [(purse, market) for purse, each in enumerate(options) for market in markets(each, wishes)]
    # What only DaemonSets ask for counts, too: of a type that is too small for them no node is bought.
    asked = (*(shape.requests for shape in shapes), *(daemon_set.requests for daemon_set in daemon_sets))
    resources = tuple(sorted({resource for each in asked for resource in each}))
    limited = tuple(sorted({key for each in options for key in limits.limited(each)}))
    sold = [market for _, market in stalls]
    sizes = [market.shelf.rows for market in sold]
    return Tier(
        pools=options,
        markets=tuple(sold),
        resources=resources,
        market_of=np.repeat(np.arange(len(sold)), sizes),
        row_of=_joined([np.arange(size) for size in sizes]),
        prices=_joined([market.shelf.prices for market in sold]),
        room=_stacked([_room(market, daemon_sets, resources, caps) for market in sold], len(resources)),
        on_sale=_joined([market.on_sale for market in sold]).astype(np.bool_),
        purse_of=np.repeat(np.array([purse for purse, _ in stalls], dtype=np.int64), sizes),
        limited=limited,
        usage=_stacked([limits.usage(market, limited) for market in sold], len(limited)),
        remaining=limits.remaining(options, limited),
    )


def daemon_rows(place: Tier, daemon_set: DaemonSet) -> Bools:
    """Offerings on whose nodes a DaemonSet has a pod."""
    return place.across(lambda market: runs_on(market, daemon_set))


def _room(market: Market, daemon_sets: Sequence[DaemonSet], resources: Sequence[str], caps: Mapping[str, int]) -> Ints:
    allocatable = market.shelf.amounts([kind.allocatable for kind in market.shelf.types], resources)
    room: Ints = allocatable - overhead(market, daemon_sets, resources)
    room += np.array([caps.get(name, 0) for name in resources], dtype=np.int64)
    return room


def _joined(parts: Sequence[Ints] | Sequence[Bools]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _stacked(parts: Sequence[Ints], columns: int) -> Ints:
    return np.concatenate(parts) if parts else np.zeros((0, columns), dtype=np.int64)
