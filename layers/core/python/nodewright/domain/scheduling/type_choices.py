"""Why a launch is planned on the type it is planned on: what else would hold its pods, and at what price.

Looked at afterwards: the shelf of the launch's pool, less what its pods can't use, with the load of one node.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from nodewright.domain.catalogue import CapacityType
from nodewright.domain.nodes import ZONE_LABEL
from nodewright.domain.plans import Launch, Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling.admission import admission
from nodewright.domain.scheduling.arrays import Bools, Ints, every
from nodewright.domain.scheduling.launch_lists import ceiling
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.scheduling.shapes import Shape, Wish, group
from nodewright.domain.scheduling.tiers import Tier, tier
from nodewright.domain.snapshot import Snapshot

Absence = Literal["", "pool", "pods", "capacity", "size"]
"""Why nothing of the other capacity type would do: the pool doesn't sell it, its pods don't take it, EC2 has none
just now, or none is large enough. Empty where something would."""


@dataclass(frozen=True, slots=True)
class Sold:
    """One type at its price."""

    instance_type: str
    capacity_type: CapacityType
    zone: str
    """One in which it is."""
    price: int


@dataclass(frozen=True, slots=True)
class TypeChoice:
    """What there was besides the planned type."""

    holding: int
    """Types of the pool that its pods may use and that hold them, the planned one included, bought the same way."""
    listed: int
    """Of those, in the launch."""
    ceiling: int
    """What one in the launch may cost at most."""
    barred: int
    """Types at such prices that aren't in it: rules between pods, limits or its length keep them out."""
    kept_off: Sold | None
    """The cheapest that would hold them for less; rules between pods, limits or minValues rule it out."""
    next_best: Sold | None
    """The cheapest other type."""
    too_small: Sold | None
    """The dearest of the cheaper types, which doesn't hold them."""
    lacking: Resources
    """What it is short of."""
    other_way: Sold | None
    """The cheapest that holds them of the other capacity type."""
    absence: Absence


class TypeChoices:
    """Of one plan."""

    def __init__(self, snapshot: Snapshot, plan: Plan) -> None:
        self._snapshot = snapshot
        placed = {pod for launch in plan.launches for pod in _pods(launch)}
        everybody = (*snapshot.pods, *snapshot.expected, *snapshot.headroom)
        self._shapes = group(pod for pod in everybody if pod.key in placed)
        self._shape_of: Final[Mapping[PodKey, int]] = {
            pod: number for number, shape in enumerate(self._shapes) for pod in shape.pods
        }
        pools = {launch.pool for launch in plan.launches}
        self._stalls = {name: _Stall(self._tier(name, plan), self._shapes) for name in sorted(pools)}

    def of(self, launch: Launch) -> TypeChoice | None:
        """Of one of the plan's launches; None where the snapshot doesn't know what it is about."""
        numbers = {self._shape_of[pod] for pod in _pods(launch) if pod in self._shape_of}
        return self._stalls[launch.pool].choice(launch, sorted(numbers)) if numbers else None

    def _tier(self, name: str, plan: Plan) -> Tier:
        """The launches' labels are told apart, too: rules between pods may have chosen them."""
        mine = [launch for launch in plan.launches if launch.pool == name]
        choices = [Wish((Requirements.from_labels(launch.labels),), ()) for launch in mine if launch.labels]
        options = [each for each in self._snapshot.pools if each.pool.name == name]
        return tier(options, self._shapes, self._snapshot.daemon_sets, choices)


def _pods(launch: Launch) -> Iterator[PodKey]:
    """Those that aren't there among them: they were bought for, too."""
    return (pod for content in launch.contents for part in content for pod in part)


