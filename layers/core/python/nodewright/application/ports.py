"""What the use cases need from outside, each need a small protocol.

Adapters implement them (architecture §9); `adapters/memory.py` implements all of them in memory.
Every call may raise UnavailableError, RefusedError, NotFoundError (errors.py) and nothing foreign.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, Protocol

from nodewright.domain.catalogue import CapacityType
from nodewright.domain.claims import LaunchRecord, NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.instance_facts import InstanceFacts
from nodewright.domain.limits import Limits
from nodewright.domain.nodeclasses import NodeClass, SelectorTerm
from nodewright.domain.nodes import Node
from nodewright.domain.overlays import NodeOverlay
from nodewright.domain.plans import Plan
from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.retirement import Reason, Retirement
from nodewright.domain.set_aside import ShapeAside
from nodewright.domain.taints import Taint
from nodewright.domain.topology import Namespaces
from nodewright.domain.usage import NO_LIMITS
from nodewright.domain.volumes import NO_STORAGE, Storage

Duty = Literal["provision", "reconcile", "disrupt"]


class Clock(Protocol):
    """Time, where a use case must wait within one run."""

    def now(self) -> datetime:
        """The moment, aware, UTC."""
        ...

    def sleep(self, duration: timedelta) -> None:
        """Wait."""
        ...


class Hints(Protocol):
    """The FIFO hint queues."""

    def send(self, cluster: str, duty: Duty, now: datetime, *, dedup: str = "", urgent: bool = False) -> None:
        """Wake `duty` for `cluster`; a throttle counts as sent (architecture §2).

        Coalesced per (cluster, duty, second), or per `dedup` where given. An urgent one waits for no burst.
        """
        ...


# ---- Kubernetes -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ManifestWarning:
    """Something in a manifest we can't honour, with the field's path and the fix."""

    object: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class ClusterState:
    """One consistent-enough reading of a cluster."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    """All that are not terminal, bound or not."""
    pools: tuple[NodePool, ...]
    node_classes: tuple[NodeClass, ...]
    daemon_sets: tuple[DaemonSet, ...]
    warnings: tuple[ManifestWarning, ...] = ()
    overlays: tuple[NodeOverlay, ...] = ()
    storage: Storage = NO_STORAGE
    namespaces: Namespaces | None = field(default_factory=dict)
    """None where they may not be listed."""


class Cluster(Protocol):
    """One Kubernetes cluster."""

    def read(self) -> ClusterState:
        """Nodes, pods, pools, classes, DaemonSets, volumes and namespaces."""
        ...

    def node_pools(self) -> tuple[NodePool, ...]:
        """The pools alone: cheap, whatever the size of the cluster."""
        ...

    def pending_pods(self) -> tuple[Pod, ...]:
        """Unbound pods only (field selector spec.nodeName=): cheap enough to ask twice in a second."""
        ...

    def register_node(self, name: str, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> None:
        """Patch labels, take taints off and put our finalizer on (unless it is being deleted already), in one
        write guarded by the node's resourceVersion.
        """
        ...

    def nominate(self, pod: PodKey, uid: str, node: str) -> None:
        """Set `status.nominatedNodeName` of this very pod, or take it away: an empty node.

        ConflictError when it is another by now.
        """
        ...

    def record_event(self, pod: PodKey, uid: str, reason: str, message: str, now: datetime) -> None:
        """A Kubernetes event on a pod, from controller `nodewright.dev/provisioner`; repeats are merged."""
        ...


class Clusters(Protocol):
    """Opens connected clusters."""

    def open(self, cluster: ConnectedCluster) -> Cluster:
        """A client for it, kept warm; no call is made yet."""
        ...


# ---- AWS --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet a node may be born in."""

    id: str
    zone: str
    zone_id: str
    free_addresses: int


@dataclass(frozen=True, slots=True)
class Image:
    """A machine image."""

    id: str
    arch: Literal["amd64", "arm64"]
    name: str = ""
    created: str = ""


@dataclass(frozen=True, slots=True)
class FleetOverride:
    """One line of a CreateFleet request."""

    instance_type: str
    zone: str
    subnet_id: str
    image_id: str
    price: int | None = None
    """Nanodollars per hour, where EC2 is to go by ours; None: by what it knows itself."""


@dataclass(frozen=True, slots=True)
class LaunchTemplateSpec:
    """The content of one launch template; its name is the content's hash."""

    image_id: str
    user_data: str
    """Plain text; the adapter encodes it."""
    instance_profile: str
    security_group_ids: tuple[str, ...]
    node_class: NodeClass
    capacity_type: CapacityType
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FleetTemplate:
    """A launch template of a request with the overrides that use it."""

    template_name: str
    overrides: tuple[FleetOverride, ...]


@dataclass(frozen=True, slots=True)
class FleetRequest:
    """One CreateFleet `instant` call. Serializable: the exact request is stored before it is sent."""

    launch_id: str
    """ClientToken, and the value of tag nodewright.dev/launch."""
    capacity: int
    capacity_type: CapacityType
    templates: tuple[FleetTemplate, ...]
    tags: Mapping[str, str]
    context: str = ""


