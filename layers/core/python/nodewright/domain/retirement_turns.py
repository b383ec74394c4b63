"""What a turn of a retirement looks at, and what may come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.pods import Pod
from nodewright.domain.retirement import Retirement


@dataclass(frozen=True, slots=True)
class View:
    """What one turn looks at; what its step doesn't ask for stays empty."""

    claim: NodeClaim
    retirement: Retirement
    node: Node | None = None
    pods: tuple[Pod, ...] = ()
    """On the node."""
    budgets: tuple[PodDisruptionBudget, ...] = ()
    volumes: tuple[str, ...] = ()
    """Attached to the node."""
    replacements: Mapping[str, ClaimState] = field(default_factory=dict)
    """Those that are not gone: the retirement's own, and of an announced one what was bought for pods of its node."""
    instance: str | None = None
    """EC2's state of it; None: EC2 doesn't find it, or wasn't asked."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Taint the node, and take it out of load balancers."""


@dataclass(frozen=True, slots=True)
class Unmark:
    """Undo it."""


@dataclass(frozen=True, slots=True)
class Evict:
    """Ask the eviction API."""

    pod: Pod


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a pod whatever a budget says."""

    pod: Pod
    grace_seconds: int


@dataclass(frozen=True, slots=True)
class Terminate:
    """End the instance."""


@dataclass(frozen=True, slots=True)
class DeleteNode:
    """Delete the Node object."""


Action = Mark | Unmark | Evict | Delete | Terminate | DeleteNode


@dataclass(frozen=True, slots=True)
class Turn:
    """What to do, in order, and what to store after it. `next_at ≤ now` says: go on at once."""

    retirement: Retirement | None
    """None: withdrawn, the node serves on."""
    actions: tuple[Action, ...] = ()
    note: str = ""
    """Why it waits or is withdrawn."""
    moved: Retirement | None = None
    """To be stored instead when an eviction was granted."""
    gone: bool = False
    """That was the last of it: the claim is gone."""
