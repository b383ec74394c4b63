"""An observer that remembers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nodewright.application.ports import Duty, FleetAnswer
from nodewright.domain.claims import NodeClaim
from nodewright.domain.plans import Plan
from nodewright.domain.retirement import Reason, Retirement


@dataclass
class RecordingObserver:
    """Every word, by kind, in order."""

    hints: list[tuple[str, Duty]] = field(default_factory=list)
    plans: list[tuple[str, Plan, int]] = field(default_factory=list)
    launches: list[tuple[str, str, FleetAnswer]] = field(default_factory=list)
    registrations: list[tuple[str, str, NodeClaim]] = field(default_factory=list)
    initializations: list[tuple[str, str, NodeClaim]] = field(default_factory=list)
    interruptions: list[tuple[str, NodeClaim, Reason]] = field(default_factory=list)
    retirements: list[tuple[str, NodeClaim, Retirement, str]] = field(default_factory=list)
    disruptions: list[tuple[str, Reason, tuple[NodeClaim, ...], int]] = field(default_factory=list)
    dropped_disruptions: list[tuple[str, Reason, str, str]] = field(default_factory=list)
    blocked_nodes: list[tuple[str, int]] = field(default_factory=list)
    foreign_events: list[tuple[str, str]] = field(default_factory=list)
    brakes: list[tuple[str, str, str]] = field(default_factory=list)
    problems: list[tuple[str, str, str]] = field(default_factory=list)

    def hint_sent(self, cluster: str, duty: Duty) -> None:
        """A webhook call became a hint."""
        self.hints.append((cluster, duty))

    def planned(self, cluster: str, plan: Plan, pods: int) -> None:
        """A plan was made."""
        self.plans.append((cluster, plan, pods))

    def launched(self, cluster: str, pool: str, answer: FleetAnswer) -> None:
        """EC2 answered a launch."""
        self.launches.append((cluster, pool, answer))

    def registered(self, cluster: str, node: str, claim: NodeClaim) -> None:
        """A node of ours joined."""
        self.registrations.append((cluster, node, claim))

    def initialized(self, cluster: str, node: str, claim: NodeClaim) -> None:
        """A node of ours is ready for pods."""
        self.initializations.append((cluster, node, claim))

    def interrupted(self, cluster: str, claim: NodeClaim, reason: Reason) -> None:
        """AWS takes a node of ours."""
        self.interruptions.append((cluster, claim, reason))

    def retiring(self, cluster: str, claim: NodeClaim, retirement: Retirement, note: str) -> None:
        """A node is on its way out."""
        self.retirements.append((cluster, claim, retirement, note))

    def disrupted(self, cluster: str, reason: Reason, claims: Sequence[NodeClaim], replacements: int) -> None:
        """Nodes we chose go."""
        self.disruptions.append((cluster, reason, tuple(claims), replacements))

    def disruption_dropped(self, cluster: str, reason: Reason, nodes: str, why: str) -> None:
        """Nodes we chose stay."""
        self.dropped_disruptions.append((cluster, reason, nodes, why))

    def disruption_blocked(self, cluster: str, nodes: int) -> None:
        """Nodes that are due stay."""
        self.blocked_nodes.append((cluster, nodes))

    def foreign_event(self, event: str, instance_id: str) -> None:
        """AWS told of a stranger."""
        self.foreign_events.append((event, instance_id))

    def braked(self, cluster: str, brake: str, message: str) -> None:
        """Buying was stopped."""
        self.brakes.append((cluster, brake, message))

    def problem(self, cluster: str, what: str, message: str) -> None:
        """Something to be looked at."""
        self.problems.append((cluster, what, message))
