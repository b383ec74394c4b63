"""What was read becomes what is decided on: one way for every planner, so that two never differ."""

from collections.abc import Sequence
from datetime import datetime

from nodewright.application.ports import ClusterState
from nodewright.domain.claims import NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.rooms import displaced_pods, pending_pods, rooms
from nodewright.domain.snapshot import PoolOptions, Snapshot


def snapshot_of(
    connected: ConnectedCluster,
    state: ClusterState,
    claims: Sequence[NodeClaim],
    options: tuple[PoolOptions, ...],
    now: datetime,
) -> Snapshot:
    """Pods that wait or have to leave their nodes, rooms for them, and what can be bought."""
    names = {node.name for node in state.nodes}
    schedulers = connected.scheduler_names
    return Snapshot(
        now=now,
        pods=(
            *pending_pods(state.pods, schedulers, claims, names),
            *displaced_pods(state.pods, schedulers, state.nodes, claims, now),
        ),
        rooms=rooms(state.nodes, claims, state.pods, state.daemon_sets, now),
        pools=options,
        daemon_sets=state.daemon_sets,
    )
