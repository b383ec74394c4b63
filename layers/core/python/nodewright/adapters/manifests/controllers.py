"""ReplicaSets, Jobs and StatefulSets: how many pods each wants, and whether any of them are to be expected."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from nodewright.adapters.manifests.objects import RawMetadata, RawObject, read_one
from nodewright.domain.expected_pods import LOOK_AHEAD
from nodewright.domain.pods import Owner
from nodewright.domain.workloads import Workload

#: A Job that has one of these makes no more pods.
_ENDED: Final = frozenset({"Complete", "Failed", "FailureTarget", "SuccessCriteriaMet"})


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""
    message: str = ""


class _TemplateMetadata(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _Template(msgspec.Struct):
    metadata: _TemplateMetadata | None = None


class _Spec(msgspec.Struct, rename="camel"):
    replicas: int | None = None
    parallelism: int | None = None
    completions: int | None = None
    suspend: bool | None = None
    pod_management_policy: str = ""
    pod_replacement_policy: str = ""
    template: _Template = msgspec.field(default_factory=_Template)


class _Status(msgspec.Struct):
    succeeded: int = 0
    conditions: tuple[_Condition, ...] | None = None


class RawController(RawObject):
    """Any of the three kinds."""

    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


def read_controller(body: bytes, kind: str) -> Workload:
    """One object as the API server sent it, of one of `expected_pods.KINDS`."""
    return read_one(body, RawController, lambda raw: _workload(kind, raw))


def _workload(kind: str, raw: RawController) -> Workload:
    metadata, spec = raw.metadata, raw.spec
    of_template = spec.template.metadata.annotations if spec.template.metadata is not None else None
    return Workload(
        namespace=metadata.namespace,
        owner=Owner(kind, metadata.name, metadata.uid),
        wanted=_WANTED[kind](raw),
        waits_for_the_dying=kind == "StatefulSet" or spec.pod_replacement_policy == "Failed",
        look_ahead={**(of_template or {}), **(metadata.annotations or {})}.get(LOOK_AHEAD, ""),
        silent=_silence(kind, raw, metadata),
    )


def _silence(kind: str, raw: RawController, metadata: RawMetadata) -> str:
    true = {each.type: each.message for each in raw.status.conditions or () if each.status == "True"}
    if metadata.deletion_timestamp is not None:
        return "it is being deleted"
    if "ReplicaFailure" in true:
        return f"it can't make pods: {true['ReplicaFailure']}"
    if kind == "StatefulSet" and raw.spec.pod_management_policy != "Parallel":
        return "it makes one pod after the other"
    if kind == "Job" and (raw.spec.suspend or not _ENDED.isdisjoint(true)):
        return "it has ended or is suspended"
    return ""


def _replicas(raw: RawController) -> int:
    return 1 if raw.spec.replicas is None else raw.spec.replicas


def _job_pods(raw: RawController) -> int:
    """So many at once, but no more than are left to be completed."""
    parallel = 1 if raw.spec.parallelism is None else raw.spec.parallelism
    if raw.spec.completions is None:
        return parallel
    return max(0, min(parallel, raw.spec.completions - raw.status.succeeded))


_WANTED: Final[Mapping[str, Callable[[RawController], int]]] = {
    "ReplicaSet": _replicas,
    "StatefulSet": _replicas,
    "Job": _job_pods,
}
