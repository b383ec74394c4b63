"""CapacityBuffers (autoscaling.x-k8s.io, v1alpha1, v1beta1 and v1: their spec is the same).

A buffer names a PodTemplate, or a workload of which it wants so many pods more. Nothing of its status is read or
written: no part of the API waits for it, and what became of a buffer is in the decision record.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from nodewright.adapters.manifests.admission import Admission
from nodewright.adapters.manifests.constraints import read_limits
from nodewright.adapters.manifests.fields import Fields, Report, metadata_fields
from nodewright.adapters.manifests.objects import ManifestError
from nodewright.adapters.manifests.pods import read_pod
from nodewright.application.errors import NotFoundError, RefusedError
from nodewright.application.ports import ManifestWarning
from nodewright.domain.headroom import MOST, CapacityBuffer
from nodewright.domain.pods import Pod, PodKey

Object = Mapping[str, object]

#: Workloads a buffer may refer to, all of API group apps.
SCALABLE: Final = ("Deployment", "ReplicaSet", "StatefulSet")
ACTIVE: Final = "buffer.x-k8s.io/active-capacity"


class Reference(NamedTuple):
    """What a buffer refers to."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class BufferReader:
    """Reads buffers, and through `find` what they refer to; that raises NotFoundError for what isn't there.

    What can't be found out now is no answer: headroom that seems to be wanted no more would be taken away.
    """

    find: Callable[[Reference], Object]
    admission: Admission

    def read(self, raws: Iterable[Object]) -> tuple[tuple[CapacityBuffer, ...], tuple[ManifestWarning, ...]]:
        """Those that can be used, sorted by name, and what is wrong with the rest."""
        buffers: list[CapacityBuffer] = []
        warnings: list[ManifestWarning] = []
        for raw in raws:
            metadata = metadata_fields(raw)
            key = PodKey(metadata.text("namespace", "default"), metadata.text("name"))
            report = Report(f"CapacityBuffer/{key}", "it is left out")
            buffer = None if "deletionTimestamp" in metadata else self._buffer(key, raw, report)
            buffers += [buffer] if buffer is not None and not report.refused else []
            warnings += report.warnings
        return tuple(sorted(buffers, key=lambda each: each.key)), tuple(warnings)

    def _buffer(self, key: PodKey, raw: Object, report: Report) -> CapacityBuffer | None:
        root = Fields(raw, "", report)
        root.known("apiVersion", "kind", "metadata", "status")
        spec = root.child("spec")
        if not _is_ours(spec):
            return None
        reference, path = _reference(key.namespace, spec)
        sizes = spec.whole("replicas"), spec.whole("percentage"), read_limits(spec, "limits")
        root.finish()
        found = self._found(reference, path, report) if reference is not None and not report.refused else None
        template = self._pod(reference, found, report) if reference is not None and found is not None else None
        if found is None or template is None:
            return None
        buffer = CapacityBuffer(key, template, *sizes[:2], _scaled(found), sizes[2])
        _check_size(buffer, spec, by_template=reference is not None and reference.kind == "PodTemplate")
        return buffer

    def _found(self, reference: Reference, path: str, report: Report) -> Object | None:
        try:
            return self.find(reference)
        except NotFoundError:
            report.refuse(path, f"there is no {reference.kind} {reference.namespace}/{reference.name}; create it")
        except RefusedError as error:
            report.refuse(path, f"the {reference.kind} can't be read; run `nodewright connect` again ({error})")
        return None

    def _pod(self, reference: Reference, found: Object, report: Report) -> Pod | None:
        """One unit. A PodTemplate has its template at the top, a workload in its spec."""
        template = _map((found if reference.kind == "PodTemplate" else _map(found.get("spec"))).get("template"))
        metadata = _map(template.get("metadata"))
        raw: Object = {
            "kind": "Pod",
            "metadata": {
                "name": reference.name,
                "namespace": reference.namespace,
                "labels": metadata.get("labels"),
                "annotations": metadata.get("annotations"),
            },
            "spec": template.get("spec") or {},
        }
        try:
            return read_pod(self.admission.pod(raw))
        except ManifestError as error:
            where = f"{reference.kind}/{reference.namespace}/{reference.name}"
            report.refuse("spec", f"the template of {where} can't be read: {error.path}: {error.message}")
            return None


def _is_ours(spec: Fields) -> bool:
    """A strategy that isn't known is another autoscaler's to carry out."""
    strategy = spec.text("provisioningStrategy", ACTIVE)
    if strategy not in {"", ACTIVE}:
        spec.refuse("provisioningStrategy", f"{strategy!r} is not known; use {ACTIVE}")
        return False
    return True


def _reference(namespace: str, spec: Fields) -> tuple[Reference | None, str]:
    """With the path of the field that says it."""
    template, scalable = spec.child("podTemplateRef"), spec.child("scalableRef")
    name, kind = template.text("name"), scalable.text("kind")
    group, scaled = scalable.text("apiGroup", "apps"), scalable.text("name")
    if bool(name) == bool(kind and scaled):
        spec.refuse("podTemplateRef", "name either a PodTemplate here or a workload in scalableRef (kind and name)")
        return None, ""
    if name:
        return Reference("PodTemplate", namespace, name), "spec.podTemplateRef.name"
    if group not in {"", "apps"} or kind not in SCALABLE:
        known = f"refer to a {', '.join(SCALABLE)} of apps, or to a PodTemplate"
        scalable.refuse("kind", f"{kind} of {group or 'the core API'} is not known; {known}")
        return None, ""
    return Reference(kind, namespace, scaled), "spec.scalableRef.name"


def _scaled(found: Object) -> int:
    """Replicas that a workload wants; a PodTemplate has none."""
    replicas = _map(found.get("spec")).get("replicas", 1)
    return replicas if isinstance(replicas, int) else 1


def _check_size(buffer: CapacityBuffer, spec: Fields, *, by_template: bool) -> None:
    if by_template and buffer.percentage is not None:
        spec.refuse("percentage", "a PodTemplate has no replicas to take a share of; write replicas instead")
    elif buffer.replicas is None and buffer.percentage is None and not buffer.limits:
        spec.refuse("replicas", "the buffer has no size; set replicas, percentage or limits")
    elif buffer.limits and buffer.limits_nothing:
        spec.warn(
            "limits", f"a unit requests none of {', '.join(buffer.limits)}, so they limit nothing; name what it does"
        )
    if buffer.units == MOST:
        spec.warn("replicas", f"no more than {MOST} units of a buffer are kept; ask for fewer, larger ones")


def _map(value: object) -> Object:
    return value if isinstance(value, Mapping) else {}
