"""What can be bought, at what price, and for which clusters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from nodewright.domain.catalogue import CapacityType
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.instance_facts import InstanceFacts


@dataclass(frozen=True, slots=True)
class Price:
    """One price of one type."""

    instance_type: str
    capacity_type: CapacityType
    zone: str
    """Empty for on-demand: the same in all zones."""
    nanos: int


class Ec2Catalogue(Protocol):
    """What EC2 sells in this region, asked live (refresh)."""

    def instance_types(self) -> tuple[InstanceFacts, ...]:
        """DescribeInstanceTypes, all pages."""
        ...

    def zones_by_type(self) -> Mapping[str, frozenset[str]]:
        """DescribeInstanceTypeOfferings per availability zone: type → zones."""
        ...

    def spot_prices(self, now: datetime) -> tuple[Price, ...]:
        """Latest per type and zone."""
        ...

    def on_demand_prices(self) -> tuple[Price, ...]:
        """Linux, shared tenancy."""
        ...


class ClusterDirectory(Protocol):
    """EKS: what a cluster says of itself."""

    def describe(self, name: str) -> ConnectedCluster:
        """Endpoint, CA, version, service CIDR, auth mode; tokens and settings left at their defaults."""
        ...


@dataclass(frozen=True, slots=True)
class UnavailableOffering:
    """An offering that cools down, for every cluster of the region. `*` stands for any."""

    instance_type: str
    zone: str
    capacity_type: str
    reason: str
    until: datetime


@dataclass(frozen=True, slots=True)
class RegionCatalogue:
    """The stored catalogue of a region."""

    facts: tuple[InstanceFacts, ...]
    zones_by_type: Mapping[str, frozenset[str]]
    prices: tuple[Price, ...]
    ages: Mapping[str, datetime]
    """Part (types, offerings, prices, spot, images) → when it was taken."""
    images: Mapping[str, str] = field(default_factory=dict)
    """SSM public parameter → image id, of every connected cluster's version."""
