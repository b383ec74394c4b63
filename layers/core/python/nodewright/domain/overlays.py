"""Node overlays: prices and extended resources of instance types as a user knows them better.

Source: karpenter-behaviour §4.5. Overlays with more weight come first, of equal weight those later in the alphabet.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from nodewright.domain import nodes
from nodewright.domain.catalogue import InstanceType, Offering
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements

ZONE_ID_LABEL: Final = "topology.k8s.aws/zone-id"
_OFFERING_KEYS: Final = frozenset({nodes.ZONE_LABEL, nodes.CAPACITY_TYPE_LABEL, ZONE_ID_LABEL})

Place = tuple[str, str, str, str]
"""(pool, instance type, zone, capacity type)."""


@dataclass(frozen=True, slots=True)
class PriceChange:
    """What a price becomes: its share `factor`, rounded half up, and `nanos` more; never less than nothing."""

    factor: Fraction = Fraction(1)
    nanos: int = 0

    def of(self, price: int) -> int:
        """Of a price in nanodollars per hour."""
        return max(0, int(price * self.factor + Fraction(1, 2)) + self.nanos)


@dataclass(frozen=True, slots=True)
class NodeOverlay:
    """One overlay."""

    name: str
    requirements: Requirements = Requirements()
    """Which offerings it is about, by the labels of their nodes, the pool's name among them."""
    weight: int = 0
    price: PriceChange | None = None
    """None: the price stays."""
    capacity: Mapping[str, int] = field(default_factory=dict)
    """Amounts of extended resources; zero hides one."""

    def __str__(self) -> str:
        return f"NodeOverlay/{self.name}"


@dataclass(frozen=True, slots=True)
class Shelf:
    """What one pool can buy."""

    pool: str
    labels: Mapping[str, str]
    """Of all its nodes."""
    instance_types: tuple[InstanceType, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two overlays of equal weight that say different things of the same; the loser isn't applied."""

    loser: NodeOverlay
    winner: NodeOverlay
    field: str
    """`price`, or the resource."""
    place: Place


@dataclass(frozen=True, slots=True)
class Ranking:
    """Overlays in the order in which they count, those that lost left out."""

    in_force: tuple[NodeOverlay, ...]
    conflicts: tuple[Conflict, ...]
    unused: tuple[NodeOverlay, ...]
    """They match nothing that any pool can buy."""


def rank(overlays: Iterable[NodeOverlay], shelves: Sequence[Shelf]) -> Ranking:
    """Conflicts are looked for on everything there is to buy, so that an overlay counts everywhere or nowhere."""
    in_force: list[tuple[NodeOverlay, frozenset[Place]]] = []
    conflicts: list[Conflict] = []
    unused: list[NodeOverlay] = []
    for overlay in _in_order(overlays):
        places = frozenset(place for shelf in shelves for place in _places(overlay, shelf))
        conflict = _conflict(overlay, places, in_force)
        if conflict:
            conflicts.append(conflict)
        elif places:
            in_force.append((overlay, places))
        else:
            unused.append(overlay)
    return Ranking(tuple(overlay for overlay, _ in in_force), tuple(conflicts), tuple(unused))


def apply(overlays: Sequence[NodeOverlay], shelf: Shelf) -> tuple[InstanceType, ...]:
    """The types as overlays in their order make them: the first price counts, and of each resource the first amount.

    An overlay that matches one offering of a type adds its resources to the type.
    """
    matches = {overlay.name: frozenset(_places(overlay, shelf)) for overlay in overlays}
    return tuple(_overlaid(each, overlays, matches, shelf.pool) for each in shelf.instance_types)


def _in_order(overlays: Iterable[NodeOverlay]) -> list[NodeOverlay]:
    return sorted(sorted(overlays, key=lambda each: each.name, reverse=True), key=lambda each: -each.weight)


def _places(overlay: NodeOverlay, shelf: Shelf) -> Iterable[Place]:
    """Offerings it is about. A type is judged once; only zone and capacity type differ between its offerings."""
    of_offering = Requirements(r for key, r in overlay.requirements.items() if key in _OFFERING_KEYS)
    of_type = Requirements(r for key, r in overlay.requirements.items() if key not in _OFFERING_KEYS)
    for each in shelf.instance_types:
        if of_type.admits({**shelf.labels, **each.labels}):
            for offering in each.offerings:
                if of_offering.admits(_labels(offering)):
                    yield (shelf.pool, each.name, offering.zone, offering.capacity_type)


def _labels(offering: Offering) -> Mapping[str, str]:
    return {
        nodes.ZONE_LABEL: offering.zone,
        nodes.CAPACITY_TYPE_LABEL: offering.capacity_type,
        **({ZONE_ID_LABEL: offering.zone_id} if offering.zone_id else {}),
    }


def _conflict(
    overlay: NodeOverlay, places: frozenset[Place], stronger: Iterable[tuple[NodeOverlay, frozenset[Place]]]
) -> Conflict | None:
    for other, theirs in stronger:
        shared = places & theirs
        differing = _difference(overlay, other)
        if differing and shared and other.weight == overlay.weight:
            return Conflict(overlay, other, differing, min(shared))
    return None


def _difference(one: NodeOverlay, other: NodeOverlay) -> str:
    """What both speak of and don't agree on; empty where there is nothing."""
    if one.price and other.price and one.price != other.price:
        return "price"
    both = sorted(one.capacity.keys() & other.capacity.keys())
    return next((name for name in both if one.capacity[name] != other.capacity[name]), "")


def _overlaid(
    each: InstanceType, overlays: Sequence[NodeOverlay], matches: Mapping[str, frozenset[Place]], pool: str
) -> InstanceType:
    about = {(o.zone, o.capacity_type): (pool, each.name, o.zone, o.capacity_type) for o in each.offerings}
    amounts: dict[str, int] = {}
    for overlay in reversed(overlays):
        if not matches[overlay.name].isdisjoint(about.values()):
            amounts |= overlay.capacity
    return replace(
        each,
        capacity=Resources({**each.capacity, **amounts}),
        allocatable=Resources({**each.allocatable, **amounts}),
        offerings=tuple(
            _priced(offering, overlays, matches, about[offering.zone, offering.capacity_type])
            for offering in each.offerings
        ),
    )


def _priced(
    offering: Offering, overlays: Sequence[NodeOverlay], matches: Mapping[str, frozenset[Place]], place: Place
) -> Offering:
    change = next((o.price for o in overlays if o.price and place in matches[o.name]), None)
    return replace(offering, price=change.of(offering.price), overlaid=True) if change else offering
