"""EC2: what is bought, and with what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from nodewright.domain.catalogue import CapacityType
from nodewright.domain.nodeclasses import NodeClass, SelectorTerm


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
