"""Volumes of a world of manifests, where the classes that every cluster has are seldom written down."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from nodewright.adapters.manifests.volumes import (
    read_claims,
    read_csi_nodes,
    read_persistent_volumes,
    read_storage_classes,
    read_volume_attachments,
)
from nodewright.adapters.manifests.world_objects import WorldObjects
from nodewright.application.ports import ManifestWarning
from nodewright.domain.pods import EBS_DRIVER, Pod
from nodewright.domain.storage import Storage, StorageClass

Object = Mapping[str, object]

_ASSUMED: Final = "default"


def read_storage(
    objects: WorldObjects, grown: Iterable[Object], pods: Iterable[Pod]
) -> tuple[Storage, tuple[ManifestWarning, ...]]:
    """`grown`: claims that StatefulSets make; those that are there already count as they are.

    Claims of the `pods`' ephemeral volumes are made as they are planned.
    """
    missing = [claim for claim in grown if not objects.has("PersistentVolumeClaim", claim)]
    claims = read_claims(listed([*objects.of("PersistentVolumeClaim"), *missing]))
    volumes = read_persistent_volumes(listed(objects.of("PersistentVolume")))
    classes = read_storage_classes(listed(objects.of("StorageClass")))
    csi_nodes = read_csi_nodes(listed(objects.of("CSINode")))
    attachments = read_volume_attachments(listed(objects.of("VolumeAttachment")))
    wanted = {claim.storage_class for claim in claims.items if not claim.bound}
    wanted |= {template.storage_class for pod in pods for template in pod.claim_templates}
    assumed, told = _assumed(wanted) if not objects.of("StorageClass") else ((), ())
    storage = Storage(
        claims=claims.items,
        volumes=volumes.items,
        classes=(*classes.items, *assumed),
        attachable=dict(csi_nodes.items),
        attachments=attachments.items,
    )
    pages = (claims, volumes, classes, csi_nodes, attachments)
    return storage, (*(each for page in pages for each in page.warnings), *told)


def listed(objects: Iterable[Object]) -> bytes:
    """Objects as a list of the API."""
    return msgspec.json.encode({"items": list(objects)})


def _assumed(wanted: Iterable[str | None]) -> tuple[tuple[StorageClass, ...], tuple[ManifestWarning, ...]]:
    """EBS volumes made where the pod goes: no class at all in the input is an input that left them out."""
    names = sorted({_ASSUMED if name is None else name for name in wanted if name != ""})
    classes = tuple(StorageClass(name, EBS_DRIVER, waits=True, default=name == _ASSUMED) for name in names)
    message = (
        f"it is not in the input, so it is taken to make EBS volumes where the pod goes ({EBS_DRIVER}, "
        "WaitForFirstConsumer); add its manifest with -f"
    )
    return classes, tuple(ManifestWarning(f"StorageClass/{name}", "", message) for name in names)
