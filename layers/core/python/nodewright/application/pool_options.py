"""What each pool of a cluster can buy now: its class resolved, the catalogue through it, its limits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from nodewright.application.errors import NotFoundError, RefusedError
from nodewright.application.limits import limits_of
from nodewright.application.node_class_resolution import (
    NodeClassResolver,
    ResolvedNodeClass,
    UnusableNodeClassError,
)
from nodewright.application.orders import Buyer, Order
from nodewright.application.overlaying import overlaid
from nodewright.application.ports import ClusterState, Ledger, ManifestWarning, Price, RegionCatalogue
from nodewright.domain.capacity import PriceBook, instance_types
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.limits import Limits, tightest
from nodewright.domain.nodeclasses import NodeClass
from nodewright.domain.offerings import OfferingTriple
from nodewright.domain.plans import Launch
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.snapshot import PoolOptions


@dataclass(frozen=True, slots=True)
class Market:
    """Everything that can be bought for a cluster, and why some pools can't buy."""

    options: tuple[PoolOptions, ...]
    """Of every pool; one that can't buy has no types, so that pods are told so."""
    classes: Mapping[str, ResolvedNodeClass]
    """By name of the class."""
    warnings: tuple[ManifestWarning, ...]

    def types(self, pool: str) -> dict[str, InstanceType]:
        """A pool's types by name; empty for a pool that can't buy."""
        return {t.name: t for o in self.options if o.pool.name == pool for t in o.instance_types}

    def pool(self, name: str) -> NodePool:
        """One of the pools."""
        return next(o.pool for o in self.options if o.pool.name == name)

    def lookup(self, pool: str, name: str) -> InstanceType | None:
        """A type as a pool sees it."""
        return self.types(pool).get(name)

    def order(self, launch: Launch, buyer: Buyer) -> Order:
        """A planned launch with all that it takes to buy it."""
        pool = self.pool(launch.pool)
        return Order(launch, pool, self.classes[pool.node_class], self.types(pool.name), buyer)


@dataclass(frozen=True, slots=True)
class MarketReader:
    """Puts a market together. A pool that can't buy is a warning and keeps no other from buying."""

    ledger: Ledger
    resolver: NodeClassResolver

    def read(self, connected: ConnectedCluster, state: ClusterState, now: datetime) -> Market:
        """NotFoundError before the region's first refresh."""
        classes, types, warnings = self._classes(connected, state, now)
        pools = [p for p in state.pools if not p.terminating]
        usage = self.ledger.usage(connected.name)
        options = tuple(PoolOptions(p, types.get(p.node_class, ()), _remaining(p, connected, usage)) for p in pools)
        options, told = overlaid(options, state.overlays)
        return Market(options, classes, (*state.warnings, *warnings, *_missing(state), *told))

    def _classes(
        self, connected: ConnectedCluster, state: ClusterState, now: datetime
    ) -> tuple[dict[str, ResolvedNodeClass], dict[str, tuple[InstanceType, ...]], list[ManifestWarning]]:
        catalogue = self.ledger.catalogue()
        cooling = frozenset((o.instance_type, o.zone, o.capacity_type) for o in self.ledger.unavailable_offerings(now))
        resolved: dict[str, ResolvedNodeClass] = {}
        types: dict[str, tuple[InstanceType, ...]] = {}
        warnings: list[ManifestWarning] = []
        for node_class in _used(state):
            try:
                resolved[node_class.name] = self.resolver.resolve(node_class, connected, catalogue.images)
                types[node_class.name] = _types(resolved[node_class.name], catalogue, cooling)
                warnings += resolved[node_class.name].warnings
            except UnusableNodeClassError as error:
                warnings.append(ManifestWarning(str(node_class), error.path, error.message))
            except (NotFoundError, RefusedError, ValueError) as error:
                warnings.append(ManifestWarning(str(node_class), "spec", str(error)))
        return resolved, types, warnings


def _used(state: ClusterState) -> list[NodeClass]:
    """Classes that a pool names; an unused one may be half written."""
    names = {pool.node_class for pool in state.pools}
    return [c for c in state.node_classes if c.name in names and not c.terminating]


def _missing(state: ClusterState) -> list[ManifestWarning]:
    names = {c.name: c.terminating for c in state.node_classes}
    return [
        ManifestWarning(str(pool), _CLASS_FIELDS[pool.kind], _why_missing(pool, names))
        for pool in state.pools
        if names.get(pool.node_class, True)
    ]


_CLASS_FIELDS: Final = {"NodePool": "spec.template.spec.nodeClassRef.name", "Provisioner": "spec.providerRef.name"}
_CLASS_KINDS: Final = {"NodePool": "EC2NodeClass", "Provisioner": "AWSNodeTemplate"}


def _why_missing(pool: NodePool, names: Mapping[str, bool]) -> str:
    """`names`: class → whether it is being deleted."""
    kind = _CLASS_KINDS[pool.kind]
    if pool.node_class in names:
        return f"{kind} {pool.node_class!r} is being deleted: name another"
    there = ", ".join(sorted(name for name, terminating in names.items() if not terminating)) or "none"
    return f"no {kind} {pool.node_class!r}: create it, or name one there is ({there})"


def _types(
    resolved: ResolvedNodeClass, catalogue: RegionCatalogue, cooling: frozenset[OfferingTriple]
) -> tuple[InstanceType, ...]:
    zone_ids = {zone: subnet.zone_id for zone, subnet in resolved.subnets.items()}
    every = instance_types(
        catalogue.facts,
        resolved.node_class,
        catalogue.zones_by_type,
        price_book(catalogue.prices),
        resolved.zones,
        cooling,
        zone_ids=zone_ids,
    )
    return tuple(t for t in every if resolved.image_for(t))


def price_book(prices: Sequence[Price]) -> PriceBook:
    """The stored prices as the domain reads them."""
    return PriceBook(
        on_demand={p.instance_type: p.nanos for p in prices if p.capacity_type == "on-demand"},
        spot={(p.instance_type, p.zone): p.nanos for p in prices if p.capacity_type == "spot"},
    )


def _remaining(pool: NodePool, connected: ConnectedCluster, usage: Mapping[str, Resources]) -> Limits | None:
    """What the pool may still buy: a limit of the whole cluster is open to each pool, and reserving keeps it."""
    limits = limits_of(pool, connected)
    return tightest(most - usage.get(name, Resources()) for name, most in limits.items())
