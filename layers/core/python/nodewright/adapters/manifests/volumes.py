"""PersistentVolumeClaims, PersistentVolumes, StorageClasses, CSINodes and VolumeAttachments."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from nodewright.adapters.manifests.node_affinity import RawNodeSelector, read_term
from nodewright.adapters.manifests.objects import NEVER, Page, RawMetadata, RawObject, read_page
from nodewright.adapters.manifests.pod_volumes import disk_id
from nodewright.domain.labels import normalise_key
from nodewright.domain.nodes import REGION_LABEL, ZONE_LABEL
from nodewright.domain.pods import EBS_DRIVER, Attachment
from nodewright.domain.quantities import whole
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.storage import ANYWHERE, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment

_BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
_SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_CLASSES: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_LABELS_OF_PLACES: Final = frozenset({ZONE_LABEL, REGION_LABEL})
_BETWEEN_ZONES: Final = "__"
"""A volume of several zones has them joined so in its label."""


class _Amounts(msgspec.Struct):
    requests: dict[str, str | int | float] | None = None


class _ClaimSpec(msgspec.Struct, rename="camel"):
    storage_class_name: str | None = None
    volume_name: str = ""
    access_modes: tuple[str, ...] | None = None
    resources: _Amounts = msgspec.field(default_factory=_Amounts)


class _Phase(msgspec.Struct):
    phase: str = ""


class RawClaim(RawObject):
    """A PersistentVolumeClaim object."""

    spec: _ClaimSpec = msgspec.field(default_factory=_ClaimSpec)
    status: _Phase = msgspec.field(default_factory=_Phase)


class _Disk(msgspec.Struct):
    volume_id: str = msgspec.field(name="volumeID", default="")


class _Driver(msgspec.Struct, rename="camel"):
    driver: str = ""
    volume_handle: str = ""


class _Holder(msgspec.Struct):
    namespace: str = ""
    name: str = ""


class _VolumeNodes(msgspec.Struct):
    required: RawNodeSelector | None = None


class _VolumeSpec(msgspec.Struct, rename="camel"):
    storage_class_name: str | None = None
    capacity: dict[str, str | int | float] | None = None
    access_modes: tuple[str, ...] | None = None
    claim_ref: _Holder | None = None
    node_affinity: _VolumeNodes | None = None
    csi: _Driver | None = None
    aws_elastic_block_store: _Disk | None = None


class RawVolume(RawObject):
    """A PersistentVolume object."""

    spec: _VolumeSpec = msgspec.field(default_factory=_VolumeSpec)
    status: _Phase = msgspec.field(default_factory=_Phase)


class _Values(msgspec.Struct):
    key: str = ""
    values: tuple[str, ...] | None = None


class _Topology(msgspec.Struct, rename="camel"):
    match_label_expressions: tuple[_Values, ...] | None = None


class RawStorageClass(RawObject, rename="camel"):
    """A StorageClass object."""

    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[_Topology, ...] | None = None


class _Allocatable(msgspec.Struct):
    count: int | None = None


class _NodeDriver(msgspec.Struct):
    name: str = ""
    allocatable: _Allocatable | None = None


class _NodeDrivers(msgspec.Struct):
    drivers: tuple[_NodeDriver, ...] | None = None


class RawCsiNode(RawObject):
    """A CSINode object."""

    spec: _NodeDrivers = msgspec.field(default_factory=_NodeDrivers)


class _Source(msgspec.Struct, rename="camel"):
    persistent_volume_name: str = ""


class _Attachment(msgspec.Struct, rename="camel"):
    attacher: str = ""
    node_name: str = ""
    source: _Source = msgspec.field(default_factory=_Source)


class RawVolumeAttachment(RawObject):
    """A VolumeAttachment object."""

    spec: _Attachment = msgspec.field(default_factory=_Attachment)


def read_claims(body: bytes) -> Page[PersistentVolumeClaim]:
    """One page of a PersistentVolumeClaim list."""
    return read_page(body, RawClaim, _claim)


def read_persistent_volumes(body: bytes) -> Page[PersistentVolume]:
    """One page of a PersistentVolume list."""
    return read_page(body, RawVolume, _volume)


def read_storage_classes(body: bytes) -> Page[StorageClass]:
    """One page of a StorageClass list."""
    return read_page(body, RawStorageClass, _storage_class)


def read_csi_nodes(body: bytes) -> Page[tuple[str, Mapping[str, int]]]:
    """One page of a CSINode list: node → CSI driver → volumes it can have attached."""
    return read_page(body, RawCsiNode, _csi_node)


def read_volume_attachments(body: bytes) -> Page[VolumeAttachment]:
    """One page of a VolumeAttachment list."""
    return read_page(body, RawVolumeAttachment, _volume_attachment)


def _claim(raw: RawClaim) -> PersistentVolumeClaim:
    metadata, spec, phase = raw.metadata, raw.spec, raw.status.phase
    annotations = metadata.annotations or {}
    # A file may say no more than the volume's name; in a cluster binding isn't over before this annotation is there.
    bound = bool(spec.volume_name) and (_BIND_COMPLETED in annotations or phase in {"", "Bound"})
    return PersistentVolumeClaim(
        namespace=metadata.namespace or "default",
        name=metadata.name,
        storage_class=annotations.get(_OLD_CLASS, spec.storage_class_name),
        volume=spec.volume_name,
        bound=bound,
        lost=phase == "Lost",
        deleting=metadata.deletion_timestamp is not None,
        selected_node=annotations.get(_SELECTED_NODE, ""),
        size=_size(spec.resources.requests),
        access_modes=frozenset(spec.access_modes or ()),
    )


def _volume(raw: RawVolume) -> PersistentVolume:
    metadata, spec = raw.metadata, raw.spec
    holder = spec.claim_ref
    return PersistentVolume(
        name=metadata.name,
        nodes=_reached_from(spec, metadata),
        attachment=_attachment(spec),
        storage_class=(metadata.annotations or {}).get(_OLD_CLASS, spec.storage_class_name or ""),
        claimed_by=f"{holder.namespace or 'default'}/{holder.name}" if holder else "",
        available=raw.status.phase in {"", "Available"} and metadata.deletion_timestamp is None,
        size=_size(spec.capacity),
        access_modes=frozenset(spec.access_modes or ()),
    )


def _reached_from(spec: _VolumeSpec, metadata: RawMetadata) -> tuple[Requirements, ...]:
    """Terms of its node affinity, each with the zone and region that older provisioners wrote in its labels."""
    places = Requirements(_places(metadata.labels or {}))
    required = spec.node_affinity.required if spec.node_affinity else None
    if required is None:
        return (places,)
    return tuple(dict.fromkeys(places.intersect(term) for term in _terms(required)))


def _terms(required: RawNodeSelector) -> Iterator[Requirements]:
    """One that no node can meet is left out: terms are OR."""
    for term in required.node_selector_terms or ():
        with contextlib.suppress(ValueError):
            yield read_term("", term)


def _places(labels: Mapping[str, str]) -> Iterator[Requirement]:
    for key, value in labels.items():
        if normalise_key(key) in _LABELS_OF_PLACES:
            yield Requirement.of(key, "In", value.split(_BETWEEN_ZONES))


def _attachment(spec: _VolumeSpec) -> Attachment | None:
    if spec.csi is not None:
        return Attachment(spec.csi.driver, spec.csi.volume_handle)
    disk = spec.aws_elastic_block_store
    return Attachment(EBS_DRIVER, disk_id(disk.volume_id)) if disk else None


def _storage_class(raw: RawStorageClass) -> StorageClass:
    annotations = raw.metadata.annotations or {}
    return StorageClass(
        name=raw.metadata.name,
        provisioner=raw.provisioner,
        waits=raw.volume_binding_mode == "WaitForFirstConsumer",
        topologies=tuple(map(_topology, raw.allowed_topologies)) if raw.allowed_topologies else ANYWHERE,
        default=any(annotations.get(each) == "true" for each in _DEFAULT_CLASSES),
        created=raw.metadata.creation_timestamp or NEVER,
    )


def _topology(raw: _Topology) -> Requirements:
    """An empty term matches nothing, by Kubernetes' rule; so does a key without values."""
    expressions = raw.match_label_expressions or (_Values("topology"),)
    return Requirements(
        Requirement.of(each.key, "In", each.values) if each.values else Requirement.nothing(each.key)
        for each in expressions
    )


def _csi_node(raw: RawCsiNode) -> tuple[str, Mapping[str, int]]:
    """A driver that tells no number has no limit."""
    counts = ((each.name, each.allocatable) for each in raw.spec.drivers or ())
    return raw.metadata.name, {name: found.count for name, found in counts if found and found.count is not None}


def _volume_attachment(raw: RawVolumeAttachment) -> VolumeAttachment:
    spec = raw.spec
    return VolumeAttachment(spec.node_name, spec.attacher, spec.source.persistent_volume_name or raw.metadata.name)


def _size(amounts: Mapping[str, str | int | float] | None) -> int:
    try:
        return whole((amounts or {}).get("storage", 0))
    except ValueError:
        return 0
