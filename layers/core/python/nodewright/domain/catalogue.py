"""What can be bought: instance types as a node pool sees them, and their offerings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from nodewright.domain.quantities import Resources

CapacityType = Literal["spot", "on-demand", "reserved"]


@dataclass(frozen=True, slots=True)
class Offering:
    """One (zone, capacity type) in which a type can be bought now."""

    zone: str
    capacity_type: CapacityType
    price: int
    """Nanodollars per hour (domain/money.py)."""
    available: bool = True
    """False while the offering cools down after an insufficient-capacity answer."""
    zone_id: str = ""
    overlaid: bool = False
    """Its price is a node overlay's: EC2 is to be told it, because it knows another."""


@dataclass(frozen=True, slots=True)
class InstanceType:
    """A type under one node class: what a node of it will carry and offer.

    `labels` are all labels a node of this type gets whatever its zone and capacity type
    (architecture §5, karpenter-behaviour §4.2); zone and capacity type come from the offering.
    """

    name: str
    labels: Mapping[str, str]
    capacity: Resources
    allocatable: Resources
    offerings: tuple[Offering, ...]
    volumes: int | None = None
    """Attachable volumes before CSINode tells; None where unknown."""
