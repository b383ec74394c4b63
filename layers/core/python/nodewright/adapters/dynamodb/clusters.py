"""Connected clusters."""

from datetime import datetime

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.cluster_items import found_cluster, read_cluster, write_cluster
from nodewright.adapters.dynamodb.items import moment
from nodewright.adapters.dynamodb.section import Section
from nodewright.application.errors import ConflictError, NotFoundError
from nodewright.domain.clusters import ConnectedCluster


class Clusters(Section):
    """`CLUSTERS` / name. `unreachable_until` is an attribute of its own: it changes without the rest."""

    def clusters(self) -> tuple[ConnectedCluster, ...]:
        """All, sorted by name. An unreadable one doesn't stop the others."""
        return tuple(self._readable(self._table.query(keys.CLUSTERS), read_cluster))

    def cluster(self, name: str) -> ConnectedCluster:
        """One; NotFoundError."""
        return found_cluster(name, self._table.get(keys.cluster(name)))

    def put_cluster(self, cluster: ConnectedCluster) -> None:
        """Add or replace."""
        self._table.put(write_cluster(cluster))

    def remove_cluster(self, name: str) -> None:
        """Forget it; its claims and decisions stay under their own keys."""
        self._table.delete(keys.cluster(name))

    def mark_unreachable(self, name: str, until: datetime | None) -> None:
        """Set or clear unreachableUntil, and nothing else of the cluster."""
        key, condition = keys.cluster(name), "attribute_exists(pk)"
        try:
            if until:
                self._table.update(key, condition, {":until": moment(until)}, sets="unreachable_until = :until")
            else:
                self._table.update(key, condition, {}, rest="REMOVE unreachable_until")
        except ConflictError:
            raise NotFoundError(f"cluster {name} is not connected") from None
