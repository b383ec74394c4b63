"""What some pods need besides nodes: volumes, labels of namespaces, defaults for containers.

Each kind is listed only where something asks for it. Whoever connected a cluster with an older release may not be
allowed to yet: that is a warning, and a problem of the pods that need the kind, but stops no other pod.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar

from nodewright.adapters.kubernetes_api import ForbiddenError, KubernetesApi
from nodewright.adapters.kubernetes_lists import read_all
from nodewright.adapters.manifests.container_defaults import ContainerDefaults, container_defaults, read_limit_ranges
from nodewright.adapters.manifests.namespaces import read_namespaces
from nodewright.adapters.manifests.objects import Page
from nodewright.adapters.manifests.volumes import (
    read_claims,
    read_csi_nodes,
    read_persistent_volumes,
    read_storage_classes,
    read_volume_attachments,
)
from nodewright.application.ports import ManifestWarning
from nodewright.domain.pods import Pod
from nodewright.domain.storage import NO_STORAGE, Storage
from nodewright.domain.topology import Namespaces, PodAffinityTerm

_CORE: Final = "/api/v1"
_STORAGE: Final = "/apis/storage.k8s.io/v1"

T = TypeVar("T")


@dataclass(slots=True)
class Surroundings:
    """Of one cluster, read once."""

    api: KubernetesApi
    warnings: list[ManifestWarning] = field(default_factory=list)

    def storage(self, pods: Iterable[Pod]) -> Storage:
        """Of these pods' volumes; read after them, so that claims made for them are there."""
        if not any(pod.claim_names or pod.attachments for pod in pods):
            return NO_STORAGE
        drivers = self._list("CSINode", f"{_STORAGE}/csinodes", read_csi_nodes)
        return Storage(
            claims=self._list("PersistentVolumeClaim", f"{_CORE}/persistentvolumeclaims", read_claims),
            volumes=self._list("PersistentVolume", f"{_CORE}/persistentvolumes", read_persistent_volumes),
            classes=self._list("StorageClass", f"{_STORAGE}/storageclasses", read_storage_classes),
            attachable=dict(drivers or ()),
            attachments=self._list("VolumeAttachment", f"{_STORAGE}/volumeattachments", read_volume_attachments) or (),
        )

    def namespaces(self, pods: Iterable[Pod]) -> Namespaces | None:
        """Of which these pods' rules read labels; None where they may not be listed."""
        if not any(_reads_labels(term) for pod in pods for term in _terms(pod)):
            return {}
        listed = self._list("Namespace", f"{_CORE}/namespaces", read_namespaces)
        return None if listed is None else dict(listed)

    def container_defaults(self) -> ContainerDefaults:
        """Of every namespace that has some."""
        return container_defaults(self._list("LimitRange", f"{_CORE}/limitranges", read_limit_ranges) or ())

    def _list(self, kind: str, path: str, read: Callable[[bytes], Page[T]]) -> tuple[T, ...] | None:
        try:
            page = read_all(self.api, path, read)
        except ForbiddenError as error:
            fix = f"run `nodewright connect {self.api.cluster}` again to grant it"
            self.warnings.append(ManifestWarning(kind, "", f"it may not be listed; {fix} ({error})"))
            return None
        self.warnings += page.warnings
        return page.items


def _terms(pod: Pod) -> Iterable[PodAffinityTerm]:
    if not (pod.affinity or pod.anti_affinity or pod.preferences.affinity or pod.preferences.anti_affinity):
        return ()
    wished = (each.term for each in (*pod.preferences.affinity, *pod.preferences.anti_affinity))
    return (*pod.affinity, *pod.anti_affinity, *wished)


def _reads_labels(term: PodAffinityTerm) -> bool:
    """An empty selector takes every namespace whatever its labels."""
    return bool(term.selector.namespace_labels)
