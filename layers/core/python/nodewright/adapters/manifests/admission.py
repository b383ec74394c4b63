"""What an API server adds to objects on their way in, for manifests that never went there."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from nodewright.adapters.manifests.container_defaults import NO_AMOUNTS, NO_DEFAULTS, Amounts, ContainerDefaults

Object = Mapping[str, object]

#: Every cluster has these.
_SYSTEM_PRIORITIES: Final = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


@dataclass(frozen=True, slots=True)
class Admission:
    """Of one cluster."""

    defaults: ContainerDefaults = field(default_factory=lambda: NO_DEFAULTS)
    priorities: Mapping[str, int] = field(default_factory=lambda: _SYSTEM_PRIORITIES)
    """By PriorityClass."""
    default_priority: int = 0
    runtimes: Mapping[str, Object] = field(default_factory=dict)
    """RuntimeClass objects by name."""

    @classmethod
    def of(
        cls, defaults: ContainerDefaults, priority_classes: Iterable[Object], runtime_classes: Iterable[Object]
    ) -> "Admission":
        """Of several global default priorities the lowest counts."""
        valued = [(each, value) for each in priority_classes if isinstance(value := each.get("value"), int)]
        global_defaults = [value for each, value in valued if each.get("globalDefault") is True]
        return cls(
            defaults=defaults,
            priorities={**_SYSTEM_PRIORITIES, **{_name(each): value for each, value in valued}},
            default_priority=min(global_defaults, default=0),
            runtimes={_name(each): each for each in runtime_classes},
        )

    def missing(self, pod: Object) -> Iterator[tuple[str, str]]:
        """Kind and name of classes that a pod names and that aren't known here."""
        spec = _map(pod.get("spec"))
        named = (
            ("PriorityClass", spec.get("priorityClassName"), self.priorities),
            ("RuntimeClass", spec.get("runtimeClassName"), self.runtimes),
        )
        return ((kind, name) for kind, name, known in named if isinstance(name, str) and name and name not in known)

    def knowing(self, kind: str, found: Object) -> "Admission":
        """With one class more."""
        if kind == "RuntimeClass":
            return replace(self, runtimes={**self.runtimes, _name(found): found})
        value = found.get("value")
        return replace(self, priorities={**self.priorities, _name(found): value if isinstance(value, int) else 0})

    def pod(self, pod: Object) -> Object:
        """A pod; one that has a time of creation went through admission already."""
        metadata, spec = _map(pod.get("metadata")), pod.get("spec")
        if metadata.get("creationTimestamp") or not isinstance(spec, Mapping):
            return pod
        return {**pod, "spec": self._spec(_namespace(pod), spec)}

    def _spec(self, namespace: str, spec: Object) -> Object:
        admitted = {"priority": self._priority(spec), **_given(spec)}
        runtime = self.runtimes.get(str(spec.get("runtimeClassName")))
        if runtime:
            admitted = _with_runtime(admitted, runtime)
        return _filled(admitted, self.defaults.get(namespace, NO_AMOUNTS))

    def _priority(self, spec: Object) -> int:
        name = spec.get("priorityClassName")
        return self.priorities.get(str(name), 0) if name else self.default_priority


def admit_node(node: Object) -> Object:
    """A Node as its kubelet would report it: one that says nothing of its condition is taken for Ready."""
    status, metadata = _map(node.get("status")), _map(node.get("metadata"))
    labels = {"kubernetes.io/hostname": _name(node), **_map(metadata.get("labels"))}
    return {
        **node,
        "metadata": {**metadata, "labels": labels},
        "status": {
            **status,
            "conditions": status.get("conditions") or [{"type": "Ready", "status": "True"}],
            "allocatable": status.get("allocatable") or status.get("capacity") or {},
        },
    }


def _with_runtime(spec: Object, runtime: Object) -> dict[str, object]:
    """With the overhead of its sandbox, and on nodes that have it."""
    overhead, scheduling = _map(runtime.get("overhead")).get("podFixed"), _map(runtime.get("scheduling"))
    added = {
        "overhead": spec.get("overhead") or overhead,
        "nodeSelector": {**_map(spec.get("nodeSelector")), **_map(scheduling.get("nodeSelector"))},
        "tolerations": [*_items(spec.get("tolerations")), *_items(scheduling.get("tolerations"))],
    }
    return {**spec, **{name: value for name, value in added.items() if value}}


def _given(spec: Object) -> dict[str, object]:
    return {name: value for name, value in spec.items() if value is not None}


def _filled(spec: Object, defaults: Amounts) -> Object:
    """With requests in containers that name none; what has a limit requests that by itself."""
    if not defaults:
        return spec
    kinds = [kind for kind in ("containers", "initContainers") if isinstance(spec.get(kind), list)]
    return {**spec, **{kind: [_with_requests(each, defaults) for each in _items(spec[kind])] for kind in kinds}}


def _with_requests(container: object, defaults: Amounts) -> object:
    if not isinstance(container, Mapping):
        return container
    resources = _map(container.get("resources"))
    requests, limits = _map(resources.get("requests")), _map(resources.get("limits"))
    missing = {name: amount for name, amount in defaults.items() if name not in requests and name not in limits}
    return {**container, "resources": {**resources, "requests": {**requests, **missing}}}


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _namespace(raw: Object) -> str:
    return str(_map(raw.get("metadata")).get("namespace") or "default")


def _name(raw: Object) -> str:
    return str(_map(raw.get("metadata")).get("name") or "")


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
