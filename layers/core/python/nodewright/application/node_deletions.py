"""A Node that somebody deletes by hand takes its instance along, drained in good order (karpenter-behaviour §8.9)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.application.errors import OutsideError
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.nodes import Node

_JOINED = frozenset({ClaimState.REGISTERED, ClaimState.INITIALIZED})


@dataclass(frozen=True, slots=True)
class NodeDeletions:
    """Follows them up; reconcile asks at each run."""

    starts: RetirementStarts

    def follow(self, cluster: str, claims: Sequence[NodeClaim], nodes: Sequence[Node], now: datetime) -> int:
        """Start a retirement for each claim whose Node is being deleted, or is gone; returns how many.

        The claims must have been read before the nodes: one that registered in between would else look deleted.
        One claim's trouble stops no other; the first is raised afterwards.
        """
        started, trouble = 0, list[OutsideError]()
        for claim in _deleted(claims, {node.instance_id: node for node in nodes if node.instance_id}):
            try:
                started += self._start(cluster, claim, now)
            except OutsideError as error:
                trouble.append(error)
        if trouble:
            raise trouble[0]
        return started

    def _start(self, cluster: str, claim: NodeClaim, now: datetime) -> int:
        grace = claim.termination_grace_period
        deadline = None if grace is None else now + grace
        stored = self.starts.begin(cluster, claim, "node-deleted", now, deadline)
        if stored is None:
            return 0
        self.starts.wake(cluster, stored, f"node-deleted:{claim.id}")
        return 1


def _deleted(claims: Sequence[NodeClaim], nodes: Mapping[str, Node]) -> Iterator[NodeClaim]:
    for claim in claims:
        node = nodes.get(claim.instance_id)
        if node.terminating if node else claim.state in _JOINED:
            yield claim
