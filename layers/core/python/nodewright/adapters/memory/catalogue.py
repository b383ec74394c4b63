"""What EC2 sells and what EKS knows, given beforehand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nodewright.application.errors import NotFoundError
from nodewright.application.ports import Price
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.instance_facts import InstanceFacts


@dataclass
class InMemoryEc2Catalogue:
    """The four answers."""

    facts: tuple[InstanceFacts, ...] = ()
    zones: Mapping[str, frozenset[str]] = field(default_factory=dict)
    spot: tuple[Price, ...] = ()
    on_demand: tuple[Price, ...] = ()

    def instance_types(self) -> tuple[InstanceFacts, ...]:
        """Sorted by name."""
        return tuple(sorted(self.facts, key=lambda facts: facts.name))

    def zones_by_type(self) -> Mapping[str, frozenset[str]]:
        """Type → zones."""
        return self.zones

    def spot_prices(self, now: datetime) -> tuple[Price, ...]:  # noqa: ARG002  prices here don't move by themselves
        """Latest per type and zone."""
        return self.spot

    def on_demand_prices(self) -> tuple[Price, ...]:
        """Zone is empty."""
        return self.on_demand


@dataclass
class InMemoryDirectory:
    """Clusters by name."""

    known: dict[str, ConnectedCluster] = field(default_factory=dict)

    def describe(self, name: str) -> ConnectedCluster:
        """NotFoundError for others."""
        if name not in self.known:
            raise NotFoundError(f"describing cluster {name}: no cluster found for name: {name}")
        return self.known[name]
