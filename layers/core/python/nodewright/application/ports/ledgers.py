"""The table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from nodewright.application.ports.catalogues import RegionCatalogue, UnavailableOffering
from nodewright.application.ports.waking import Duty
from nodewright.domain.claims import LaunchRecord, NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.limits import Limits
from nodewright.domain.quantities import Resources
from nodewright.domain.set_aside import ShapeAside
from nodewright.domain.usage import NO_LIMITS


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """What was decided and why; kept 7 days."""

    id: str
    time: datetime
    kind: str
    """provision, launch, register …"""
    summary: str
    details: Mapping[str, object]


class Ledger(Protocol):
    """The table: everything that must be remembered (architecture §4)."""

    def clusters(self) -> tuple[ConnectedCluster, ...]:
        """All connected clusters."""
        ...

    def cluster(self, name: str) -> ConnectedCluster:
        """One; NotFoundError."""
        ...

    def put_cluster(self, cluster: ConnectedCluster) -> None:
        """Add or replace."""
        ...

    def remove_cluster(self, name: str) -> None:
        """Forget it."""
        ...

    def mark_unreachable(self, name: str, until: datetime | None) -> None:
        """Set or clear unreachableUntil."""
        ...

    def epoch(self, cluster: str) -> int:
        """The plan epoch, read consistently; 0 before the first plan."""
        ...

    def reserve(
        self,
        cluster: str,
        epoch: int,
        launch: LaunchRecord,
        claims: Sequence[NodeClaim],
        limits: Mapping[str, Limits] = NO_LIMITS,
    ) -> None:
        """Store claims and their launch in one transaction that requires and increments the epoch.

        It adds what the claims count to the usage of their pool and of the cluster, within `limits` by pool
        (and `*`); LAUNCHES among those of `*` counts and bounds the launches of the hour the claims were made in.
        ConflictError when another planner was first, else LimitReachedError; nothing is stored then.
        At most 96 claims.
        """
        ...

    def usage(self, cluster: str) -> Mapping[str, Resources]:
        """Pool (and `*`) → capacity, nodes and price in use or reserved; read consistently."""
        ...

    def set_usage(self, cluster: str, epoch: int, usage: Mapping[str, Resources]) -> None:
        """Replace what was counted by what was recomputed from claims read under this epoch.

        It requires and increments the epoch: ConflictError when something was reserved since. What was given
        back meanwhile may be counted once more until the next time; nothing is ever counted too little.
        """
        ...

    def claims(self, cluster: str) -> tuple[NodeClaim, ...]:
        """All claims that are not gone, sorted by id."""
        ...

    def claim(self, cluster: str, claim_id: str) -> NodeClaim:
        """One, read consistently; NotFoundError when it is gone."""
        ...

    def save_claim(self, cluster: str, claim: NodeClaim) -> NodeClaim:
        """Replace it where the stored version equals the claim's; returned with its new version.

        ConflictError when it changed meanwhile. One that is gone is removed, and gives back what it counts.
        """
        ...

    def settle_launch(self, cluster: str, launch_id: str, claims: Sequence[NodeClaim]) -> bool:
        """Store what the launch brought, in one transaction: claims with instances (each with an OWNER
        item that must not exist), claims without go to gone; the LAUNCH item is deleted. What was reserved
        and didn't come is given back, once for each claim however often this is repeated.

        Whether this call ended the launch: of many that settle the same, one. It tells and counts all of it, with
        what another stored that died half-way.
        """
        ...

    def hand_back_launch(self, cluster: str, launch_id: str, now: datetime) -> None:
        """End its lease: its owner stops working on it, any run may finish it. Nothing if it is settled."""
        ...

    def launches(self, cluster: str) -> tuple[LaunchRecord, ...]:
        """Launches not settled yet."""
        ...

    def owner(self, instance_id: str) -> tuple[str, str] | None:
        """(cluster, claim id) of an instance."""
        ...

    def shapes_aside(self, cluster: str) -> tuple[ShapeAside, ...]:
        """Shapes nodes were lately bought for in vain, sorted by key; read consistently."""
        ...

    def save_shape_aside(self, cluster: str, shape: ShapeAside) -> ShapeAside:
        """Add or replace it where the stored version, 0 for none, equals its own; returned with its new version.

        ConflictError when it changed meanwhile. Kept for a day after it changed last.
        """
        ...

    def unavailable_offerings(self, now: datetime) -> tuple[UnavailableOffering, ...]:
        """Those still cooling down."""
        ...

    def mark_unavailable(self, offerings: Sequence[UnavailableOffering]) -> None:
        """Remember them until their time."""
        ...

    def catalogue(self) -> RegionCatalogue:
        """NotFoundError before the first refresh."""
        ...

    def put_catalogue_part(self, part: str, content: object, now: datetime) -> None:
        """Replace one part: types, offerings, prices (on-demand), spot or images; content as in RegionCatalogue."""
        ...

    def record_decision(self, cluster: str, decision: DecisionRecord) -> None:
        """Keep it; best effort."""
        ...

    def decisions(self, cluster: str, limit: int) -> tuple[DecisionRecord, ...]:
        """Newest first."""
        ...

    def last_run(self, cluster: str, duty: Duty) -> datetime | None:
        """When the duty's last snapshot was taken."""
        ...

    def set_last_run(self, cluster: str, duty: Duty, snapshot: datetime) -> None:
        """Remember it; hints older than this are acknowledged unread."""
        ...
