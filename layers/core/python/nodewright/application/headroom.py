"""Noticing that headroom was used up: pods that found it free bind without anybody telling us."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from nodewright.application.ports import ClusterState, Ledger
from nodewright.application.snapshots import snapshot_of, with_headroom
from nodewright.domain.claims import NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.headroom import HEADROOM

#: Since provision's last run: what that couldn't buy, for a limit or a shortage, it is asked for no more often.
EVERY = timedelta(minutes=2)


def lacks_headroom(
    connected: ConnectedCluster, ledger: Ledger, state: ClusterState, claims: Sequence[NodeClaim], now: datetime
) -> bool:
    """Whether nodes that are there or coming have too little room for it, as far as it is time to look."""
    if not (state.buffers or any(HEADROOM in pool.settings for pool in state.pools)):
        return False
    last = ledger.last_run(connected.name, "provision")
    if last is not None and now - last < EVERY:
        return False
    # Planning is loaded only where headroom is kept: a fifth of a cold start otherwise (architecture §13).
    from nodewright.domain.scheduling import AT_ONCE, solve  # noqa: PLC0415

    snapshot = with_headroom(snapshot_of(connected, state, claims, (), now), state)
    return bool(solve(snapshot, AT_ONCE).headroom.left)
