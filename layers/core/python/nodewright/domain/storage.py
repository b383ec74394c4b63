"""What a cluster has of storage, as far as it says where pods may run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from nodewright.domain.pods import Attachment
from nodewright.domain.requirements import Requirements

ANYWHERE: Final = (Requirements(),)


@dataclass(frozen=True, slots=True)
class PersistentVolumeClaim:
    """A PersistentVolumeClaim object."""

    namespace: str
    name: str
    storage_class: str | None = None
    """None: the default one; empty: none at all."""
    volume: str = ""
    """What it is bound to, or to be bound to."""
    bound: bool = False
    lost: bool = False
    deleting: bool = False
    selected_node: str = ""
    """Where kube-scheduler has its volume made just now."""
    size: int = 0
    """Bytes."""
    access_modes: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class PersistentVolume:
    """A PersistentVolume object."""

    name: str
    nodes: tuple[Requirements, ...] = ANYWHERE
    """From which it can be reached: one of these must hold."""
    attachment: Attachment | None = None
    """Where a CSI driver attaches it."""
    storage_class: str = ""
    claimed_by: str = ""
    """`namespace/name` of the claim it belongs to, or is kept for."""
    available: bool = False
    size: int = 0
    """Bytes."""
    access_modes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class StorageClass:
    """A StorageClass object."""

    name: str
    provisioner: str
    waits: bool = False
    """volumeBindingMode WaitForFirstConsumer."""
    topologies: tuple[Requirements, ...] = ANYWHERE
    """allowedTopologies: where volumes may be made."""
    default: bool = False
    created: datetime = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class VolumeAttachment:
    """A VolumeAttachment object: a volume is, or is about to be, or still is attached to a node."""

    node: str
    driver: str
    volume: str
    """The PersistentVolume's name, or one of its own for a pod's inline volume."""


@dataclass(frozen=True, slots=True)
class Storage:
    """What a cluster has of all that; None where it may not be listed."""

    claims: tuple[PersistentVolumeClaim, ...] | None = ()
    volumes: tuple[PersistentVolume, ...] | None = ()
    classes: tuple[StorageClass, ...] | None = ()
    attachable: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Node → CSI driver → volumes it can have attached (CSINode)."""
    attachments: tuple[VolumeAttachment, ...] = ()


NO_STORAGE: Final = Storage()
