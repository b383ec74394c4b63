"""What was read becomes what is decided on: one way for every planner, so that two never differ."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from nodewright.application.ports import ClusterState
from nodewright.domain.attach_limits import attach_limits
from nodewright.domain.bystanders import bystanders
from nodewright.domain.claims import NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.daemon_sets import with_live_requests
from nodewright.domain.headroom import headroom
from nodewright.domain.pods import Pod
from nodewright.domain.rooms import displaced_pods, pending_pods, rooms
from nodewright.domain.snapshot import PoolOptions, Snapshot
from nodewright.domain.unknown_namespaces import without_namespaces
from nodewright.domain.volumes import attached, free_volumes, with_volumes


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
    pods = _pods(state)
    displaced = displaced_pods(pods, schedulers, state.nodes, claims, now)
    daemon_sets = with_live_requests(state.daemon_sets, pods)
    free = free_volumes(state.pods, state.storage)
    limits = attach_limits(state.storage.attachable, claims, options, free, attached(state.storage))
    taking = rooms(state.nodes, claims, pods, daemon_sets, now, limits)
    return Snapshot(
        now=now,
        pods=(*pending_pods(pods, schedulers, claims, names), *displaced),
        rooms=taking,
        pools=options,
        daemon_sets=daemon_sets,
        bystanders=bystanders(state.nodes, taking, pods, {pod.key for pod in displaced}),
        namespaces=state.namespaces or {},
    )


def with_headroom(snapshot: Snapshot, state: ClusterState) -> Snapshot:
    """The snapshot with what is to stay free, for pools and by capacity buffers."""
    units = headroom(state.pools, state.buffers, state.nodes, state.pods, snapshot.now)
    return replace(snapshot, headroom=with_volumes(units, state.storage))


def _pods(state: ClusterState) -> tuple[Pod, ...]:
    """With what their volumes and namespaces mean for them."""
    pods = with_volumes(state.pods, state.storage)
    return without_namespaces(pods) if state.namespaces is None else pods
