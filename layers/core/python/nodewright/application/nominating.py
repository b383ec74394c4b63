"""Tells pods of the nodes that were bought for them; best effort, since without it they find a place all the same."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import TypeAlias

from nodewright.application.errors import ConflictError, NotFoundError, OutsideError, RefusedError
from nodewright.application.ports import Cluster, ClusterState, Observer
from nodewright.domain.claims import NodeClaim
from nodewright.domain.nominations import Nominate, nominations

Each: TypeAlias = Callable[[Callable[[Nominate], bool], Iterable[Nominate]], Iterable[bool]]
"""Does something with each, one after the other as `map` does, or several at a time."""


def nominate(
    name: str,
    cluster: Cluster,
    state: ClusterState,
    claims: Sequence[NodeClaim],
    observer: Observer,
    now: datetime,
    each: Each = map,
) -> int:
    """How many pods were told, or told otherwise. One that is bound, gone or another by now is left alone."""
    wanted = nominations(claims, state.nodes, state.pods, state.namespaces or {}, now)
    tell = partial(_told, cluster)
    try:
        # The first by itself: a role that may not is refused once, not by every pod.
        return sum(map(tell, wanted[:1])) + sum(each(tell, wanted[1:]))
    except OutsideError as error:
        # It comes first in a run: nodes have to be registered whether pods can be told or not.
        fix = f"; run `nodewright connect {name}` to allow it" if isinstance(error, RefusedError) else ""
        observer.problem(name, "nominate", f"{error}{fix}")
        return 0


def _told(cluster: Cluster, wanted: Nominate) -> bool:
    try:
        cluster.nominate(wanted.pod, wanted.uid, wanted.node)
    except (ConflictError, NotFoundError):
        return False
    return True
