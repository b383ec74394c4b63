"""Objects that are looked up one by one: controllers of pods that wait, and what capacity buffers refer to.

They are never listed: a cluster has many, and few of them matter.
"""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote

import msgspec

from nodewright.adapters.kubernetes_api import ForbiddenError, KubernetesApi
from nodewright.adapters.kubernetes_lists import CustomResources
from nodewright.adapters.manifests.admission import Admission
from nodewright.adapters.manifests.buffer_statuses import written_status
from nodewright.adapters.manifests.capacity_buffers import BufferReader, Object, ReadBuffers, Reference
from nodewright.adapters.manifests.container_defaults import ContainerDefaults
from nodewright.adapters.manifests.controllers import read_controller
from nodewright.application.errors import NotFoundError, OutsideError
from nodewright.application.ports import ManifestWarning
from nodewright.domain.buffer_status import BufferStatus
from nodewright.domain.pods import Owner, PodKey
from nodewright.domain.workloads import Workload

#: Kind → where its API has it.
_PATHS: Final = {
    "Deployment": ("/apis/apps/v1", "deployments"),
    "ReplicaSet": ("/apis/apps/v1", "replicasets"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
    "Job": ("/apis/batch/v1", "jobs"),
    "PodTemplate": ("/api/v1", "podtemplates"),
    "PriorityClass": ("/apis/scheduling.k8s.io/v1", "priorityclasses"),
    "RuntimeClass": ("/apis/node.k8s.io/v1", "runtimeclasses"),
}
#: Of which it can be told how many pods are to come.
_CONTROLLERS: Final = frozenset({"ReplicaSet", "StatefulSet", "Job"})


def find_workload(api: KubernetesApi, namespace: str, owner: Owner) -> Workload | None:
    """The controller of that name, which may be another by now; None for a kind that can't be asked."""
    if owner.kind not in _CONTROLLERS:
        return None
    path = _path(Reference(owner.kind, namespace, owner.name))
    return api.decoded(path, api.get(path), lambda body: read_controller(body, owner.kind))


@dataclass(slots=True)
class Buffers:
    """Capacity buffers of one cluster, where it has such a kind."""

    api: KubernetesApi
    resources: CustomResources
    _found: dict[Reference, Object | OutsideError] = field(default_factory=dict)

    def read(self, defaults: ContainerDefaults) -> ReadBuffers:
        """With what they refer to, each object once. Whoever may not list them is warned, and has none."""
        self._found.clear()
        try:
            raws = self.resources.read()
        except ForbiddenError as error:
            fix = f"run `nodewright connect {self.api.cluster}` again to grant it"
            warning = ManifestWarning("CapacityBuffer", "", f"it may not be listed; {fix} ({error})")
            return ReadBuffers(warnings=(warning,))
        return BufferReader(self._find, Admission(defaults=defaults)).read(raws or ())

    def tell(self, key: PodKey, version: str, status: BufferStatus) -> None:
        """One merge patch of its status, of that very version. Errors say what it takes; else as the server says it."""
        path = f"{self.resources.of_namespace(key.namespace)}/{quote(key.name, safe='')}/status"
        try:
            self.api.patch(path, {"metadata": {"resourceVersion": version}, "status": written_status(status)})
        except ForbiddenError as error:
            fix = f"run `nodewright connect {self.api.cluster}` again to grant it, unless it is a policy that forbids"
            raise ForbiddenError(f"capacitybuffers/status may not be patched; {fix} ({error})") from error
        except NotFoundError as error:
            fix = "else its CRD serves no status: apply SIG Autoscaling's as it is"
            raise NotFoundError(f"it may be gone by now; {fix} ({error})") from error

    def _find(self, reference: Reference) -> Object:
        if reference not in self._found:
            self._found[reference] = self._get(reference)
        found = self._found[reference]
        if isinstance(found, OutsideError):
            raise found
        return found

    def _get(self, reference: Reference) -> Object | OutsideError:
        path = _path(reference)
        try:
            return self.api.decoded(path, self.api.get(path), msgspec.json.Decoder(dict[str, object]).decode)
        except OutsideError as error:
            return error


def _path(reference: Reference) -> str:
    prefix, plural = _PATHS[reference.kind]
    where = f"/namespaces/{quote(reference.namespace, safe='')}" if reference.namespace else ""
    return f"{prefix}{where}/{plural}/{quote(reference.name, safe='')}"
