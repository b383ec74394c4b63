"""Starting a retirement that is forced on us: stored first, told after, and told again as often as it is asked."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

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

Holds = Callable[[NodeClaim], bool]
"""Whether a reason still applies to a claim that changed meanwhile."""


class Forced(NamedTuple):
    """What came of a retirement that was asked for."""

    claim: NodeClaim
    """As it is stored now."""
    ours: bool
    """Whether this call began it, or made it more pressing: who did so tells and counts it, and nobody else."""


@dataclass(frozen=True, slots=True)
class RetirementStarts:
    """For any cluster."""

    ledger: NodeLedger
    hints: Hints
    queue: RetireQueue
    clock: Clock

    def begin(
        self,
        cluster: str,
        claim: NodeClaim,
        reason: Reason,
        now: datetime,
        deadline: datetime | None = None,
        holds: Holds = lambda _: True,
    ) -> NodeClaim | None:
        """The claim that leaves from now on, still to be told of and woken; None where it is gone, leaves or may stay.

        Of one that leaves already whoever began it wakes it; reconcile does where that one died before.
        """

        def decide(fresh: NodeClaim) -> NodeClaim | None:
            return begin(fresh, reason, now, deadline=deadline) if holds(fresh) else None

        try:
            stored, ours = self.force(cluster, claim, decide)
        except NotFoundError:
            return None
        return stored if ours else None

    def force(self, cluster: str, claim: NodeClaim, decide: Decide) -> Forced:
        """Begin it, unless that needn't be. NotFoundError: the claim is gone. UnavailableError: not now."""
        for _ in range(TRIES):
            wanted = decide(claim)
            if wanted is None:
                return Forced(claim, ours=False)
            try:
                (stored,) = self.ledger.start_retirements(cluster, [wanted], None)
            except ConflictError:
                claim = self.ledger.claim(cluster, claim.id)
            else:
                return Forced(stored, ours=True)
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
