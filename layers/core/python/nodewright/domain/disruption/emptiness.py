"""Nodes that nobody needs any more (karpenter-behaviour §8.4, §8.5; cases.md 33)."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from nodewright.domain.budgets import BudgetReason
from nodewright.domain.disruption.method import Blocked, Candidate, Command, Proposal, Situation
from nodewright.domain.occupants import occupants
from nodewright.domain.retirement import Reason

#: Nodes that go together: each is tainted and listed before any retires.
TOGETHER: Final = 40


@dataclass(frozen=True, slots=True)
class Emptiness:
    """Whatever the consolidation policy: both kinds remove empty nodes, `consolidateAfter: Never` none."""

    reason: Reason = "empty"
    budget_reason: BudgetReason = "Empty"

    def propose(self, situation: Situation) -> Proposal:
        """All that are due, the longest empty first, as far as their pools' budgets go."""
        left: defaultdict[str, int] = defaultdict(int)
        going: list[Candidate] = []
        blocked: list[Blocked] = []
        for candidate in self._due(situation):
            pool = candidate.pool
            if pool.name not in left:
                left[pool.name] = situation.allowed(pool, self.budget_reason)
            if candidate.objections:
                objection = candidate.objections[0]
                blocked.append(Blocked(candidate, f"empty, blocked by {objection.why}", objection.pod))
            elif not left[pool.name]:
                blocked.append(Blocked(candidate, f"empty, but {pool}: its budgets let no more go now"))
            elif len(going) < TOGETHER:
                left[pool.name] -= 1
                going.append(candidate)
        return Proposal(Command(self.reason, tuple(going)) if going else None, tuple(blocked))

    def objection(self, planned: Candidate, now_there: Candidate, now: datetime) -> str:  # noqa: ARG002
        """A pod that came before the taint did keeps it."""
        came = occupants(now_there.pods)
        if came:
            return f"{came[0].key} came to it"
        return now_there.objections[0].why if now_there.objections else ""

    def due(self, candidate: Candidate) -> datetime | None:
        """When it has been empty for as long as its pool wants; None for one that isn't, or that waits for pods."""
        after, since = candidate.pool.consolidate_after, candidate.claim.last_pod_event
        if after is None or since is None or occupants(candidate.pods) or candidate.expected:
            return None
        return since + after

    def _due(self, situation: Situation) -> Iterator[Candidate]:
        moments = ((self.due(candidate), candidate) for candidate in situation.candidates)
        due = [(moment, each) for moment, each in moments if moment is not None and moment <= situation.now]
        yield from (candidate for _, candidate in sorted(due, key=lambda pair: (pair[0], pair[1].claim.id)))
