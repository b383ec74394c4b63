"""Workloads of an input whose missing pods are to be expected: some of their pods are there, and one of these waits."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from nodewright.adapters.manifests.workloads import LivePods
from nodewright.adapters.manifests.world_objects import key_of, shown
from nodewright.application.ports import ManifestWarning
from nodewright.domain.expected_pods import LOOK_AHEAD, OFF, setting_problem

Object = Mapping[str, object]

_FORESEEN: Final = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "Job"})


def is_foreseen(workload: Object, live: LivePods, find: Callable[[str, str, str], Object | None]) -> bool:
    """As provision sees it in a cluster (domain/expected_pods.py), but for the pace, which an input doesn't tell."""
    kind, (namespace, name) = str(workload.get("kind")), key_of(workload)
    spec = _map(workload.get("spec"))
    if kind not in _FORESEEN or (kind == "StatefulSet" and spec.get("podManagementPolicy") != "Parallel"):
        return False
    pods = [find("Pod", namespace, pod) or {} for pod in live.owned.get((kind, namespace, name), ())]
    if not any(map(_waits, pods)) or any(_map(pod.get("spec")).get("schedulingGates") for pod in pods):
        return False
    told = any(map(_is_off, (workload, _map(spec.get("template")), *pods)))
    return not (told or _fails(workload) or _map(workload.get("metadata")).get("deletionTimestamp"))


def misread(workload: Object) -> Iterator[ManifestWarning]:
    """Values of the setting that nobody knows, of the workload and of its pod template."""
    template = _map(_map(workload.get("spec")).get("template"))
    for path, raw in (("metadata", workload), ("spec.template.metadata", template)):
        if problem := setting_problem(_setting(raw)):
            yield ManifestWarning(shown(workload), f"{path}.annotations.{LOOK_AHEAD}", problem)


def _waits(pod: Object) -> bool:
    return not _map(pod.get("spec")).get("nodeName") and _map(pod.get("status")).get("phase", "Pending") == "Pending"


def _is_off(raw: Object) -> bool:
    return _setting(raw) == OFF


def _setting(raw: Object) -> str:
    """YAML takes an unquoted `off` for false."""
    value = _map(_map(raw.get("metadata")).get("annotations")).get(LOOK_AHEAD, "")
    return OFF if value is False else str(value)


def _fails(workload: Object) -> bool:
    conditions = _map(workload.get("status")).get("conditions")
    return any(
        (_map(each).get("type"), _map(each).get("status")) == ("ReplicaFailure", "True")
        for each in (conditions if isinstance(conditions, list) else ())
    )


def _map(value: object) -> Object:
    return value if isinstance(value, Mapping) else {}
