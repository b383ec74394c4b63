"""Kubelet settings, which v1 keeps on the class and v1beta1 on the pool."""

import re
from collections.abc import Callable, Mapping

from nodewright.adapters.manifests.fields import Fields
from nodewright.domain.nodeclasses import Kubelet
from nodewright.domain.quantities import parse_quantity

_RESERVED = frozenset({"cpu", "memory", "ephemeral-storage", "pid"})
_SIGNALS = frozenset(
    {
        "memory.available",
        "nodefs.available",
        "nodefs.inodesFree",
        "imagefs.available",
        "imagefs.inodesFree",
        "pid.available",
    }
)
_PERCENT = re.compile(r"(?:100|[0-9]{1,2})(?:\.[0-9]+)?%")
_GRACE = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+")
_OWN_USER_DATA = "it is not passed on to kubelet; correct its spelling, or set it by userData of the class"


def read_kubelet(fields: Fields) -> Kubelet:
    """The settings we pass on; an expression or an unreadable amount refuses the object."""
    fields.unknown_otherwise(_OWN_USER_DATA)
    _judge_others(fields)
    kubelet = Kubelet(
        cluster_dns=fields.texts("clusterDNS"),
        max_pods=_pods(fields, "maxPods"),
        pods_per_core=_pods(fields, "podsPerCore"),
        system_reserved=_checked(fields, "systemReserved", _RESERVED, _amount_problem),
        kube_reserved=_checked(fields, "kubeReserved", _RESERVED, _amount_problem),
        eviction_hard=_checked(fields, "evictionHard", _SIGNALS, _threshold_problem),
        eviction_soft=_checked(fields, "evictionSoft", _SIGNALS, _threshold_problem),
        eviction_soft_grace_period=_checked(fields, "evictionSoftGracePeriod", _SIGNALS, _grace_problem),
        eviction_max_pod_grace_period=fields.whole("evictionMaxPodGracePeriod"),
        image_gc_high_threshold_percent=fields.whole("imageGCHighThresholdPercent", highest=100),
        image_gc_low_threshold_percent=fields.whole("imageGCLowThresholdPercent", highest=100),
        cpu_cfs_quota=fields.flag("cpuCFSQuota"),
    )
    _refuse_what_kubelet_would(fields, kubelet)
    return kubelet


def _judge_others(fields: Fields) -> None:
    """What is known and not passed on."""
    if fields.text("containerRuntime", "containerd") != "containerd":
        fields.warn("containerRuntime", "nodes run containerd whatever it says; remove it")
    if "registerWithTaints" in fields:
        fields.refuse("registerWithTaints", "the pool's taints are registered; write them in its template's taints")
        fields.known("registerWithTaints")


def _refuse_what_kubelet_would(fields: Fields, kubelet: Kubelet) -> None:
    """Settings that contradict each other: kubelet wouldn't start with them."""
    unpaired = sorted(kubelet.eviction_soft.keys() ^ kubelet.eviction_soft_grace_period.keys())
    if unpaired:
        missing = (
            f"{', '.join(unpaired)} must stand in evictionSoft and in evictionSoftGracePeriod; add what is missing"
        )
        fields.refuse("evictionSoft", missing)
    high, low = kubelet.image_gc_high_threshold_percent, kubelet.image_gc_low_threshold_percent
    if high is not None and low is not None and high <= low:
        fields.refuse("imageGCLowThresholdPercent", f"{low} is not below imageGCHighThresholdPercent {high}; lower it")


def _pods(fields: Fields, name: str) -> int | None:
    return fields.whole(name, highest=100_000)


def _checked(
    fields: Fields, name: str, keys: frozenset[str], problem_of: Callable[[str], str | None]
) -> Mapping[str, str]:
    read = fields.pairs(name)
    for key, value in read.items():
        problem = problem_of(value) if key in keys else f"the key is not known; there are {', '.join(sorted(keys))}"
        if problem:
            fields.refuse(f"{name}.{key}", problem)
    return read


def _amount_problem(text: str) -> str | None:
    try:
        negative = parse_quantity(text) < 0
    except ValueError as error:
        return str(error)
    return f"{text} is negative" if negative else None


def _threshold_problem(text: str) -> str | None:
    return None if _PERCENT.fullmatch(text) else _amount_problem(text)


def _grace_problem(text: str) -> str | None:
    return None if _GRACE.fullmatch(text) else f"{text!r} is not a duration; write it like 1m30s"
