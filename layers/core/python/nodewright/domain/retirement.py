"""A node's way out: a field of its claim, taken one short step at a time (architecture §8).

Every step may be repeated; a run that dies between two of them is followed by one that does the last
again. Until `TERMINATE` a retirement can be withdrawn, and the node serves on.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Literal

from nodewright.domain.taints import Taint

#: What a node on its way out carries: Karpenter's taint, and Kubernetes' label that takes it out of load balancers.
DISRUPTED: Final = Taint("karpenter.sh/disrupted")
EXCLUDED: Final = "node.kubernetes.io/exclude-from-external-load-balancers"

Reason = Literal[
    "empty",
    "expired",
    "spot-interruption",
    "rebalance",
    "scheduled-event",
    "instance-stopped",
    "instance-gone",
    "launch-timeout",
    "registration-timeout",
    "node-deleted",
    "pool-deleted",
]

#: Chosen by us, so under budgets and the plan epoch; every other reason is forced on us.
VOLUNTARY: frozenset[Reason] = frozenset({"empty", "expired"})

#: Minutes are left: short steps, and no pod's wish to stay is heard.
URGENT: frozenset[Reason] = frozenset({"spot-interruption"})

#: Told long ahead: the nodes that are bought for its pods are waited for, as long as the deadline allows.
ANNOUNCED: frozenset[Reason] = frozenset({"scheduled-event"})

#: Nothing runs there any more, or never did: nobody is asked to leave.
DEAD: frozenset[Reason] = frozenset({"instance-stopped", "instance-gone", "launch-timeout", "registration-timeout"})


class Step(StrEnum):
    """In this order; a retirement never goes back."""

    TAINT = "taint"
    """No new pods, and out of load balancers: taint karpenter.sh/disrupted and the exclude label."""
    REPLACE = "replace"
    """Wait for the replacements, as long as the deadline allows."""
    DRAIN = "drain"
    """Evict in waves; 429 is later; by force at deadline less grace."""
    DETACH = "detach"
    """Wait until its volumes are detached."""
    TERMINATE = "terminate"
    """TerminateInstances: no way back from here."""
    FORGET = "forget"
    """Node object, claim, usage."""


@dataclass(frozen=True, slots=True)
class Retirement:
    """Where a claim's retirement stands."""

    epoch: int
    """Counts the claim's retirements; a message of another epoch is stale and dropped."""
    reason: Reason
    started: datetime
    not_before: datetime
    """Nothing is done before: a scheduled event may be days away."""
    next_at: datetime
    """Whose turn comes first moves it on; a message before it is dropped."""
    step: Step = Step.TAINT
    deadline: datetime | None = None
    """When the instance must be ended whatever runs on it; None: drain for as long as it takes."""
    expires: datetime | None = None
    """A voluntary one that hasn't begun to drain by then is withdrawn."""
    replacements: tuple[str, ...] = ()
    """Claims that must be initialized before the drain; of an announced one, besides what is bought for its pods."""
    step_since: datetime | None = None
    """When the current step was reached."""
    attempts: int = 0
    """Turns without progress, for the back-off."""

    @property
    def voluntary(self) -> bool:
        """Whether nobody would mind if it waited."""
        return self.reason in VOLUNTARY

    @property
    def urgent(self) -> bool:
        """Whether its node is going to be taken from us within minutes."""
        return self.reason in URGENT

    @property
    def announced(self) -> bool:
        """Whether there is time to wait for what provision buys for its pods."""
        return self.reason in ANNOUNCED

    def has_begun(self, now: datetime) -> bool:
        """Whether its node counts as leaving; a scheduled one serves on until then."""
        return now >= self.not_before

    @property
    def withdrawable(self) -> bool:
        """Whether the node can still serve on."""
        return self.step not in {Step.TERMINATE, Step.FORGET}
