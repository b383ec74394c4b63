"""What is known of a connected cluster at one moment, for people."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.application.errors import OutsideError
from nodewright.application.limits import limits_of, limits_of_cluster
from nodewright.application.ports import DecisionRecord, Ledger, UnavailableOffering
from nodewright.domain.claims import NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.limits import Limits
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.set_aside import ShapeAside
from nodewright.domain.usage import WHOLE_CLUSTER

ReadPools = Callable[[ConnectedCluster], Sequence[NodePool]]
"""Its pools, from the cluster itself. OutsideError."""

DECISIONS = 10


@dataclass(frozen=True, slots=True)
class Standing:
    """Of one cluster."""

    cluster: ConnectedCluster
    claims: tuple[NodeClaim, ...]
    usage: Mapping[str, Resources]
    """Pool (and `*` for all) → what is in use or reserved."""
    limits: Mapping[str, Limits]
    """Of every pool there is, and of `*`."""
    limits_unknown: str
    """Why those of the pools couldn't be learnt; empty where they could."""
    aside: tuple[ShapeAside, ...]
    """For which nothing is bought now."""
    unavailable: tuple[UnavailableOffering, ...]
    """In its region."""
    decisions: tuple[DecisionRecord, ...]
    """The latest, newest first."""


def standing(ledger: Ledger, name: str, read_pools: ReadPools, now: datetime) -> Standing:
    """Everything but limits is in the table, so a cluster that doesn't answer is shown all the same. NotFoundError."""
    cluster = ledger.cluster(name)
    limits, unknown = _limits(cluster, read_pools)
    return Standing(
        cluster=cluster,
        claims=ledger.claims(name),
        usage=ledger.usage(name),
        limits=limits,
        limits_unknown=unknown,
        aside=tuple(shape for shape in ledger.shapes_aside(name) if shape.is_aside(now)),
        unavailable=ledger.unavailable_offerings(now),
        decisions=ledger.decisions(name, DECISIONS),
    )


def _limits(cluster: ConnectedCluster, read_pools: ReadPools) -> tuple[Mapping[str, Limits], str]:
    limits = {WHOLE_CLUSTER: limits_of_cluster(cluster)}
    try:
        for pool in read_pools(cluster):
            limits |= limits_of(pool, cluster)
    except OutsideError as error:
        return limits, str(error)
    return limits, ""
