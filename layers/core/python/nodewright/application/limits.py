"""What must be stayed within when buying for a pool, and the refusal of what wouldn't."""

from collections.abc import Mapping

from nodewright.application.errors import RefusedError
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.limits import LAUNCHES, PRICE, Limits, shown
from nodewright.domain.pools import NodePool
from nodewright.domain.usage import WHOLE_CLUSTER


def limits_of(pool: NodePool, cluster: ConnectedCluster) -> Mapping[str, Limits]:
    """By pool, and `*` for the whole cluster, as usage is kept."""
    return {pool.name: Limits(pool.limits or {}), WHOLE_CLUSTER: limits_of_cluster(cluster)}


def limits_of_cluster(cluster: ConnectedCluster) -> Limits:
    """Of all its nodes together."""
    usd = cluster.limit_usd_per_hour
    return Limits({} if usd is None else {PRICE: usd})


class LimitReachedError(RefusedError):
    """A reservation would pass a limit; nothing of it was stored."""

    def __init__(self, pool: str, resource: str, limit: int, in_use: int, wanted: int) -> None:
        self.pool = pool
        """`*` for the whole cluster."""
        self.resource = resource
        self.limit = limit
        self.in_use = in_use
        self.wanted = wanted
        whose = "the cluster" if pool == WHOLE_CLUSTER else f"pool {pool}"
        super().__init__(
            f"{whose} has a limit of {shown(resource, limit)}: with {shown(resource, in_use)} in use or reserved"
            f" there is no room for {shown(resource, wanted)} more; {_remedy(pool, resource)}"
        )


def _remedy(pool: str, resource: str) -> str:
    if resource == LAUNCHES:
        return "if so many are meant, raise it by `nodewright connect --launches-per-hour`"
    if pool == WHOLE_CLUSTER:
        return "raise it by `nodewright connect --limit-usd-per-hour`"
    return "raise its annotation nodewright.dev/limit-usd-per-hour" if resource == PRICE else "raise its limits"
