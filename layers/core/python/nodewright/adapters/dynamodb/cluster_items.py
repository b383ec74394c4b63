"""A connected cluster as an item; apart from the table's operations, of which notify needs none."""

from dataclasses import replace

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.items import Item, body, moment, read_body, read_moment
from nodewright.application.errors import NotFoundError
from nodewright.domain.clusters import ConnectedCluster

#: Fields an older release didn't write.
_DEFAULTS = {"service_cidr": "", "dns_ip": "", "version": ""}


def write_cluster(cluster: ConnectedCluster) -> Item:
    """The body never says unreachable_until: one truth."""
    item: Item = {**keys.cluster(cluster.name), "body": body(replace(cluster, unreachable_until=None))}
    if cluster.unreachable_until:
        item["unreachable_until"] = moment(cluster.unreachable_until)
    return item


def read_cluster(item: Item) -> ConnectedCluster:
    """What write_cluster wrote, by this or another release."""
    cluster = read_body(item, ConnectedCluster, _DEFAULTS)
    until = read_moment(item, "unreachable_until") if "unreachable_until" in item else None
    return replace(cluster, unreachable_until=until)


def found_cluster(name: str, item: Item | None) -> ConnectedCluster:
    """What there is under a cluster's key; NotFoundError."""
    if item is None:
        raise NotFoundError(f"cluster {name} is not connected: run `nodewright connect {name}`")
    return read_cluster(item)