class _Stall:
    """One pool's offerings, and which of them each shape may use."""

    def __init__(self, place: Tier, shapes: Sequence[Shape]) -> None:
        self._place = place
        self._admitted = admission(place, shapes)
        self._kinds = [{kind.name: n for n, kind in enumerate(market.shelf.types)} for market in place.markets]

    def choice(self, launch: Launch, shapes: Sequence[int]) -> TypeChoice | None:
        """For pods of these shapes."""
        number = next((i for i in range(len(self._place.markets)) if self._sells(i, launch)), None)
        if number is None:
            return None
        masks = self._admitted.masks[np.unique(self._admitted.mask_of[list(shapes)])]
        rows = self._place.rows(number)
        planned = self._kinds[number][launch.instance_types[0]]
        return _Choice(self._place.markets[number], launch, planned, every(masks[:, rows], axis=0)).told(
            self._place.room[rows], self._place.request(launch.requests), self._place.resources
        )

    def _sells(self, number: int, launch: Launch) -> bool:
        market, first = self._place.markets[number], launch.offerings[0]
        kind = self._kinds[number].get(first.instance_type)
        if kind is None or market.lane != launch.labels:
            return False
        offered = [market.shelf.offerings[row] for row in np.flatnonzero(market.shelf.type_of == kind)]
        return (first.zone, launch.capacity_type) in {(each.zone, each.capacity_type) for each in offered}


@dataclass(frozen=True, slots=True, eq=False)
class _Choice:
    market: Market
    launch: Launch
    planned: int
    """Its type."""
    usable: Bools
    """By its pods, whatever their size."""

    def told(self, room: Ints, load: Ints, resources: Sequence[str]) -> TypeChoice:
        """`room` and `load` are amounts of these resources: of each row, and of one node's pods."""
        shelf, launch = self.market.shelf, self.launch
        fits = every(room >= load)
        holds, same = self.usable & fits, shelf.capacity_types == launch.capacity_type
        here, planned = same & self._in_its_zones(), shelf.type_of == self.planned
        cheaper = shelf.prices < launch.price
        small = self._dearest(self.usable & ~fits & here & cheaper)
        most = ceiling(self.market, int(np.flatnonzero(here & planned)[0]), holds)
        return TypeChoice(
            holding=len(np.unique(shelf.type_of[holds & same])),
            listed=len(launch.instance_types),
            ceiling=most,
            barred=len(self._names(holds & same & (shelf.prices <= most)) - {*launch.instance_types}),
            kept_off=self._cheapest(holds & cheaper),
            next_best=self._cheapest(holds & here & ~planned),
            too_small=None if small is None else self._sold(small),
            lacking=_lacking(load, room[small], resources) if small is not None else Resources(),
            other_way=self._cheapest(holds & ~same),
            absence=self._absence(~same, fits),
        )

    def _in_its_zones(self) -> Bools:
        column, zones = self.market.columns.column(ZONE_LABEL), set(self.launch.zones)
        return np.array([value in zones for value in column.values], dtype=np.bool_)[column.codes]

    def _cheapest(self, rows: Bools) -> Sold | None:
        found = np.flatnonzero(rows)
        return self._sold(int(found[np.argmin(self.market.shelf.prices[found])])) if len(found) else None

    def _dearest(self, rows: Bools) -> int | None:
        found = np.flatnonzero(rows)
        return int(found[np.argmax(self.market.shelf.prices[found])]) if len(found) else None

    def _sold(self, row: int) -> Sold:
        shelf = self.market.shelf
        offering = shelf.offerings[row]
        return Sold(shelf.types[shelf.type_of[row]].name, offering.capacity_type, offering.zone, offering.price)

    def _names(self, rows: Bools) -> set[str]:
        return {self.market.shelf.types[kind].name for kind in np.unique(self.market.shelf.type_of[rows])}

    def _absence(self, other: Bools, fits: Bools) -> Absence:
        market = self.market
        if (other & self.usable & fits).any():
            return ""
        if not (other & market.permitted).any():
            return "pool"
        if not (other & market.on_sale & fits).any():
            return "capacity" if (other & market.permitted & fits).any() else "size"
        return "pods"


def _lacking(load: Ints, room: Ints, resources: Sequence[str]) -> Resources:
    return Resources({name: short for name, short in zip(resources, (load - room).tolist(), strict=True) if short > 0})
