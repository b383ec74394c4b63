"""What can be bought for a pool, flat: one row per (type, zone, capacity type)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nodewright.domain import nodes
from nodewright.domain.catalogue import InstanceType, Offering
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.arrays import Bools, Ints, Texts
from nodewright.domain.scheduling.columns import Column, Columns
from nodewright.domain.scheduling.lanes import lanes, own_labels
from nodewright.domain.scheduling.shapes import Wish
from nodewright.domain.snapshot import PoolOptions


@dataclass(frozen=True, slots=True, eq=False)
class Shelf:
    """The rows of one pool, in an order of their own: by type name, zone, capacity type."""

    pool: NodePool
    types: tuple[InstanceType, ...]
    offerings: tuple[Offering, ...]
    type_of: Ints
    prices: Ints
    available: Bools
    capacity_types: Texts
    columns: Columns = field(repr=False)
    """Labels of type and offering, without the pool's own."""

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.offerings)

    def amounts(self, of_types: Sequence[Resources], resources: Sequence[str]) -> Ints:
        """A quantity of each type, as a matrix rows × resources."""
        matrix = [[amounts.get(resource) for resource in resources] for amounts in of_types]
        shaped = np.array(matrix, dtype=np.int64).reshape(len(of_types), len(resources))
        return shaped[self.type_of]


@dataclass(frozen=True, slots=True, eq=False)
class Market:
    """A pool's shelf under one choice of its open labels."""

    shelf: Shelf
    lane: Mapping[str, str]
    columns: Columns = field(repr=False)
    """All labels a node of each row will carry."""
    permitted: Bools
    """Rows the pool's own requirements allow."""

    @property
    def pool(self) -> NodePool:
        """Whose nodes it sells."""
        return self.shelf.pool

    def labels(self, row: int, keys: Iterable[str]) -> dict[str, str]:
        """Those of these labels that a node of a row carries."""
        columns = ((key, self.columns.column(key)) for key in keys)
        found = ((key, column.values[column.codes[row]]) for key, column in columns)
        return {key: value for key, value in found if value is not None}

    @property
    def on_sale(self) -> Bools:
        """Permitted, and not cooling down."""
        return self.permitted & self.shelf.available


def markets(options: PoolOptions, wishes: Iterable[Wish]) -> tuple[Market, ...]:
    """A pool's markets: one, unless it leaves labels open that these pods narrow."""
    shelf = _shelf(options)
    type_keys = frozenset(key for kind in shelf.types for key in kind.labels)
    return tuple(_market(shelf, lane) for lane in lanes(options.pool, wishes, type_keys))


def _shelf(options: PoolOptions) -> Shelf:
    types = tuple(sorted(options.instance_types, key=lambda kind: kind.name))
    rows = [(i, offering) for i, kind in enumerate(types) for offering in sorted(kind.offerings, key=_offering_order)]
    offerings = tuple(offering for _, offering in rows)
    type_of = np.array([i for i, _ in rows], dtype=np.int64)
    return Shelf(
        pool=options.pool,
        types=types,
        offerings=offerings,
        type_of=type_of,
        # What costs nothing (a node overlay's -100%) has no price per pod; the least there is comes to the same.
        prices=np.array([max(1, offering.price) for offering in offerings], dtype=np.int64),
        available=np.array([offering.available for offering in offerings], dtype=np.bool_),
        capacity_types=np.array([offering.capacity_type for offering in offerings], dtype=np.str_),
        columns=Columns(len(rows), lambda key: _column(key, types, offerings, type_of)),
    )


def _offering_order(offering: Offering) -> tuple[str, str, int]:
    return (offering.zone, offering.capacity_type, offering.price)


def _column(key: str, types: Sequence[InstanceType], offerings: Sequence[Offering], type_of: Ints) -> Column:
    if key == nodes.ZONE_LABEL:
        return Column.of(offering.zone for offering in offerings)
    if key == nodes.CAPACITY_TYPE_LABEL:
        return Column.of(offering.capacity_type for offering in offerings)
    if key == nodes.ZONE_ID_LABEL:
        return Column.of(offering.zone_id or None for offering in offerings)
    if key == nodes.INSTANCE_TYPE_LABEL:
        return Column.of(kind.name for kind in types).take(type_of)
    return Column.of(kind.labels.get(key) for kind in types).take(type_of)


def _market(shelf: Shelf, lane: Mapping[str, str]) -> Market:
    own = {**own_labels(shelf.pool), **lane}

    def column(key: str) -> Column:
        return Column.constant(own[key], shelf.rows) if key in own else shelf.columns.column(key)

    columns = Columns(shelf.rows, column)
    # What the template requires of open labels holds by the choice of lane.
    return Market(shelf, lane, columns, permitted=columns.admits_all(shelf.pool.requirements))
