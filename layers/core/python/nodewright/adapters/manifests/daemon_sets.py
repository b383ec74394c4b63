"""DaemonSets: what each puts on every node it matches."""

from functools import partial
from typing import Final

import msgspec

from nodewright.adapters.manifests.container_defaults import NO_AMOUNTS, NO_DEFAULTS, ContainerDefaults
from nodewright.adapters.manifests.objects import Page, RawObject, read_page
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.adapters.manifests.raw_specs import RawPodSpec
from nodewright.domain.pods import DaemonSet, PodKey

#: Its controller gives it to its pods as a label.
_GENERATION: Final = "deprecated.daemonset.template.generation"


class _TemplateMetadata(msgspec.Struct):
    labels: dict[str, str] | None = None


class _Template(msgspec.Struct):
    metadata: _TemplateMetadata = msgspec.field(default_factory=_TemplateMetadata)
    spec: RawPodSpec = msgspec.field(default_factory=RawPodSpec)


class _Spec(msgspec.Struct):
    template: _Template = msgspec.field(default_factory=_Template)


class RawDaemonSet(RawObject):
    """A DaemonSet object."""

    spec: _Spec


def read_daemon_sets(body: bytes, specs: PodSpecs, defaults: ContainerDefaults = NO_DEFAULTS) -> Page[DaemonSet]:
    """One page of a DaemonSet list."""
    return read_page(body, RawDaemonSet, partial(_daemon_set, specs, defaults))


def _daemon_set(specs: PodSpecs, defaults: ContainerDefaults, raw: RawDaemonSet) -> DaemonSet:
    metadata, template = raw.metadata, raw.spec.template
    namespace = metadata.namespace or "default"
    requests, _ = specs.requests(template.spec, defaults=defaults.get(namespace, NO_AMOUNTS))
    placement = specs.placement(template.spec)
    return DaemonSet(
        key=PodKey(namespace, metadata.name),
        requests=requests,
        alternatives=placement.alternatives,
        tolerations=placement.tolerations,
        labels=template.metadata.labels or {},
        host_ports=placement.host_ports,
        generation=(metadata.annotations or {}).get(_GENERATION, ""),
    )
