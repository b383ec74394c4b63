"""Whether disrupt is to look at a cluster: when something changed or is due, and now and then anyway."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from nodewright.application.ports import ClusterState, Hints, Ledger
from nodewright.domain.claims import NodeClaim
from nodewright.domain.disruption import METHODS
from nodewright.domain.disruption.candidates import candidates
from nodewright.domain.disruption.deadlines import deadlines
from nodewright.domain.stale_taints import may_be_at_work, stale_marks

#: A budget's window may have opened, a class or an image changed: nobody tells of it.
LONGEST = timedelta(minutes=10)
#: While a node is due that stayed: what held it, a budget or a pod, may be gone by then.
WAITING = timedelta(minutes=2)


def ask_disrupt(
    cluster: str, ledger: Ledger, hints: Hints, state: ClusterState, claims: Iterable[NodeClaim], now: datetime
) -> bool:
    """Send it a hint if it has something to do; whether it has."""
    known, last = tuple(claims), ledger.last_run(cluster, "disrupt")
    if not known:
        return False
    forgotten = bool(stale_marks(state.nodes, known)) and not may_be_at_work(last, now)
    asked = forgotten or _is_due(last, _moments(state, known), _last_change(known), now)
    if asked:
        hints.send(cluster, "disrupt", now)
    return asked


def _is_due(last: datetime | None, moments: list[datetime], changed: datetime | None, now: datetime) -> bool:
    if last is None or now - last >= LONGEST or (changed is not None and changed > last):
        return True
    over = [moment for moment in moments if moment <= now]
    return any(moment > last for moment in over) or (bool(over) and now - last >= WAITING)


def _moments(state: ClusterState, claims: Iterable[NodeClaim]) -> list[datetime]:
    return list(deadlines(candidates(claims, state.nodes, state.pools, state.pods), METHODS))


def _last_change(claims: Iterable[NodeClaim]) -> datetime | None:
    return max((claim.last_pod_event for claim in claims if claim.last_pod_event is not None), default=None)
