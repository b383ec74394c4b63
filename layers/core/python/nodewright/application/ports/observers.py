"""Whoever looks on."""

from collections.abc import Sequence
from typing import Protocol

from nodewright.application.ports.fleets import FleetAnswer
from nodewright.application.ports.waking import Duty
from nodewright.domain.claims import NodeClaim
from nodewright.domain.plans import Plan
from nodewright.domain.retirement import Reason, Retirement


class Observer(Protocol):
    """Hears what happened; turns it into logs and metrics."""

    def hint_sent(self, cluster: str, duty: Duty) -> None:
        """A webhook call became a hint."""
        ...

    def planned(self, cluster: str, plan: Plan, pods: int) -> None:
        """A plan was made."""
        ...

    def launched(self, cluster: str, pool: str, answer: FleetAnswer) -> None:
        """EC2 answered a launch."""
        ...

    def registered(self, cluster: str, node: str, claim: NodeClaim) -> None:
        """A node of ours joined."""
        ...

    def initialized(self, cluster: str, node: str, claim: NodeClaim) -> None:
        """A node of ours is ready for pods."""
        ...

    def interrupted(self, cluster: str, claim: NodeClaim, reason: Reason) -> None:
        """AWS told that it takes, or took, a node of ours; its claim as it was."""
        ...

    def retiring(self, cluster: str, claim: NodeClaim, retirement: Retirement, note: str) -> None:
        """A node on its way out came to another step, waits, stays after all or is gone."""
        ...

    def disrupted(self, cluster: str, reason: Reason, claims: Sequence[NodeClaim], replacements: int) -> None:
        """Retirements that we chose have begun, of these claims; so many nodes were bought for them."""
        ...

    def disruption_dropped(self, cluster: str, reason: Reason, nodes: str, why: str) -> None:
        """Of these nodes, chosen to go, some or all serve on after all."""
        ...

    def disruption_blocked(self, cluster: str, nodes: int) -> None:
        """So many nodes are due to go and stay; what keeps each is in the decision."""
        ...

    def foreign_event(self, event: str, instance_id: str) -> None:
        """AWS told of an instance that is none of our nodes."""
        ...

    def braked(self, cluster: str, brake: str, message: str) -> None:
        """Buying was stopped where it looked like running away: somebody should look at once."""
        ...

    def problem(self, cluster: str, what: str, message: str) -> None:
        """Something to be looked at: a bad manifest, a refused call."""
        ...
