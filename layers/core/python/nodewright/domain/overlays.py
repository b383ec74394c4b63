"""Node overlays: prices and extended resources of instance types as a user knows them better.

Source: karpenter-behaviour §4.5. Overlays with more weight come first, of equal weight those later in the alphabet.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        share, whole = self.factor.as_integer_ratio()
        return max(0, (2 * price * share + whole) // (2 * whole) + self.nanos)


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
class Applied:
    """An overlay with the offerings it is about, of all pools."""

    overlay: NodeOverlay
    places: frozenset[Place]


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

    in_force: tuple[Applied, ...]
    conflicts: tuple[Conflict, ...]
    unused: tuple[NodeOverlay, ...]
    """They match nothing that any pool can buy."""


def rank(overlays: Iterable[NodeOverlay], shelves: Sequence[Shelf]) -> Ranking:
    """Conflicts are looked for on everything there is to buy, so that an overlay counts everywhere or nowhere."""
    goods = [_goods(shelf) for shelf in shelves]
    in_force: list[Applied] = []
    conflicts: list[Conflict] = []
    unused: list[NodeOverlay] = []
    for overlay in _in_order(overlays):
        applied = Applied(overlay, frozenset(place for each in goods for place in _places(overlay, each)))
        conflict = next(filter(None, (_conflict(applied, other) for other in in_force)), None)
        if conflict:
            conflicts.append(conflict)
        elif applied.places:
            in_force.append(applied)
        else:
            unused.append(overlay)
    return Ranking(tuple(in_force), tuple(conflicts), tuple(unused))


def apply(in_force: Sequence[Applied], shelf: Shelf) -> tuple[InstanceType, ...]:
    """The types as overlays in their order make them: the first price counts, and of each resource the first amount.

    An overlay that matches one offering of a type adds its resources to the type.
    """
    return tuple(_overlaid(each, in_force, shelf.pool) for each in shelf.instance_types)


def _in_order(overlays: Iterable[NodeOverlay]) -> list[NodeOverlay]:
    return sorted(sorted(overlays, key=lambda each: each.name, reverse=True), key=lambda each: -each.weight)


_Goods = list[tuple[Mapping[str, str], list[tuple[Mapping[str, str], Place]]]]
"""Of each type its labels, and the labels and place of each of its offerings."""


def _goods(shelf: Shelf) -> _Goods:
    return [
        ({**shelf.labels, **each.labels}, [(_labels(o), _place(shelf.pool, each, o)) for o in each.offerings])
        for each in shelf.instance_types
    ]


def _places(overlay: NodeOverlay, goods: _Goods) -> Iterator[Place]:
    """Offerings it is about. A type is judged once; only zone and capacity type differ between its offerings."""
    of_offering = Requirements(r for key, r in overlay.requirements.items() if key in _OFFERING_KEYS)
    of_type = Requirements(r for key, r in overlay.requirements.items() if key not in _OFFERING_KEYS)
    for labels, offerings in goods:
        if of_type.admits(labels):
            yield from (place for offered, place in offerings if of_offering.admits(offered))


def _labels(offering: Offering) -> Mapping[str, str]:
    return {
        nodes.ZONE_LABEL: offering.zone,
        nodes.CAPACITY_TYPE_LABEL: offering.capacity_type,
        **({ZONE_ID_LABEL: offering.zone_id} if offering.zone_id else {}),
    }


def _place(pool: str, each: InstanceType, offering: Offering) -> Place:
    return (pool, each.name, offering.zone, offering.capacity_type)


def _conflict(one: Applied, stronger: Applied) -> Conflict | None:
    if one.overlay.weight != stronger.overlay.weight:
        return None
    shared = one.places & stronger.places
    if shared and _prices_differ(one.overlay, stronger.overlay):
        return Conflict(one.overlay, stronger.overlay, "price", min(shared))
    resource = _differing_resource(one.overlay.capacity, stronger.overlay.capacity)
    types = {place[:2] for place in stronger.places} if resource else set()
    shared = frozenset(place for place in one.places if place[:2] in types)
    return Conflict(one.overlay, stronger.overlay, resource, min(shared)) if shared else None


def _prices_differ(one: NodeOverlay, other: NodeOverlay) -> bool:
    return one.price is not None and other.price is not None and one.price != other.price


def _differing_resource(one: Mapping[str, int], other: Mapping[str, int]) -> str:
    """The first by name; empty where there is none."""
    return next((name for name in sorted(one.keys() & other.keys()) if one[name] != other[name]), "")


def _overlaid(each: InstanceType, in_force: Sequence[Applied], pool: str) -> InstanceType:
    places = {_place(pool, each, offering) for offering in each.offerings}
    about = [applied for applied in in_force if not applied.places.isdisjoint(places)]
    if not about:
        return each
    amounts: dict[str, int] = {}
    for applied in reversed(about):
        amounts |= applied.overlay.capacity
    return replace(
        each,
        capacity=Resources({**each.capacity, **amounts}),
        allocatable=Resources({**each.allocatable, **amounts}),
        offerings=tuple(_priced(offering, about, _place(pool, each, offering)) for offering in each.offerings),
    )


def _priced(offering: Offering, about: Sequence[Applied], place: Place) -> Offering:
    change = next((a.overlay.price for a in about if a.overlay.price and place in a.places), None)
    return replace(offering, price=change.of(offering.price), overlaid=True) if change else offering
