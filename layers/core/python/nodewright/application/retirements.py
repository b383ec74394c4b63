"""Starting retirements, and sending those on whose message got lost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.application.retirement_ports import RetireQueue, RetiringLedger
from nodewright.domain.claims import NodeClaim
from nodewright.domain.retiring import LONGEST_DELAY

#: A turn that is due is given so long to come by its own message.
OVERDUE_AFTER = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Retirements:
    """Of all clusters."""

    ledger: RetiringLedger
    queue: RetireQueue

    def start(
        self, cluster: str, claims: Sequence[NodeClaim], now: datetime, *, epoch: int | None = None
    ) -> tuple[NodeClaim, ...]:
        """Store claims that `retiring.begin` made, and wake retire for each.

        Voluntary ones need the plan epoch they were decided under. ConflictError: a claim changed, or another
        planner was first; nothing was stored. UnavailableError: what was stored is redriven within a minute.
        """
        started = self.ledger.start_retirements(cluster, claims, epoch)
        for claim in started:
            self._send(cluster, claim, now)
        return started

    def redrive(self, cluster: str, claims: Iterable[NodeClaim], now: datetime) -> int:
        """One message for each turn that is overdue; returns how many.

        A message too many does no harm: only one of them gets the turn.
        """
        overdue = [each for each in claims if each.retirement and each.retirement.next_at + OVERDUE_AFTER <= now]
        for claim in overdue:
            self._send(cluster, claim, now)
        return len(overdue)

    def _send(self, cluster: str, claim: NodeClaim, now: datetime) -> None:
        if claim.retirement is not None:
            delay = min(max(claim.retirement.next_at - now, timedelta()), LONGEST_DELAY)
            self.queue.send(cluster, claim.id, claim.retirement.epoch, delay)
