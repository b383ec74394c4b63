"""Maps inside of manifests, and domain values as manifests write them."""

import math
from collections.abc import Mapping
from datetime import timedelta

from nodewright.domain.nodeclasses import Kubelet, SelectorTerm

Json = dict[str, object]


def inside(raw: Mapping[str, object], *path: str) -> Json:
    """A copy of the map at this path; empty where there is none."""
    found: object = raw
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return {str(name): value for name, value in found.items()} if isinstance(found, Mapping) else {}


def listed(raw: Mapping[str, object], name: str) -> list[Json]:
    """Copies of the maps in a list."""
    found = raw.get(name)
    return [dict(each) for each in found if isinstance(each, Mapping)] if isinstance(found, list | tuple) else []


def given(**fields: object) -> Json:
    """Without what is None or empty: a field that says nothing is left out."""
    return {name: value for name, value in fields.items() if value is not None and value not in ("", (), [], {})}


def without_nulls(value: object) -> object:
    """To the API server a field that is null is a field that isn't there."""
    if isinstance(value, Mapping):
        return {str(name): without_nulls(each) for name, each in value.items() if each is not None}
    return [without_nulls(each) for each in value] if isinstance(value, list | tuple) else value


def duration(value: timedelta | None) -> str:
    """In the largest unit that divides it; `Never` for None."""
    if value is None:
        return "Never"
    seconds = math.ceil(value.total_seconds())
    unit, size = next(((u, s) for u, s in (("h", 3600), ("m", 60)) if seconds and seconds % s == 0), ("s", 1))
    return f"{seconds // size}{unit}"


def selector_term(term: SelectorTerm) -> Json:
    """A term of any selector."""
    return given(
        alias=term.alias,
        id=term.id,
        ssmParameter=term.ssm_parameter,
        name=term.name,
        owner=term.owner,
        tags=dict(term.tags),
    )


def kubelet_settings(kubelet: Kubelet) -> Json:
    """As EC2NodeClass has them under spec.kubelet; what isn't set is left out."""
    return given(
        clusterDNS=list(kubelet.cluster_dns),
        maxPods=kubelet.max_pods,
        podsPerCore=kubelet.pods_per_core,
        systemReserved=dict(kubelet.system_reserved),
        kubeReserved=dict(kubelet.kube_reserved),
        evictionHard=dict(kubelet.eviction_hard),
        evictionSoft=dict(kubelet.eviction_soft),
        evictionSoftGracePeriod=dict(kubelet.eviction_soft_grace_period),
        evictionMaxPodGracePeriod=kubelet.eviction_max_pod_grace_period,
        imageGCHighThresholdPercent=kubelet.image_gc_high_threshold_percent,
        imageGCLowThresholdPercent=kubelet.image_gc_low_threshold_percent,
        cpuCFSQuota=kubelet.cpu_cfs_quota,
    )
