"""Which offerings go into a launch: a node of the plan is a load, not a type (architecture §7)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nodewright.domain import nodes
from nodewright.domain.plans import LaunchOffering
from nodewright.domain.scheduling import flexibility
from nodewright.domain.scheduling.arrays import Bools, Floats, Ints, every
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.scheduling.tiers import Tier

MOST_TYPES: Final = 60
"""Karpenter's cut (karpenter-behaviour §7.1); a longer request is refused by its size."""


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """What one planned node carries, and how many such nodes there are."""

    planned: int
    """The tier's row it was planned on."""
    amounts: Ints
    mask: Bools
    """Rows all its pods may use."""
    times: int


def launch_list(place: Tier, load: Load, purse: Floats) -> tuple[LaunchOffering, ...]:
    """Offerings of one capacity type that hold the load, cheapest first.

    Everything in it counts: the difference between the largest and dearest of it and the planned one is taken
    from the pool's `purse`, and what doesn't fit there is left out. Empty when minValues can't be kept.
    """
    choice = _Choice.of(place, load)
    usage = place.usage[place.rows(int(place.market_of[load.planned]))].astype(np.float64)
    listing = _Listing(usage, choice.market.shelf.type_of, choice.planned, load.times, purse.copy())
    for key, least in flexibility.asked(choice.market).items():
        choice.widen(listing, key, least)
    if listing.is_limited:
        choice.list_within_limits(listing)
    else:
        listing.add_kinds(dict.fromkeys(choice.turns()), choice.near)
    if not choice.is_wide(listing.rows):
        return ()
    purse[:] = listing.left
    return choice.offerings(listing.rows)


class _Listing:
    """The rows listed so far, and what they leave of the purse."""

    def __init__(self, usage: Floats, type_of: Ints, planned: int, times: int, left: Floats) -> None:
        self._usage = usage
        self._type_of = type_of
        self._counted = usage[planned]
        self._times = times
        self._types: set[int] = set()
        self.left = left
        self.rows = np.zeros(len(usage), dtype=np.bool_)

    @property
    def is_limited(self) -> bool:
        """Whether the limits may leave something out."""
        return bool(self._usage.shape[1])

    @property
    def is_full(self) -> bool:
        """Whether no further type may be listed."""
        return len(self._types) >= MOST_TYPES

    def lists(self, kind: int) -> bool:
        """Whether some row of the type is listed, which leaves room for its others."""
        return kind in self._types

    def add_kinds(self, kinds: Iterable[int], allowed: Bools) -> None:
        """Those rows of these types, one type after the other; where there are no limits."""
        for kind in kinds:
            if self.is_full:
                break
            self._types.add(kind)
        listed = np.zeros(int(self._type_of.max()) + 1, dtype=np.bool_)
        listed[list(self._types)] = True
        self.rows |= allowed & listed[self._type_of]

    def add(self, rows: Ints) -> None:
        """Those of a type that the limits allow."""
        extra = np.maximum(self._usage[rows] - self._counted, 0) * self._times
        rows = rows[every(extra <= self.left)]
        if len(rows):
            most = np.maximum(self._counted, self._usage[rows].max(axis=0))
            self.left -= (most - self._counted) * self._times
            self._counted = most
            self._types.update(self._type_of[rows].tolist())
            self.rows[rows] = True


def relaxed_min_values(place: Tier, planned: int, offerings: Sequence[LaunchOffering]) -> tuple[str, ...]:
    """Keys of which a list has fewer values than the pool would like (policy BestEffort)."""
    market = place.markets[place.market_of[planned]]
    asked = flexibility.asked(market).items()
    if not asked:
        return ()
    capacity_type = market.shelf.offerings[place.row_of[planned]].capacity_type
    listed = {(each.instance_type, each.zone) for each in offerings}
    rows = np.array(
        [
            (market.shelf.types[kind].name, offering.zone) in listed and offering.capacity_type == capacity_type
            for kind, offering in zip(market.shelf.type_of.tolist(), market.shelf.offerings, strict=True)
        ],
        dtype=np.bool_,
    )
    return tuple(key for key, least in asked if flexibility.distinct(market, rows, key) < least)


def dearest(price: int) -> int:
    """What an offering beside one of this price may cost: 1.3 × as much."""
    return price * 13 // 10


