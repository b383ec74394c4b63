"""Node claims and launches: what we remember of a node from reservation to end."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from nodewright.domain.catalogue import CapacityType
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.retirement import Retirement
from nodewright.domain.taints import Taint


class ClaimState(StrEnum):
    """A claim only moves forward; gone is reachable from any."""

    RESERVED = "reserved"
    LAUNCHED = "launched"
    REGISTERED = "registered"
    INITIALIZED = "initialized"
    GONE = "gone"

    def precedes(self, other: "ClaimState") -> bool:
        """Whether moving from here to `other` is a step forward."""
        order = list(ClaimState)
        return order.index(self) < order.index(other)


@dataclass(frozen=True, slots=True)
class NodeClaim:
    """One node, from reservation to end."""

    id: str
    launch_id: str
    state: ClaimState
    pool: str
    node_class: str
    pool_hash: str
    class_hash: str
    created: datetime
    labels: Mapping[str, str]
    """What its node will carry; complete once the instance, so its type and zone, is known."""
    taints: tuple[Taint, ...]
    startup_taints: tuple[Taint, ...]
    requests: Resources
    nominated_pods: tuple[PodKey, ...]
    instance_type: str = ""
    zone: str = ""
    capacity_type: CapacityType = "on-demand"
    price: int = 0
    """Nanodollars per hour of what came; of the plan before that."""
    capacity: Resources = Resources()
    """Planned capacity and allocatable; count until the node is initialized."""
    allocatable: Resources = Resources()
    instance_id: str = ""
    image_id: str = ""
    node_name: str = ""
    retirement: Retirement | None = None
    """Set while it is on its way out."""
    last_pod_event: datetime | None = None
    """When a pod last came to or left its node; emptiness and consolidation wait from there."""
    version: int = field(default=0)
    """Optimistic lock: the store requires and increments it."""


def is_leaving(claim: NodeClaim, now: datetime) -> bool:
    """Whether nothing may be planned onto its node any more, and what runs there needs another place."""
    return claim.retirement is not None and claim.retirement.has_begun(now)


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """A CreateFleet call that is to happen, is happening or may have happened.

    `request` holds the exact bytes to send: whoever finishes it sends the same, with the launch
    id as ClientToken, so EC2 buys once.
    """

    id: str
    claim_ids: tuple[str, ...]
    request: str
    lease_until: datetime
    """Nobody else may finish it before: its owner may still be running."""
    deadline: datetime
    """After this its claims go to gone."""
