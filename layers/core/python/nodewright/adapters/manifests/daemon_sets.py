"""DaemonSets: what each puts on every node it matches."""

from collections.abc import Mapping
from functools import partial

import msgspec

from nodewright.adapters.manifests.objects import Page, RawObject, read_object, read_page
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.adapters.manifests.raw_specs import RawPodSpec
from nodewright.domain.pods import DaemonSet, PodKey


class _Template(msgspec.Struct):
    spec: RawPodSpec = msgspec.field(default_factory=RawPodSpec)


class _Spec(msgspec.Struct):
    template: _Template = msgspec.field(default_factory=_Template)


class RawDaemonSet(RawObject):
    """A DaemonSet object."""

    spec: _Spec


def read_daemon_sets(body: bytes, specs: PodSpecs) -> Page[DaemonSet]:
    """One page of a DaemonSet list."""
    return read_page(body, RawDaemonSet, partial(_daemon_set, specs))


def read_daemon_set(raw: Mapping[str, object]) -> DaemonSet:
    """One DaemonSet that a person wrote. ManifestError when it can't be read."""
    return read_object(raw, RawDaemonSet, partial(_daemon_set, PodSpecs()))


def _daemon_set(specs: PodSpecs, raw: RawDaemonSet) -> DaemonSet:
    spec = raw.spec.template.spec
    requests, _ = specs.requests(spec)
    placement = specs.placement(spec)
    return DaemonSet(
        key=PodKey(raw.metadata.namespace or "default", raw.metadata.name),
        requests=requests,
        alternatives=placement.alternatives,
        tolerations=placement.tolerations,
    )
