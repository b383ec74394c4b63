"""Where pods alike could go at all: on nodes that are there, and on what could be bought."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property
from typing import Final

import numpy as np

from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling.admission import Judge, wished_rows
from nodewright.domain.scheduling.arrays import Bools, Floats, Ints
from nodewright.domain.scheduling.columns import Column, Columns
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.scheduling.shapes import Shape, Wish
from nodewright.domain.scheduling.tiers import Tier, tiers
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.taints import untolerated

NOT_BOUGHT: Final = float("inf")
"""The price of what only nodes have that are there."""


class Reach:
    """One pod at a time, as if it were alone: what it takes is a guess, whether it may come is not."""

    def __init__(self, snapshot: Snapshot, shapes: Sequence[Shape], preferred: Sequence[Requirements]) -> None:
        pools = [options for options in snapshot.pools if not options.pool.terminating]
        self._rooms = snapshot.rooms
        self._columns = Columns.of([room.labels for room in snapshot.rooms])
        self._tiers = tiers(pools, shapes, snapshot.daemon_sets, [Wish((each,), ()) for each in preferred])
        self._judges = [Judge(place, strict=True) for place in self._tiers]
        self._wished = cache(lambda place, wish: wished_rows(self._tiers[place], wish))
        self._offers = cache(self._judged)
        self._roomy = cache(self._admitting)
        self._codes = cache(self._coded)
        self.labelled = cache(self._labels)

    def prices(self, shape: Shape, key: str) -> Mapping[str, float]:
        """Values of a label that a pod could come to → its share of the cheapest node there."""
        found = dict.fromkeys(self._room_values(shape, key), NOT_BOUGHT)
        for place, mask in self._offers(_alone(shape)):
            shares = _shares(place, mask, shape)
            for number, market in enumerate(place.markets):
                rows = place.rows(number)
                for value, share in _cheapest(market, key, mask[rows], shares[rows]):
                    found[value] = min(share, found.get(value, NOT_BOUGHT))
        return found

    def price(self, shape: Shape) -> float | None:
        """A pod's share of the cheapest node it could come to; None where there is none."""
        found = [float(_shares(place, mask, shape)[mask].min()) for place, mask in self._offers(_alone(shape))]
        return min(found) if found else NOT_BOUGHT if self._roomy(_alone(shape)).any() else None

    def pools(self, shape: Shape) -> Iterator[NodePool]:
        """That could host it."""
        for place, mask in self._offers(_alone(shape)):
            yield from (place.pools[number].pool for number in np.unique(place.purse_of[mask]).tolist())

    @cached_property
    def all_prices(self) -> Ints:
        """Of the offerings of all pools, heavy ones first."""
        return np.concatenate([place.prices for place in self._tiers])

    @cached_property
    def all_room(self) -> Ints:
        """The same with what they have for pods."""
        return np.concatenate([place.room for place in self._tiers])

    def request(self, requests: Resources) -> Ints:
        """In the order of the columns of `all_room`."""
        return self._tiers[0].request(requests)

    def rows(self, alone: Shape) -> Bools:
        """Of all offerings those that a pod could come to. It is the same for pods alike, so it must have none."""
        offered = {id(place): mask for place, mask in self._offers(alone)}
        masks = (offered.get(id(place), np.zeros(len(place.prices), dtype=np.bool_)) for place in self._tiers)
        return np.concatenate(list(masks))

    def values(self, rows: Ints, key: str) -> Sequence[str]:
        """Those of a label on some of all offerings, in their order."""
        column = self._codes(key)
        found = (column.values[code] for code in dict.fromkeys(column.codes[rows].tolist()))
        return [value for value in found if value is not None]

    def _labels(self, requirements: Requirements) -> Bools:
        return np.concatenate(
            [place.across(lambda market: market.columns.admits_all(requirements)) for place in self._tiers]
        )

    def _coded(self, key: str) -> Column:
        columns = [market.columns.column(key) for place in self._tiers for market in place.markets]
        return Column.of(column.values[code] for column in columns for code in column.codes.tolist())

    def _judged(self, alone: Shape) -> tuple[tuple[Tier, Bools], ...]:
        several = []
        for number, (place, judge) in enumerate(zip(self._tiers, self._judges, strict=True)):
            request = place.request(alone.requests)
            mask, hosts = judge.rows(request, alone.wish, self._wished(number, alone.wish))
            if hosts:
                mask = mask & place.holds(request) & place.affordable
                several.append((place, mask))
        return tuple(several)

    def _admitting(self, alone: Shape) -> Bools:
        labelled = self._columns.admits_any(alone.wish.alternatives)
        mask = np.zeros(len(self._rooms), dtype=np.bool_)
        for number in np.flatnonzero(labelled).tolist():
            room = self._rooms[number]
            mask[number] = alone.requests.fits(room.available) and not untolerated(alone.wish.tolerations, room.taints)
        return mask

    def _room_values(self, shape: Shape, key: str) -> Iterator[str]:
        for number in np.flatnonzero(self._roomy(_alone(shape))).tolist():
            value = self._rooms[number].labels.get(key)
            if value is not None:
                yield value


def _alone(shape: Shape) -> Shape:
    """Without what tells it from others that could go to the same places."""
    return replace(shape, pods=(), problems=())


def _shares(place: Tier, mask: Bools, shape: Shape) -> Floats:
    """Of each row's price, what one pod takes; only of rows in the mask."""
    wanted: Ints = place.request(shape.requests)
    part = (wanted / np.maximum(place.room, 1)).max(axis=1, initial=0)
    shares: Floats = np.where(mask, place.prices * part, NOT_BOUGHT)
    return shares


def _cheapest(market: Market, key: str, mask: Bools, shares: Floats) -> Iterator[tuple[str, float]]:
    column = market.columns.column(key)
    for code in np.unique(column.codes[mask]).tolist():
        value = column.values[code]
        if value is not None:
            yield value, float(shares[mask & (column.codes == code)].min())
