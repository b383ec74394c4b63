"""Whether disrupt is to look at a cluster: when something changed or is due, and now and then anyway."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from nodewright.application.ports import ClusterState, Hints, Ledger
from nodewright.domain.claims import NodeClaim
from nodewright.domain.disruption import METHODS
from nodewright.domain.disruption.candidates import candidates
from nodewright.domain.disruption.deadlines import deadlines, next_deadline

#: A budget's window may have opened, a class or an image changed: nobody tells of it.
LONGEST = timedelta(minutes=10)
#: While a node is due that stayed, for a budget or a pod held it: each minute at first, when the nodes before it
#: are just going, and less and less often the longer nothing comes of it.
SHORTEST = timedelta(minutes=1)
LOOKS_PER_DOUBLING = 8


def ask_disrupt(
    cluster: str, ledger: Ledger, hints: Hints, state: ClusterState, claims: Sequence[NodeClaim], now: datetime
) -> bool:
    """Send it a hint if it has something to do; whether it has."""
    asked = bool(claims) and is_due(state, claims, ledger.last_run(cluster, "disrupt"), now)
    if asked:
        hints.send(cluster, "disrupt", now)
    return asked


def is_due(state: ClusterState, claims: Sequence[NodeClaim], last: datetime | None, now: datetime) -> bool:
    """Whether a look now may find what the last one didn't; `last`: when that was taken."""
    if last is None or now - last >= LONGEST or any(c.last_pod_event and c.last_pod_event > last for c in claims):
        return True
    found = candidates(claims, state.nodes, state.pools, state.pods)
    due = next_deadline(found, METHODS, last)
    if due is not None and due <= now:
        return True
    over = max((moment for moment in deadlines(found, METHODS) if moment <= now), default=None)
    return over is not None and now - last >= max(SHORTEST, (now - over) / LOOKS_PER_DOUBLING)
