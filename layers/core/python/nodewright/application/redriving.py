"""Sending retirements on whose message got lost; reconcile asks at each run (architecture §2)."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from nodewright.application.retirement_ports import RetireQueue
from nodewright.domain.claims import NodeClaim

#: A turn that is due is given so long to come by its own message.
OVERDUE_AFTER = timedelta(seconds=10)


def redrive(queue: RetireQueue, cluster: str, claims: Iterable[NodeClaim], now: datetime) -> int:
    """One message for each turn that is overdue; returns how many.

    A message too many does no harm: only one of them gets the turn.
    """
    overdue = 0
    for claim in claims:
        retirement = claim.retirement
        if retirement is not None and retirement.next_at + OVERDUE_AFTER <= now:
            queue.send(cluster, claim.id, retirement.epoch, timedelta())
            overdue += 1
    return overdue
