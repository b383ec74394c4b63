"""Noticing that headroom was used up: pods that found it free bind without anybody telling us."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from nodewright.application.buffer_telling import tell_buffers
from nodewright.application.ports import Cluster, ClusterState, Ledger, Observer
from nodewright.application.snapshots import snapshot_of, with_headroom
from nodewright.domain.buffer_status import PROVISIONING, unit_rooms
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.headroom import HEADROOM
from nodewright.domain.plans import Foresight

#: Since provision's last run: what that couldn't buy, for a limit or a shortage, it is asked for no more often.
EVERY = timedelta(minutes=2)


def lacks_headroom(
    connected: ConnectedCluster,
    ledger: Ledger,
    cluster: Cluster,
    observer: Observer,
    state: ClusterState,
    claims: Sequence[NodeClaim],
    now: datetime,
) -> bool:
    """Whether nodes that are there or coming have too little room for it, as far as it is time to look.

    Capacity buffers that have all their room are told; of those that don't provision knows better what becomes of them.
    """
    keeps = bool(state.buffers) or any(HEADROOM in pool.settings for pool in state.pools)
    due = keeps and _is_due(connected, ledger, now)
    seen = _seen(connected, state, claims, now) if due or _is_awaited(state, claims, now) else Foresight()
    rooms = unit_rooms(seen, {node.name for node in state.nodes if node.ready})
    units = {buffer.key: buffer.units for buffer in state.buffers}
    whole = {key: room for key, room in rooms.items() if key in units and room.there >= units[key]}
    tell_buffers(connected.name, cluster, state, whole, observer, now)
    return due and bool(seen.left)


def _is_due(connected: ConnectedCluster, ledger: Ledger, now: datetime) -> bool:
    last = ledger.last_run(connected.name, "provision")
    return last is None or now - last >= EVERY


def _is_awaited(state: ClusterState, claims: Sequence[NodeClaim], now: datetime) -> bool:
    """Whether a node has become ready that a buffer may have waited for."""
    untold = (each for each in state.buffer_readings if each.wanted.replicas and not each.told.says(PROVISIONING))
    return any(untold) and any(_is_young(claim, now) for claim in claims)


def _is_young(claim: NodeClaim, now: datetime) -> bool:
    """Since when it is ready is recorded at the end of the run that found it so."""
    ready = claim.initialized or now
    return claim.state is ClaimState.INITIALIZED and now - ready < EVERY


def _seen(connected: ConnectedCluster, state: ClusterState, claims: Sequence[NodeClaim], now: datetime) -> Foresight:
    # Planning is loaded only where headroom is kept: a fifth of a cold start otherwise (architecture §13).
    from nodewright.domain.scheduling import AT_ONCE, solve  # noqa: PLC0415

    return solve(with_headroom(snapshot_of(connected, state, claims, (), now), state), AT_ONCE).headroom
