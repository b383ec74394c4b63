"""A Node that somebody deletes by hand takes its instance along, drained in good order (karpenter-behaviour §8.9)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.application.errors import ConflictError
from nodewright.application.retirements import Retirements
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.pools import NodePool
from nodewright.domain.retiring import begin

_JOINED = frozenset({ClaimState.REGISTERED, ClaimState.INITIALIZED})


@dataclass(frozen=True, slots=True)
class NodeDeletions:
    """Follows them up; reconcile asks at each run."""

    retirements: Retirements

    def follow(
        self,
        cluster: str,
        claims: Sequence[NodeClaim],
        nodes: Sequence[Node],
        pools: Sequence[NodePool],
        now: datetime,
    ) -> int:
        """Start a retirement for each claim whose Node is being deleted, or is gone; returns how many.

        The claims must have been read before the nodes: a node that joined in between would else be missed.
        """
        grace = {pool.name: pool.termination_grace_period for pool in pools}
        started = 0
        for claim in _deleted(claims, {node.instance_id: node for node in nodes if node.instance_id}):
            allowed = grace.get(claim.pool)
            retiring = begin(claim, "node-deleted", now, deadline=now + allowed if allowed is not None else None)
            if retiring is not None:
                started += self._start(cluster, retiring, now)
        return started

    def _start(self, cluster: str, claim: NodeClaim, now: datetime) -> int:
        try:
            return len(self.retirements.start(cluster, (claim,), now))
        except ConflictError:  # the next run finds it as it is then
            return 0


def _deleted(claims: Sequence[NodeClaim], nodes: Mapping[str, Node]) -> Iterator[NodeClaim]:
    for claim in claims:
        node = nodes.get(claim.instance_id)
        if node.terminating if node else claim.state in _JOINED:
            yield claim
