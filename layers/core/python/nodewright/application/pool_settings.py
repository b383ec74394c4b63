"""Nodewright's own settings of a pool, read from its cluster when they are needed."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.application.errors import UnreachableError
from nodewright.application.ports import Clock, Clusters, Ledger
from nodewright.application.reaching import reaching


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """Of any connected cluster."""

    ledger: Ledger
    clusters: Clusters
    clock: Clock

    def of(self, cluster: str, pool: str) -> Mapping[str, str]:
        """The pool's `nodewright.dev/…` annotations; none where there is no such pool."""
        connected = self.ledger.cluster(cluster)
        if connected.unreachable(self.clock.now()):
            raise UnreachableError(f"cluster {cluster} doesn't answer")
        with reaching(cluster, self.ledger, self.clock):
            pools = self.clusters.open(connected).node_pools()
        return next((each.settings for each in pools if each.name == pool), {})
