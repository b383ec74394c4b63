"""Which instance types exist, and in which zones, by moto's recorded data."""

from functools import cache
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES

from sandbox.aws.capacity import Offering


def zones_offering(region: str, instance_type: str) -> frozenset[str]:
    """The zones of a region that have the type; empty when there's no such type."""
    return _zones(region).get(instance_type, frozenset())


def types_offered(region: str) -> tuple[str, ...]:
    """Every type some zone of the region has, by name."""
    return tuple(sorted(_zones(region)))


def described(instance_type: str) -> dict[str, Any]:
    """A type as DescribeInstanceTypes gives it."""
    return dict(INSTANCE_TYPES[instance_type])


def sold(region: str, offering: Offering) -> bool:
    """Whether the type exists, in that zone, in that way of buying it."""
    if offering.zone not in zones_offering(region, offering.instance_type):
        return False
    return offering.capacity_type in INSTANCE_TYPES[offering.instance_type].get("SupportedUsageClasses", ())


def architectures(instance_type: str) -> frozenset[str]:
    """The image architectures that boot on the type."""
    return frozenset(INSTANCE_TYPES[instance_type]["ProcessorInfo"]["SupportedArchitectures"])


@cache
def _zones(region: str) -> dict[str, frozenset[str]]:
    zones: dict[str, set[str]] = {}
    for row in INSTANCE_TYPE_OFFERINGS["availability-zone"].get(region, ()):
        zones.setdefault(row["InstanceType"], set()).add(row["Location"])
    return {name: frozenset(found) for name, found in zones.items() if name in INSTANCE_TYPES}
