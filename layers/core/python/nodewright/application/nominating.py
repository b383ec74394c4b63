"""Tells pods of the nodes that were bought for them; best effort, since without it they find a place all the same."""

from collections.abc import Sequence
from datetime import datetime

from nodewright.application.errors import ConflictError, NotFoundError, RefusedError
from nodewright.application.ports import Cluster, ClusterState, Observer
from nodewright.domain.claims import NodeClaim
from nodewright.domain.nominations import nominations


def nominate(
    name: str, cluster: Cluster, state: ClusterState, claims: Sequence[NodeClaim], observer: Observer, now: datetime
) -> int:
    """How many pods were told, or told otherwise. One that is bound, gone or another by now is left alone."""
    told = 0
    for each in nominations(claims, state.nodes, state.pods, state.namespaces or {}, now):
        try:
            cluster.nominate(each.pod, each.uid, each.node)
        except (ConflictError, NotFoundError):
            continue
        except RefusedError as error:
            observer.problem(name, "nominate", f"{error}; run `nodewright connect {name}` to allow it")
            return told
        told += 1
    return told
