"""What a disrupt run looks at: read once, turned into a situation its methods judge."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from nodewright.application.pool_options import Market
from nodewright.application.ports import ClusterState
from nodewright.application.snapshots import snapshot_of, with_headroom
from nodewright.domain.budgets import census
from nodewright.domain.bystanders import stepping_back
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.disruption.candidates import candidates, objecting
from nodewright.domain.disruption.expectations import expectations
from nodewright.domain.disruption.expiration import end_of
from nodewright.domain.disruption.method import Candidate, Relocation, Situation
from nodewright.domain.disruption.relocation import relocation
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.retiring import begin
from nodewright.domain.rooms import displaced_pods
from nodewright.domain.scheduling import AT_ONCE, Budget, solve
from nodewright.domain.snapshot import Snapshot


@dataclass(slots=True)
class View:
    """One reading of one cluster. What can be bought is asked for only when a node needs a replacement."""

    connected: ConnectedCluster
    epoch: int
    """Read before everything else: what is decided on this view requires it."""
    taken: datetime
    state: ClusterState
    claims: tuple[NodeClaim, ...]
    budgets: tuple[PodDisruptionBudget, ...]
    read_market: Callable[[], Market]
    without_aside: Callable[[Snapshot], Snapshot]
    """Knowing for whom nothing is bought now."""
    late: Callable[[], bool]
    _market: Market | None = field(default=None, init=False)

    @property
    def market(self) -> Market:
        """Read once."""
        if self._market is None:
            self._market = self.read_market()
        return self._market

    def situation(self, tried: Collection[str]) -> Situation:
        """Without nodes whose claims were tried already in this run."""
        state, claims = self.state, self.claims
        expected = self._expected()
        found = [c for c in candidates(claims, state.nodes, state.pools, state.pods) if c.claim.id not in tried]
        return Situation(
            now=self.taken,
            candidates=tuple(self._judged(candidate, expected) for candidate in found),
            relocate=self.relocate,
            pools=census(claims, state.nodes, self.taken),
        )

    def relocate(self, candidate: Candidate) -> Relocation:
        """What provision would plan if its node were leaving already, and every other that has expired."""
        leaving = begin(candidate.claim, "expired", self.taken) or candidate.claim
        claims = tuple(leaving if claim.id == leaving.id else claim for claim in self.claims)
        snapshot = self.without_aside(snapshot_of(self.connected, self.state, claims, self.market.options, self.taken))
        plan = solve(stepping_back(snapshot, self._expired()), Budget(), self.late)
        return relocation(plan, [pod.key for pod in candidate.pods], self._on_the_way())

    def _judged(self, candidate: Candidate, expected: Mapping[str, str]) -> Candidate:
        objections = objecting(candidate.pods, self.budgets, self.taken)
        return replace(candidate, objections=objections, expected=expected.get(candidate.node.name, ""))

    def _expected(self) -> Mapping[str, str]:
        state, schedulers = self.state, self.connected.scheduler_names
        displaced = displaced_pods(state.pods, schedulers, state.nodes, self.claims, self.taken)
        snapshot = with_headroom(snapshot_of(self.connected, state, self.claims, (), self.taken), state)
        return expectations(snapshot, self.claims, state.pools, displaced, lambda some: solve(some, AT_ONCE, self.late))

    def _expired(self) -> frozenset[str]:
        ends = ((claim.node_name, end_of(claim)) for claim in self.claims)
        return frozenset(name for name, end in ends if name and end is not None and end <= self.taken)

    def _on_the_way(self) -> dict[str, str]:
        """Rooms that aren't initialized → their claims, by every name they may go by."""
        starting = {c.id: c.id for c in self.claims if c.state.precedes(ClaimState.INITIALIZED)}
        named = {c.node_name: c.id for c in self.claims if c.id in starting and c.node_name}
        by_instance = {c.instance_id: c.id for c in self.claims if c.id in starting and c.instance_id}
        joined = {n.name: by_instance[n.instance_id] for n in self.state.nodes if n.instance_id in by_instance}
        return {**starting, **named, **joined}
