"""Pods."""

from collections.abc import Mapping
from functools import partial

import msgspec

from nodewright.adapters.manifests.objects import (
    NEVER,
    NOTHING,
    Page,
    RawMetadata,
    RawObject,
    read_object,
    read_page,
)
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.adapters.manifests.raw_specs import RawPodSpec, is_given
from nodewright.domain.pods import Owner, Pod, PodKey

_OLD_ANNOTATIONS = {"karpenter.sh/do-not-evict": "karpenter.sh/do-not-disrupt"}


class _Condition(msgspec.Struct, gc=False):
    type: str = ""
    status: str = ""
    reason: str | None = None


class _Status(msgspec.Struct, rename="camel", gc=False):
    phase: str = "Pending"
    nominated_node_name: str = ""
    conditions: msgspec.Raw = NOTHING


class RawPod(RawObject, rename="camel", gc=False):
    """A Pod object."""

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
    requests, unreadable = specs.requests(spec)
    placement = specs.placement(spec)
    return Pod(
        key=PodKey(metadata.namespace or "default", metadata.name),
        uid=metadata.uid,
        labels=metadata.labels or {},
        annotations=_annotations(metadata),
        requests=requests,
        alternatives=placement.alternatives,
        tolerations=placement.tolerations,
        created=metadata.creation_timestamp or NEVER,
        node_name=spec.node_name,
        nominated_node_name=status.nominated_node_name,
        scheduler_name=spec.scheduler_name or "default-scheduler",
        phase=status.phase,
        priority=spec.priority or 0,
        owner=_owner(metadata),
        gated=is_given(spec.scheduling_gates),
        terminating=metadata.deletion_timestamp is not None,
        unschedulable=_unschedulable(raw),
        problems=unreadable + placement.problems,
    )


def _annotations(metadata: RawMetadata) -> Mapping[str, str]:
    annotations = metadata.annotations or {}
    if _OLD_ANNOTATIONS.keys().isdisjoint(annotations):
        return annotations
    return {new: annotations[old] for old, new in _OLD_ANNOTATIONS.items() if old in annotations} | annotations


def _owner(metadata: RawMetadata) -> Owner | None:
    for owner in metadata.owner_references or ():
        if owner.controller:
            return Owner(owner.kind, owner.name, owner.uid)
    return None


def _unschedulable(raw: RawPod) -> bool:
    """Bound pods were scheduled, so their conditions needn't be read."""
    conditions = raw.status.conditions
    if raw.spec.node_name or not is_given(conditions):
        return False
    return any(
        c.type == "PodScheduled" and c.status == "False" and c.reason == "Unschedulable"
        for c in _CONDITIONS.decode(conditions)
    )


_CONDITIONS = msgspec.json.Decoder(tuple[_Condition, ...])
