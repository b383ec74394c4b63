"""Where an instance type can be bought, as what, and for how much (karpenter-behaviour §5.3)."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from nodewright.domain.catalogue import CapacityType, Offering
from nodewright.domain.instance_facts import InstanceFacts

ANY = "*"

OfferingTriple = tuple[str, str, str]
"""(instance type, zone, capacity type); `*` stands for any."""


@dataclass(frozen=True, slots=True)
class PriceBook:
    """Nanodollars per hour."""

    on_demand: Mapping[str, int] = field(default_factory=dict)
    """By type; the same in all zones."""
    spot: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """By type and zone. While no spot price at all is known on-demand prices stand in: the true
    ones are lower."""

    def price(self, instance_type: str, capacity_type: CapacityType, zone: str) -> int | None:
        """None where it isn't known; such an offering can't be compared and isn't bought."""
        if capacity_type == "spot" and self.spot:
            return self.spot.get((instance_type, zone))
        return self.on_demand.get(instance_type)


def offerings(
    facts: InstanceFacts,
    zones: AbstractSet[str],
    prices: PriceBook,
    unavailable: AbstractSet[OfferingTriple] = frozenset(),
    zone_ids: Mapping[str, str] | None = None,
) -> tuple[Offering, ...]:
    """All with a known price, by zone and capacity type; those that cool down are not available."""
    found = []
    for zone in sorted(zones):
        for capacity_type in sorted(facts.capacity_types):
            price = prices.price(facts.name, capacity_type, zone)
            if price is not None:
                available = not cools_down(unavailable, facts.name, zone, capacity_type)
                found.append(Offering(zone, capacity_type, price, available, (zone_ids or {}).get(zone, "")))
    return tuple(found)


def cools_down(unavailable: AbstractSet[OfferingTriple], instance_type: str, zone: str, capacity_type: str) -> bool:
    """Whether any entry covers this offering; eight look-ups, however many there are."""
    return any(
        (named_type, named_zone, named_capacity) in unavailable
        for named_type in (instance_type, ANY)
        for named_zone in (zone, ANY)
        for named_capacity in (capacity_type, ANY)
    )
