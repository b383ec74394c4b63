"""CapacityBuffers (autoscaling.x-k8s.io, v1alpha1, v1beta1 and v1: their spec is the same).

A buffer names a PodTemplate, or a workload of which it wants so many pods more. Its units are what such pods become
on their way through an API server.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from nodewright.adapters.manifests.admission import Admission
from nodewright.adapters.manifests.buffer_statuses import read_status
from nodewright.adapters.manifests.constraints import read_limits
from nodewright.adapters.manifests.fields import Fields, Report, metadata_fields
from nodewright.adapters.manifests.objects import ManifestError
from nodewright.adapters.manifests.pods import read_pod
from nodewright.application.errors import NotFoundError, RefusedError
from nodewright.application.ports import ManifestWarning
from nodewright.domain.buffer_status import RESOLVED, BufferReading, BufferStatus
from nodewright.domain.headroom import MOST, CapacityBuffer
from nodewright.domain.pods import Pod, PodKey

Object = Mapping[str, object]

#: Workloads a buffer may refer to, all of API group apps.
SCALABLE: Final = ("Deployment", "ReplicaSet", "StatefulSet")
ACTIVE: Final = "buffer.x-k8s.io/active-capacity"
#: The same strategy, as v1 spells it.
_ACTIVE_V1: Final = "active-capacity"


class Reference(NamedTuple):
    """What a buffer refers to, or its pod template; the namespace is empty for what has none."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(part for part in self if part)


@dataclass(frozen=True, slots=True)
class ReadBuffers:
    """What came of all buffers."""

    buffers: tuple[CapacityBuffer, ...] = ()
    """Those that can be used, sorted by name."""
    readings: tuple[BufferReading, ...] = ()
    """Of those that are ours to carry out, whether they can be used or not."""
    warnings: tuple[ManifestWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class BufferReader:
    """Reads buffers, and through `find` what they refer to; that raises NotFoundError for what isn't there.

    What can't be found out now is no answer: headroom that seems to be wanted no more would be taken away.
    """

    find: Callable[[Reference], Object]
    admission: Admission

    def read(self, raws: Iterable[Object]) -> ReadBuffers:
        """All of them, with what is wrong with any."""
        cases = [self._case(raw) for raw in raws if "deletionTimestamp" not in metadata_fields(raw)]
        buffers = [case.buffer for case in cases if case.buffer is not None]
        return ReadBuffers(
            tuple(sorted(buffers, key=lambda each: each.key)),
            tuple(case.reading() for case in cases if case.is_ours),
            tuple(warning for case in cases for warning in case.report.warnings),
        )

    def _case(self, raw: Object) -> "_Case":
        metadata = metadata_fields(raw)
        key = PodKey(metadata.text("namespace", "default"), metadata.text("name"))
        case = _Case(key, raw, Report(f"CapacityBuffer/{key}", "it is left out"))
        buffer = self._buffer(case)
        case.buffer = None if case.report.refused else buffer
        return case

    def _buffer(self, case: "_Case") -> CapacityBuffer | None:
        root = Fields(case.raw, "", case.report)
        root.known("apiVersion", "kind", "metadata", "status")
        spec = root.child("spec")
        case.is_ours = _is_ours(spec)
        if not case.is_ours:
            return None
        reference, path = _reference(case.key.namespace, spec)
        sizes = spec.whole("replicas"), spec.whole("percentage"), read_limits(spec, "limits")
        root.finish()
        if reference is None or case.report.refused:
            return None
        case.reference = reference
        case.found = self._found(reference, path, case)
        template = None if case.found is None else self._pod(reference, case.found, path, case.report)
        if case.found is None or template is None:
            return None
        buffer = CapacityBuffer(case.key, template, *sizes[:2], _scaled(case.found), sizes[2])
        _check_size(buffer, spec, by_template=reference.kind == "PodTemplate")
        return buffer

    def _found(self, reference: Reference, path: str, case: "_Case") -> Object | None:
        kind, _, _ = reference
        try:
            return self.find(reference)
        except NotFoundError:
            case.failure = "PodTemplateNotFound" if kind == "PodTemplate" else "ScalableRefNotFound"
            case.report.refuse(path, f"there is no {kind} {reference.namespace}/{reference.name}; create it")
        except RefusedError as error:
            case.report.refuse(path, f"the {kind} can't be read; run `nodewright connect` again ({error})")
        return None

    def _pod(self, reference: Reference, found: Object, path: str, report: Report) -> Pod | None:
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
        admission = self._admission(raw, reference, path, report)
        try:
            return read_pod(admission.pod(raw))
        except ManifestError as error:
            report.refuse("spec", f"the template of {reference} can't be read: {error.path}: {error.message}")
            return None

    def _admission(self, pod: Object, template: Reference, path: str, report: Report) -> Admission:
        """With the classes that the pod names. The API server takes no pod whose class isn't there."""
        admission = self.admission
        for kind, name in admission.missing(pod):
            try:
                admission = admission.knowing(kind, self.find(Reference(kind, "", name)))
            except NotFoundError:
                report.refuse(path, f"the template of {template} names {kind} {name}, which isn't there; create it")
            except RefusedError as error:
                fix = "run `nodewright connect` again to grant it"
                report.warn(path, f"{kind} {name} can't be read, so units are planned without it; {fix} ({error})")
        return admission


@dataclass(slots=True)
class _Case:
    """One buffer while it is read."""

    key: PodKey
    raw: Object
    report: Report
    is_ours: bool = False
    reference: Reference | None = None
    found: Object | None = None
    """What that is."""
    failure: str = "ResolutionFailed"
    buffer: CapacityBuffer | None = None

    def reading(self) -> BufferReading:
        """For its status."""
        metadata = metadata_fields(self.raw)
        wanted = BufferStatus(
            strategy=Fields(self.raw.get("spec"), "", self.report).text("provisioningStrategy", ACTIVE)
        )
        return BufferReading(
            key=self.key,
            generation=metadata.whole("generation", highest=2**63 - 1) or 0,
            version=metadata.text("resourceVersion"),
            reason=self.failure if self.buffer is None else RESOLVED,
            message=self._message(),
            wanted=wanted if self.buffer is None else self._resolved(wanted, self.buffer),
            told=read_status(self.raw.get("status")),
        )

    def _resolved(self, status: BufferStatus, buffer: CapacityBuffer) -> BufferStatus:
        if self.reference is None or self.found is None or self.reference.kind != "PodTemplate":
            return replace(status, replicas=buffer.units)
        generation = metadata_fields(self.found).whole("generation", highest=2**63 - 1)
        return replace(status, replicas=buffer.units, template=self.reference.name, template_generation=generation)

    def _message(self) -> str:
        told = "; ".join(f"{each.object} {each.path}: {each.message}" for each in self.report.warnings)
        return told or f"its units are pods of {self.reference}"


def _is_ours(spec: Fields) -> bool:
    """A strategy that isn't known is another autoscaler's to carry out."""
    strategy = spec.text("provisioningStrategy", ACTIVE)
    if strategy not in {"", ACTIVE, _ACTIVE_V1}:
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
