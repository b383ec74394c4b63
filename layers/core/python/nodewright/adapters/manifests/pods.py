"""Pods."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial

import msgspec

from nodewright.adapters.manifests.generations import with_new_names
from nodewright.adapters.manifests.objects import (
    NEVER,
    NOTHING,
    Page,
    RawMetadata,
    RawObject,
    read_object,
    read_page,
)
from nodewright.adapters.manifests.pod_requests import NOTHING_GIVEN, Given, RawContainerStatus
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.adapters.manifests.raw_specs import RawPodSpec, is_given
from nodewright.domain.pods import Owner, Pod, PodKey

#: Kubernetes' own classes, whose pods the rest of a node stands on.
_CRITICAL = frozenset({"system-cluster-critical", "system-node-critical"})
#: While kubelet has a resize to do, or can't do it.
_RESIZES = frozenset({"PodResizePending", "PodResizeInProgress"})
#: The API server sets it where a manifest doesn't.
_GRACE_SECONDS = 30


class _Condition(msgspec.Struct, gc=False):
    type: str = ""
    status: str = ""
    reason: str | None = None
    message: str | None = None


class _Status(msgspec.Struct, rename="camel", gc=False):
    phase: str = "Pending"
    nominated_node_name: str = ""
    start_time: datetime | None = None
    conditions: msgspec.Raw = NOTHING
    observed_generation: int = 0
    container_statuses: msgspec.Raw = NOTHING
    init_container_statuses: msgspec.Raw = NOTHING
    allocated_resources: msgspec.Raw = NOTHING
    resources: msgspec.Raw = NOTHING


class _Metadata(RawMetadata, rename="camel", gc=False):
    generation: int = 0


class RawPod(RawObject, rename="camel", gc=False):
    """A Pod object."""

    metadata: _Metadata
    spec: RawPodSpec
    status: _Status = msgspec.field(default_factory=_Status)


def read_pods(body: bytes, specs: PodSpecs) -> Page[Pod]:
    """One page of a pod list. Give all pages of a list the same `specs`."""
    return read_page(body, RawPod, partial(_pod, specs))


def read_pod(raw: Mapping[str, object]) -> Pod:
    """One Pod that a person wrote. ManifestError when it can't be read."""
    return read_object(raw, RawPod, partial(_pod, PodSpecs()))


def _pod(specs: PodSpecs, raw: RawPod) -> Pod:
    metadata, spec, status = raw.metadata, raw.spec, raw.status
    conditions = _conditions(status)
    requests, unreadable = specs.requests(spec, _given(raw, conditions))
    owner = _owner(metadata)
    namespace, labels = metadata.namespace or "default", metadata.labels or {}
    placement = specs.placement(spec, of_daemon=owner is not None and owner.kind == "DaemonSet")
    rules, volumes = specs.rules(placement, namespace, labels), specs.volumes(spec)
    templates = volumes.templates(metadata.name)
    refusal = None if spec.node_name else _refusal(conditions)
    grace = spec.termination_grace_period_seconds
    return Pod(
        key=PodKey(namespace, metadata.name),
        uid=metadata.uid,
        labels=labels,
        annotations=with_new_names(metadata.annotations or {}),
        requests=requests,
        alternatives=placement.alternatives,
        tolerations=placement.tolerations,
        created=metadata.creation_timestamp or NEVER,
        node_name=spec.node_name,
        nominated_node_name=status.nominated_node_name,
        scheduler_name=spec.scheduler_name or "default-scheduler",
        phase=status.phase,
        priority=spec.priority or 0,
        owner=owner,
        gated=is_given(spec.scheduling_gates),
        terminating=metadata.deletion_timestamp is not None,
        unschedulable=refusal is not None,
        unschedulable_message=refusal or "",
        ready=any(c.type == "Ready" and c.status == "True" for c in conditions),
        critical=spec.priority_class_name in _CRITICAL,
        termination_grace_seconds=_GRACE_SECONDS if grace is None else grace,
        started=status.start_time,
        deletion=metadata.deletion_timestamp,
        spreads=rules.spreads,
        affinity=rules.affinity,
        anti_affinity=rules.anti_affinity,
        preferences=rules.preferences,
        host_ports=placement.host_ports,
        claim_names=(*volumes.claims, *(each.name for each in templates)) if templates else volumes.claims,
        claim_templates=templates,
        attachments=volumes.attachments,
        problems=unreadable + placement.problems + volumes.problems,
    )


def _owner(metadata: RawMetadata) -> Owner | None:
    for owner in metadata.owner_references or ():
        if owner.controller:
            return Owner(owner.kind, owner.name, owner.uid)
    return None


def _conditions(status: _Status) -> tuple[_Condition, ...]:
    return _CONDITIONS.decode(status.conditions) if is_given(status.conditions) else ()


def _given(raw: RawPod, conditions: tuple[_Condition, ...]) -> Given:
    """What kubelet gave it, where that may be other than what the spec says: on most nodes a look is enough."""
    status = raw.status
    resizes = [c for c in conditions if c.type in _RESIZES]
    seen = status.observed_generation == raw.metadata.generation != 0
    if (seen and not resizes) or not raw.spec.node_name:
        return NOTHING_GIVEN
    told = {each.name: each for each in _statuses(status) if is_given(each.resources)}
    if not (told or is_given(status.resources)):
        return NOTHING_GIVEN
    infeasible = any(c.type == "PodResizePending" and c.reason == "Infeasible" for c in resizes)
    return Given(told, status.allocated_resources, status.resources, infeasible)


def _statuses(status: _Status) -> Iterator[RawContainerStatus]:
    for raw in (status.container_statuses, status.init_container_statuses):
        yield from _STATUSES.decode(raw) if is_given(raw) else ()


def _refusal(conditions: tuple[_Condition, ...]) -> str | None:
    """kube-scheduler's words; None while it hasn't said that nothing will do."""
    for c in conditions:
        if c.type == "PodScheduled" and c.status == "False" and c.reason == "Unschedulable":
            return c.message or ""
    return None


_CONDITIONS = msgspec.json.Decoder(tuple[_Condition, ...])
_STATUSES = msgspec.json.Decoder(tuple[RawContainerStatus, ...])