@dataclass(frozen=True, slots=True)
class Instance:
    """An EC2 instance of ours."""

    id: str
    instance_type: str
    zone: str
    capacity_type: CapacityType
    state: str
    image_id: str
    launched: datetime | None
    tags: Mapping[str, str] = field(default_factory=dict)
    private_dns_name: str = ""


@dataclass(frozen=True, slots=True)
class FleetError:
    """One thing EC2 couldn't do, of a call that may have done others."""

    code: str
    message: str
    instance_type: str = ""
    zone: str = ""
    subnet_id: str = ""
    capacity_type: CapacityType = "on-demand"


@dataclass(frozen=True, slots=True)
class FleetAnswer:
    """What came of a call: some, all or none of the instances."""

    instances: tuple[Instance, ...]
    errors: tuple[FleetError, ...] = ()


class Fleet(Protocol):
    """EC2, for instances."""

    def ensure_template(self, spec: LaunchTemplateSpec) -> str:
        """Name of a launch template with this content, made when it isn't there."""
        ...

    def launch(self, request: FleetRequest) -> FleetAnswer:
        """CreateFleet with ClientToken = launch id: asked twice, it buys once.

        UnavailableError: throttled or unclear, ask again with the same request.
        RefusedError: nothing was or will be bought by this request.
        """
        ...

    def launched(self, launch_id: str) -> tuple[Instance, ...]:
        """Instances that carry tag nodewright.dev/launch = launch_id, dead ones too."""
        ...

    def ours_among(self, instance_ids: Sequence[str]) -> tuple[Instance, ...]:
        """Those of these that carry our stack's tag, dead ones too; one call, and strangers are no error."""
        ...

    def ours(self, cluster: str) -> tuple[Instance, ...]:
        """All instances with our stack's tag of one cluster that are not terminated."""
        ...

    def name(self, instance_id: str, tags: Mapping[str, str]) -> None:
        """Set tags (Name, karpenter.sh/nodeclaim) on an instance of ours."""
        ...

    def terminate(self, instance_ids: Sequence[str]) -> None:
        """TerminateInstances; what is gone already is no error."""
        ...


class Networks(Protocol):
    """Subnets and security groups by a class's selector terms."""

    def subnets(self, terms: tuple[SelectorTerm, ...]) -> tuple[Subnet, ...]:
        """Matches, sorted by free addresses descending, then id."""
        ...

    def security_groups(self, terms: tuple[SelectorTerm, ...]) -> tuple[str, ...]:
        """Ids of the matches, sorted."""
        ...


class Images(Protocol):
    """Machine images."""

    def by_parameters(self, names: Sequence[str]) -> Mapping[str, str]:
        """SSM public parameter → image id; unknown names are left out."""
        ...

    def by_terms(self, terms: tuple[SelectorTerm, ...]) -> tuple[Image, ...]:
        """DescribeImages by id, name, owner and tags; newest first."""
        ...


class InstanceProfiles(Protocol):
    """IAM instance profiles for classes that name a role."""

    def ensure(self, cluster: str, node_class: str, role: str) -> str:
        """Name of a profile with this role, made when it isn't there."""
        ...


@dataclass(frozen=True, slots=True)
class Price:
    """One price of one type."""

    instance_type: str
    capacity_type: CapacityType
    zone: str
    """Empty for on-demand: the same in all zones."""
    nanos: int


class Ec2Catalogue(Protocol):
    """What EC2 sells in this region, asked live (refresh)."""

    def instance_types(self) -> tuple[InstanceFacts, ...]:
        """DescribeInstanceTypes, all pages."""
        ...

    def zones_by_type(self) -> Mapping[str, frozenset[str]]:
        """DescribeInstanceTypeOfferings per availability zone: type → zones."""
        ...

    def spot_prices(self, now: datetime) -> tuple[Price, ...]:
        """Latest per type and zone."""
        ...

    def on_demand_prices(self) -> tuple[Price, ...]:
        """Linux, shared tenancy."""
        ...


class ClusterDirectory(Protocol):
    """EKS: what a cluster says of itself."""

    def describe(self, name: str) -> ConnectedCluster:
        """Endpoint, CA, version, service CIDR, auth mode; tokens and settings left at their defaults."""
        ...


# ---- State ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UnavailableOffering:
    """An offering that cools down, for every cluster of the region. `*` stands for any."""

    instance_type: str
    zone: str
    capacity_type: str
    reason: str
    until: datetime


@dataclass(frozen=True, slots=True)
class RegionCatalogue:
    """The stored catalogue of a region."""

    facts: tuple[InstanceFacts, ...]
    zones_by_type: Mapping[str, frozenset[str]]
    prices: tuple[Price, ...]
    ages: Mapping[str, datetime]
    """Part (types, offerings, prices, spot, images) → when it was taken."""
    images: Mapping[str, str] = field(default_factory=dict)
    """SSM public parameter → image id, of every connected cluster's version."""


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

    def settle_launch(self, cluster: str, launch_id: str, claims: Sequence[NodeClaim]) -> None:
        """Store what the launch brought, in one transaction: claims with instances (each with an OWNER
        item that must not exist), claims without go to gone; the LAUNCH item is deleted. What was reserved
        and didn't come is given back, once for each claim however often this is repeated.
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


# ---- Telling ----------------------------------------------------------------------------------


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
