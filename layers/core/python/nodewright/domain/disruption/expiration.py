"""Nodes that have lived long enough (architecture §8; cases.md 21).

Karpenter ends them whatever runs there. Here a replacement comes first, and budgets hold them for a while.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from nodewright.domain.budgets import BudgetReason
from nodewright.domain.claims import NodeClaim
from nodewright.domain.disruption.method import Blocked, Candidate, Command, Proposal, Relocation, Situation
from nodewright.domain.occupants import occupants
from nodewright.domain.plans import Unschedulable
from nodewright.domain.retirement import Reason


@dataclass(frozen=True, slots=True)
class Expiration:
    """A node past its `expireAfter`, as it was when the node was launched.

    Without a terminationGracePeriod a drain may take for ever, so none is begun, and nothing tainted, while a pod
    would not leave. With one, nothing holds a node for longer than that: neither pods, once it drains, nor
    budgets and a lack of room, once it is overdue.
    """

    reason: Reason = "expired"
    budget_reason: BudgetReason = "Expired"

    def propose(self, situation: Situation) -> Proposal:
        """The oldest that can go: one at a time, as the next one's pods may want the same places."""
        blocked: list[Blocked] = []
        for candidate in self._expired(situation):
            kept = self._kept(candidate) or self._over_budget(candidate, situation)
            if kept is None:
                relocation = situation.relocate(candidate)
                kept = self._without_room(candidate, relocation, situation.now)
                if kept is None:
                    command = Command(self.reason, (candidate,), relocation, _deadline(candidate, situation.now))
                    return Proposal(command, tuple(blocked))
            blocked.append(kept)
        return Proposal(blocked=tuple(blocked))

    def objection(self, planned: Candidate, now_there: Candidate, now: datetime) -> str:
        """A pod no place was planned for, or that would not leave, keeps it."""
        kept = self._kept(now_there)
        if kept is not None:
            return kept.why
        known = {pod.uid for pod in planned.pods}
        came = [pod for pod in occupants(now_there.pods) if pod.uid not in known]
        return f"{came[0].key} came to it" if came and not _is_overdue(now_there, now) else ""

    def due(self, candidate: Candidate) -> datetime | None:
        """Its end; None for one that may live for ever."""
        return end_of(candidate.claim)

    def _expired(self, situation: Situation) -> Iterator[Candidate]:
        ends = ((self.due(candidate), candidate) for candidate in situation.candidates)
        over = [(end, candidate) for end, candidate in ends if end is not None and end <= situation.now]
        yield from (candidate for _, candidate in sorted(over, key=lambda pair: (pair[0], pair[1].claim.id)))

    def _kept(self, candidate: Candidate) -> Blocked | None:
        """By its pods, where nothing would make them leave in the end."""
        if not candidate.objections or candidate.claim.termination_grace_period is not None:
            return None
        objection = candidate.objections[0]
        return Blocked(candidate, f"expired, blocked by {objection.why}", objection.pod)

    def _over_budget(self, candidate: Candidate, situation: Situation) -> Blocked | None:
        pool = candidate.pool
        if situation.allowed(pool, self.budget_reason) > 0 or _is_overdue(candidate, situation.now):
            return None
        return Blocked(candidate, f"expired, but {pool}: its budgets let no more go now")

    def _without_room(self, candidate: Candidate, relocation: Relocation, now: datetime) -> Blocked | None:
        if not relocation.homeless or _is_overdue(candidate, now):
            return None
        return Blocked(candidate, f"expired, but there is no other place for {_shown(relocation.homeless[0])}")


def end_of(claim: NodeClaim) -> datetime | None:
    """When a node has lived long enough; None: never."""
    return None if claim.expire_after is None else claim.created + claim.expire_after


def _is_overdue(candidate: Candidate, now: datetime) -> bool:
    end, grace = end_of(candidate.claim), candidate.claim.termination_grace_period
    return end is not None and grace is not None and end + grace <= now


def _deadline(candidate: Candidate, now: datetime) -> datetime | None:
    grace = candidate.claim.termination_grace_period
    return None if grace is None else now + grace


def _shown(homeless: Unschedulable) -> str:
    return f"{homeless.pod}: {homeless.message}"
