"""Connected clusters."""

from dataclasses import replace
from datetime import datetime

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.items import Item, body, moment, read_body, read_moment
from nodewright.adapters.dynamodb.section import Section
from nodewright.application.errors import ConflictError, NotFoundError
from nodewright.domain.clusters import ConnectedCluster


class Clusters(Section):
    """`CLUSTERS` / name. `unreachable_until` is an attribute of its own: it changes without the rest."""

    def clusters(self) -> tuple[ConnectedCluster, ...]:
        """All, sorted by name. An unreadable one doesn't stop the others."""
        return tuple(self._readable(self._table.query(keys.CLUSTERS), _read))

    def cluster(self, name: str) -> ConnectedCluster:
        """One; NotFoundError."""
        item = self._table.get(keys.cluster(name))
        if item is None:
            raise NotFoundError(f"cluster {name} is not connected: run `nodewright connect {name}`")
        return _read(item)

    def put_cluster(self, cluster: ConnectedCluster) -> None:
        """Add or replace."""
        self._table.put(_write(cluster))

    def remove_cluster(self, name: str) -> None:
        """Forget it; its claims and decisions stay under their own keys."""
        self._table.delete(keys.cluster(name))

    def mark_unreachable(self, name: str, until: datetime | None) -> None:
        """Set or clear unreachableUntil, and nothing else of the cluster."""
        change = "SET unreachable_until = :until" if until else "REMOVE unreachable_until"
        try:
            self._table.update(
                keys.cluster(name), change, "attribute_exists(pk)", {":until": moment(until)} if until else {}
            )
        except ConflictError:
            raise NotFoundError(f"cluster {name} is not connected") from None


#: Fields an older release didn't write.
_DEFAULTS = {"service_cidr": "", "dns_ip": "", "version": ""}


def _write(cluster: ConnectedCluster) -> Item:
    """The body never says unreachable_until: one truth."""
    item: Item = {**keys.cluster(cluster.name), "body": body(replace(cluster, unreachable_until=None))}
    if cluster.unreachable_until:
        item["unreachable_until"] = moment(cluster.unreachable_until)
    return item


def _read(item: Item) -> ConnectedCluster:
    cluster = read_body(item, ConnectedCluster, _DEFAULTS)
    until = read_moment(item, "unreachable_until") if "unreachable_until" in item else None
    return replace(cluster, unreachable_until=until)