def ceiling(market: Market, planned: int, holds: Bools) -> int:
    """The most an offering in the list of a planned row may cost; `holds`: rows that hold the load.

    Spot must not cost more than the cheapest on-demand that would do.
    """
    shelf = market.shelf
    most = dearest(int(shelf.prices[planned]))
    if shelf.capacity_types[planned] != "spot":
        return most
    on_demand = shelf.prices[holds & (shelf.capacity_types == "on-demand")]
    return int(on_demand.min(initial=most))


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    """The rows of one market that hold a load, all of one capacity type."""

    market: Market
    planned: int
    holds: Bools
    near: Bools
    """Of those, the ones whose price is right."""

    @classmethod
    def of(cls, place: Tier, load: Load) -> "_Choice":
        number = int(place.market_of[load.planned])
        market, rows = place.markets[number], place.rows(number)
        planned = load.planned - rows.start
        allowed = np.flatnonzero(load.mask[rows])
        fitting = np.zeros(market.shelf.rows, dtype=np.bool_)
        fitting[allowed] = every(place.room[rows.start + allowed] >= load.amounts)
        codes = market.shelf.columns.column(nodes.CAPACITY_TYPE_LABEL).codes
        holds = fitting & (codes == codes[planned])
        near = holds & (market.shelf.prices <= ceiling(market, planned, fitting))
        near[planned] = True
        return cls(market, planned, holds, near)

    @property
    def spot(self) -> bool:
        return bool(self.market.shelf.capacity_types[self.planned] == "spot")

    def turns(self) -> Iterator[int]:
        """Types in the order in which they are to get a place in the list; with repetitions."""
        shelf = self.market.shelf
        yield int(shelf.type_of[self.planned])
        by_price = self._by_price(self.near)
        if self.spot:
            yield from self._first_of_each(by_price)
        yield from shelf.type_of[by_price].tolist()

    def list_within_limits(self, listing: _Listing) -> None:
        """One type after the other, as far as limits allow."""
        for kind in dict.fromkeys(self.turns()):
            if listing.lists(kind) or not listing.is_full:
                listing.add(self.rows(kind))

    def widen(self, listing: _Listing, key: str, least: int) -> None:
        """List the cheapest row of each further value of a label until there are so many, if limits allow."""
        by_price = self._by_price(self.holds)
        _, firsts = np.unique(self.market.columns.column(key).codes[by_price], return_index=True)
        for row in (np.array([self.planned]), *np.split(by_price[np.sort(firsts)], len(firsts))):
            if flexibility.distinct(self.market, listing.rows, key) >= least:
                return
            listing.add(row)

    def rows(self, kind: int) -> Ints:
        """Those of a type at the right price; of one too dear for that its cheapest."""
        own = np.flatnonzero(self.holds & (self.market.shelf.type_of == kind))
        near = own[self.near[own]]
        prices = self.market.shelf.prices[own]
        return near if len(near) else own[prices == prices.min()]

    def is_wide(self, rows: Bools) -> bool:
        """Whether these rows keep the pool's minValues."""
        wishes = flexibility.wishes(self.market).items()
        return all(flexibility.distinct(self.market, rows, key) >= least for key, least in wishes)

    def offerings(self, rows: Bools) -> tuple[LaunchOffering, ...]:
        """Cheapest first."""
        shelf = self.market.shelf
        listed = ((shelf.types[shelf.type_of[row]].name, shelf.offerings[row]) for row in np.flatnonzero(rows))
        found = [LaunchOffering(name, offering.zone, offering.price) for name, offering in listed]
        return tuple(sorted(found, key=lambda each: (each.price, each.instance_type, each.zone)))

    def _by_price(self, rows: Bools) -> Ints:
        found = np.flatnonzero(rows)
        return found[np.argsort(self.market.shelf.prices[found], kind="stable")]

    def _first_of_each(self, by_price: Ints) -> Iterator[int]:
        """The cheapest type of each zone, family and size: where one pool of spot is empty another may not be."""
        shelf = self.market.shelf
        names = [shelf.types[kind].name.partition(".") for kind in shelf.type_of[by_price]]
        zones = [shelf.offerings[row].zone for row in by_price]
        for values in (zones, [family for family, _, _ in names], [size for _, _, size in names]):
            firsts = {value: at for at, value in reversed(list(enumerate(values)))}
            yield from shelf.type_of[by_price[sorted(firsts.values())]].tolist()
