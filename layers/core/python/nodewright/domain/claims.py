"""Node claims and launches: what we remember of a node from reservation to end."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
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
    counts: Resources = Resources()
    """Towards limits, from its reservation on; less once what came is known (domain/usage.py)."""
    instance_id: str = ""
    image_id: str = ""
    node_name: str = ""
    retirement: Retirement | None = None
    """Set while it is on its way out."""
    expire_after: timedelta | None = None
    """Of its pool when it was reserved, as the next; None: its age alone never ends it."""
    termination_grace_period: timedelta | None = None
    """How long a drain may take before what still runs is made to leave; None: for ever."""
    initialized: datetime | None = None
    """When reconcile first found it so."""
    pods_hash: str = ""
    """Of the pods on its node when reconcile last looked (domain/occupants.py); empty: it hasn't yet."""
    last_pod_event: datetime | None = None
    """When a pod last came to or left its node, at first when it was initialized; emptiness waits from there."""
    expected_pods: tuple[PodKey, ...] = ()
    """Pods it was bought for, too, that their controller had yet to make; they come under other names. For a while
    its node waits for them (domain/expected_pods.py)."""
    headroom: tuple[PodKey, ...] = ()
    """What of it was bought to stay free."""
    version: int = field(default=0)
    """Optimistic lock: the store requires and increments it."""


def is_leaving(claim: NodeClaim, now: datetime) -> bool:
    """Whether nothing may be planned onto its node any more, and what runs there needs another place."""
    return claim.retirement is not None and claim.retirement.has_begun(now)


def advanced(claim: NodeClaim, state: ClaimState) -> NodeClaim:
    """The claim in this state where that is a step forward; word that comes late changes nothing."""
    return replace(claim, state=state) if claim.state.precedes(state) else claim


def withdrawn(claim: NodeClaim) -> NodeClaim:
    """The claim without its retirement. ValueError once its instance is being ended: there is no way back."""
    if claim.retirement is not None and not claim.retirement.withdrawable:
        raise ValueError(f"claim {claim.id} is past withdrawing, its retirement is at step {claim.retirement.step}")
    return replace(claim, retirement=None)


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
