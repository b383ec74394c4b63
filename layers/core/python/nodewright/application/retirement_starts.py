"""Starting a retirement that is forced on us: stored first, told after, and told again as often as it is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.application.errors import ConflictError, NotFoundError, OutsideError, UnavailableError
from nodewright.application.ports import Clock, Hints
from nodewright.application.retirement_ports import NodeLedger, RetireQueue
from nodewright.domain.claims import NodeClaim
from nodewright.domain.retirement import Reason
from nodewright.domain.retiring import LONGEST_DELAY, begin

#: A registration or another event may change the claim in between; not often in a row.
TRIES = 5

Decide = Callable[[NodeClaim], NodeClaim | None]
"""The claim with the retirement it is to have; None when it has what it needs."""


@dataclass(frozen=True, slots=True)
class RetirementStarts:
    """For any cluster."""

    ledger: NodeLedger
    hints: Hints
    queue: RetireQueue
    clock: Clock

    def begin(
        self, cluster: str, claim: NodeClaim, reason: Reason, now: datetime, deadline: datetime | None = None
    ) -> NodeClaim | None:
        """The claim that leaves from now on, still to be woken; None where it is gone, or was leaving already."""
        try:
            stored = self.force(cluster, claim, lambda fresh: begin(fresh, reason, now, deadline=deadline))
        except NotFoundError:
            return None
        return None if stored is claim else stored

    def force(self, cluster: str, claim: NodeClaim, decide: Decide) -> NodeClaim:
        """The claim as it is stored afterwards. NotFoundError: it is gone. UnavailableError: not now."""
        for _ in range(TRIES):
            wanted = decide(claim)
            if wanted is None:
                return claim
            try:
                (stored,) = self.ledger.start_retirements(cluster, [wanted], None)
            except ConflictError:
                claim = self.ledger.claim(cluster, claim.id)
            else:
                return stored
        raise UnavailableError(f"claim {claim.id}: somebody else changed it each time")

    def wake(self, cluster: str, claim: NodeClaim, cause: str) -> None:
        """Ask at once for its first turn, and for places for its pods. Doubled by a second call it does no harm.

        One that can't be asked for doesn't keep the other from being: minutes may be all that is left.

        `cause` names what it is done for, an event for instance: one cause is one hint. One that begins later
        than a message can wait is left to reconcile, which finds it when it is due.
        """
        retirement, now = claim.retirement, self.clock.now()
        if retirement is None:
            return
        trouble: OutsideError | None = None
        wait = max(retirement.next_at - now, timedelta())
        if wait <= LONGEST_DELAY:
            try:
                self.queue.send(cluster, claim.id, retirement.epoch, wait)
            except OutsideError as error:
                trouble = error
        if retirement.has_begun(now):
            self.hints.send(cluster, "provision", now, dedup=cause, urgent=True)
        if trouble is not None:
            raise trouble
