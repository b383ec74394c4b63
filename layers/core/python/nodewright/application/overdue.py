"""Claims whose node never joined: their instance costs money and serves nobody (karpenter-behaviour §7.5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.application.ports import Observer
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.nodes import Node

REGISTRATION_TIMEOUT = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Overdue:
    """Ends them; reconcile asks at each run."""

    starts: RetirementStarts
    observer: Observer

    def follow(self, cluster: str, claims: Sequence[NodeClaim], nodes: Sequence[Node], now: datetime) -> int:
        """Start a retirement for each; returns how many."""
        return sum(self._end(cluster, claim, now) for claim in _unregistered(claims, nodes, now))

    def _end(self, cluster: str, claim: NodeClaim, now: datetime) -> int:
        stored = self.starts.begin(cluster, claim, "registration-timeout", now, holds=_is_awaited)
        if stored is None:
            return 0
        minutes = int((now - claim.created).total_seconds() // 60)
        self.observer.problem(
            cluster,
            "registration",
            f"{claim.instance_id} ({claim.instance_type}) didn't join within {minutes} min and is ended: look at its"
            f" console output, at EC2NodeClass/{claim.node_class} and at the access entry of its role",
        )
        self.starts.wake(cluster, stored, f"registration-timeout:{claim.id}")
        return 1


def _unregistered(claims: Sequence[NodeClaim], nodes: Sequence[Node], now: datetime) -> Iterator[NodeClaim]:
    joined = {node.instance_id for node in nodes}
    for claim in claims:
        late = now - claim.created >= REGISTRATION_TIMEOUT
        if _is_awaited(claim) and claim.instance_id not in joined and late:
            yield claim


def _is_awaited(claim: NodeClaim) -> bool:
    return claim.state is ClaimState.LAUNCHED
