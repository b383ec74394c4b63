"""What differs between image families: where the image is, how user data is written, default disks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from nodewright.domain.nodeclasses import AmiFamily, BlockDevice, Kubelet
from nodewright.domain.taints import Taint

Arch = Literal["amd64", "arm64"]
Variant = Literal["standard", "nvidia", "neuron"]

#: EC2 takes at most 16 KiB of user data, before base64.
USER_DATA_LIMIT_BYTES = 16 * 1024


class UserDataError(ValueError):
    """A class's own user data can't be merged; the message names what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ImageQuery:
    """The SSM public parameter that holds the image id for one (architecture, variant)."""

    parameter: str
    arch: Arch
    variant: Variant


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """What a node must know to join its cluster complete (architecture §5)."""

    cluster: str
    endpoint: str
    certificate_authority: str
    """Base64."""
    service_cidr: str
    dns_ip: str
    labels: Mapping[str, str]
    """Only what kubelet may set itself (domain/node_labels.py)."""
    taints: tuple[Taint, ...] = ()
    kubelet: Kubelet = field(default_factory=Kubelet)
    raid0: bool = False
    user_data: str = ""
    """The class's own, merged so that ours wins."""


class Family(Protocol):
    """One image family. To add one: a file in this folder and its line in FAMILIES."""

    @property
    def name(self) -> AmiFamily:
        """As in EC2NodeClass.spec.amiFamily."""
        ...

    @property
    def alias(self) -> str:
        """As before the @ of an image alias; empty where it has none."""
        ...

    @property
    def block_devices(self) -> tuple[BlockDevice, ...]:
        """Where a class names none (karpenter-behaviour §2.3)."""
        ...

    def queries(self, kubernetes: str, version: str) -> tuple[ImageQuery, ...]:
        """Parameters for a Kubernetes minor (`1.37`) and a version, `latest` or pinned; none without an image."""
        ...

    def user_data(self, bootstrap: Bootstrap) -> str:
        """The document a node boots with. UserDataError when the class's own is malformed."""
        ...
