"""What an API server adds to objects on their way in, for manifests that never went there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

Object = Mapping[str, object]

#: Every cluster has these.
_SYSTEM_PRIORITIES: Final = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


@dataclass(frozen=True, slots=True)
class Priorities:
    """The cluster's PriorityClasses."""

    values: Mapping[str, int] = field(default_factory=lambda: _SYSTEM_PRIORITIES)
    default: int = 0

    @classmethod
    def of(cls, classes: Iterable[Object]) -> "Priorities":
        """Of several global defaults the lowest counts, as in the API server."""
        known, defaults = dict(_SYSTEM_PRIORITIES), []
        for each in classes:
            value = each.get("value")
            if not isinstance(value, int) or isinstance(value, bool):
                continue
            known[_name(each)] = value
            if each.get("globalDefault") is True:
                defaults.append(value)
        return cls(known, min(defaults, default=0))

    def admit(self, pod: Object) -> Object:
        """The pod with its class's priority; one that has a priority went through admission already."""
        spec = _map(pod.get("spec"))
        if spec.get("priority") is not None:
            return pod
        name = spec.get("priorityClassName")
        priority = self.values.get(str(name), 0) if name else self.default
        return {**pod, "spec": {**spec, "priority": priority}} if priority else pod

    def lacks(self, pod: Object) -> str | None:
        """The class it names and that isn't there."""
        name = _map(pod.get("spec")).get("priorityClassName")
        return str(name) if name and str(name) not in self.values else None


def admit_node(node: Object) -> Object:
    """A Node as its kubelet would report it: one that says nothing of its condition is taken for Ready."""
    status = _map(node.get("status"))
    if status.get("conditions") and status.get("allocatable") and _has_hostname(node):
        return node
    metadata = _map(node.get("metadata"))
    labels = {"kubernetes.io/hostname": _name(node), **_map(metadata.get("labels"))}
    ready = [{"type": "Ready", "status": "True"}]
    return {
        **node,
        "metadata": {**metadata, "labels": labels},
        "status": {
            **status,
            "conditions": status.get("conditions") or ready,
            "allocatable": status.get("allocatable") or status.get("capacity") or {},
        },
    }


def _has_hostname(node: Object) -> bool:
    return "kubernetes.io/hostname" in _map(_map(node.get("metadata")).get("labels"))


def _name(raw: Object) -> str:
    return str(_map(raw.get("metadata")).get("name") or "")


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
