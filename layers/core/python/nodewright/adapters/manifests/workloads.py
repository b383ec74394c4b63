"""Pods that controllers would make: a Deployment, StatefulSet or Job stands for those of its own that aren't there.

They are named `NAME-0`, `NAME-1` …, so that a plan made from manifests can be read.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

Object = Mapping[str, object]

#: Kinds that stand for pods; a CronJob makes none until its time has come.
WORKLOADS: Final = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Job")
#: More than the largest cluster holds; an extra zero in a manifest is told, not planned.
MOST_REPLICAS: Final = 100_000


class WorkloadError(ValueError):
    """A workload whose pods can't be told."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


@dataclass(frozen=True, slots=True)
class Grown:
    """What a workload adds to what is there."""

    pods: tuple[Object, ...]
    claims: tuple[Object, ...] = ()
    """PersistentVolumeClaims of a StatefulSet's pods, the pods that are there included."""


@dataclass(frozen=True, slots=True)
class LivePods:
    """The pods of the input, by who controls them."""

    names: AbstractSet[tuple[str, str]]
    """(namespace, name) of all, which nothing else may be called."""
    owned: Mapping[tuple[str, str, str], Sequence[str]]
    """(kind, namespace, name) of a controller → names of its pods that count towards its replicas."""

    @classmethod
    def of(cls, pods: Iterable[Object], replica_sets: Iterable[Object]) -> "LivePods":
        """A Deployment's pods are found through its ReplicaSets, in the input or not."""
        deployment_of = {_key(each): owner[1] for each in replica_sets if (owner := controller(each))}
        names: set[tuple[str, str]] = set()
        owned: dict[tuple[str, str, str], list[str]] = {}
        for pod in pods:
            namespace, name = _key(pod)
            names.add((namespace, name))
            for kind, owner_name in _controllers(pod, deployment_of) if _counts(pod) else ():
                owned.setdefault((kind, namespace, owner_name), []).append(name)
        return cls(names, owned)


def grow(workload: Object, live: LivePods, *, expected: bool = False) -> Grown:
    """The pods it still wants, `NAME-expected-0` … where they are foreseen rather than given.

    WorkloadError names the field that can't be understood.
    """
    kind = str(workload.get("kind"))
    namespace, name = _key(workload)
    there = live.owned.get((kind, namespace, name), ())
    wanted = _WANTED[kind](_map(workload.get("spec")), workload)
    template = _map(_map(workload.get("spec")).get("template"))
    if wanted and not template:
        raise WorkloadError("spec.template", "it is missing, so nothing is known of its pods; add it")
    if kind == "StatefulSet":
        return _stateful(workload, template, wanted, there)
    prefix = f"{name}-expected" if expected else name
    names = _free_names(prefix, namespace, wanted - len(there), live.names)
    return Grown(tuple(_pod(workload, template, each, {}) for each in names))


def controller(raw: Object) -> tuple[str, str] | None:
    """(kind, name) of whoever controls an object."""
    references = _map(raw.get("metadata")).get("ownerReferences")
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, Mapping) and reference.get("controller"):
            return str(reference.get("kind", "")), str(reference.get("name", ""))
    return None


def _replicas(spec: Object, _: Object) -> int:
    return _count(spec, "replicas", 1)


def _job_pods(spec: Object, workload: Object) -> int:
    """How many run at once now: what is done, stopped or suspended wants none."""
    status = _map(workload.get("status"))
    conditions = status.get("conditions")
    ended = any(
        _map(each).get("type") in {"Complete", "Failed"} and _map(each).get("status") == "True"
        for each in (conditions if isinstance(conditions, list) else ())
    )
    if ended or spec.get("suspend") is True:
        return 0
    parallel = _count(spec, "parallelism", 1)
    if spec.get("completions") is None:
        return parallel
    return max(0, min(parallel, _count(spec, "completions", 1) - _count(status, "succeeded", 0)))


_WANTED: Final[Mapping[str, Callable[[Object, Object], int]]] = {
    **dict.fromkeys(WORKLOADS, _replicas),
    "Job": _job_pods,
}


def _count(spec: Object, field: str, default: int) -> int:
    given = spec.get(field)
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= MOST_REPLICAS:
        raise WorkloadError(f"spec.{field}", f"{given!r} is not a whole number from 0 to {MOST_REPLICAS}; correct it")
    return given


def _free_names(name: str, namespace: str, count: int, taken: AbstractSet[tuple[str, str]]) -> Iterator[str]:
    number = 0
    while count > 0:
        if (namespace, f"{name}-{number}") not in taken:
            yield f"{name}-{number}"
            count -= 1
        number += 1


def _stateful(workload: Object, template: Object, wanted: int, there: Sequence[str]) -> Grown:
    """Its pods have fixed names, and volumes of their own by those names."""
    _, name = _key(workload)
    first = _count(_map(_map(workload.get("spec")).get("ordinals")), "start", 0)
    names = [f"{name}-{number}" for number in range(first, first + wanted)]
    templates = _map(workload.get("spec")).get("volumeClaimTemplates")
    volumes = [each for each in templates if isinstance(each, Mapping)] if isinstance(templates, list) else []
    pods = (_stateful_pod(workload, template, each, volumes) for each in names if each not in there)
    return Grown(tuple(pods), tuple(_claim(workload, each, pod) for pod in names for each in volumes))


def _stateful_pod(workload: Object, template: Object, name: str, volumes: Sequence[Object]) -> Object:
    pod = _pod(workload, template, name, _stateful_labels(name))
    if not volumes:
        return pod
    own = [{"name": _key(v)[1], "persistentVolumeClaim": {"claimName": f"{_key(v)[1]}-{name}"}} for v in volumes]
    replaced = {each["name"] for each in own}
    spec = _map(pod["spec"])
    given = spec.get("volumes")
    others = [v for v in (given if isinstance(given, list) else ()) if _map(v).get("name") not in replaced]
    return {**pod, "spec": {**spec, "volumes": [*others, *own]}}


def _stateful_labels(name: str) -> dict[str, str]:
    """Those the StatefulSet controller adds."""
    return {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": name.rpartition("-")[2]}


def _claim(workload: Object, template: Object, pod: str) -> Object:
    (namespace, _), (_, name) = _key(workload), _key(template)
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": f"{name}-{pod}", "namespace": namespace},
        "spec": template.get("spec") or {},
        "status": {"phase": "Pending"},
    }


def _pod(workload: Object, template: Object, name: str, labels: Mapping[str, str]) -> Object:
    namespace, owner = _key(workload)
    metadata = _map(template.get("metadata"))
    kind = str(workload.get("kind"))
    uid = str(_map(workload.get("metadata")).get("uid") or f"{kind}/{namespace}/{owner}")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"{kind}/{namespace}/{name}",
            "labels": {**_map(metadata.get("labels")), **labels},
            "annotations": metadata.get("annotations"),
            "ownerReferences": [{"kind": kind, "name": owner, "uid": uid, "controller": True}],
        },
        "spec": template.get("spec") or {},
        "status": {"phase": "Pending"},
    }


def _controllers(pod: Object, deployment_of: Mapping[tuple[str, str], str]) -> Iterator[tuple[str, str]]:
    """Its controller, and that one's Deployment: by the ReplicaSet, else by how Deployments name theirs."""
    owner = controller(pod)
    if owner is None:
        return
    yield owner
    kind, name = owner
    if kind != "ReplicaSet":
        return
    namespace, _ = _key(pod)
    pod_hash = str(_map(_map(pod.get("metadata")).get("labels")).get("pod-template-hash", ""))
    guessed = name.removesuffix(f"-{pod_hash}") if pod_hash else ""
    if deployment := deployment_of.get((namespace, name), guessed if guessed != name else ""):
        yield "Deployment", deployment


def _counts(pod: Object) -> bool:
    """Towards its controller's replicas: not what has ended or is being deleted."""
    phase = _map(pod.get("status")).get("phase")
    return phase not in {"Succeeded", "Failed"} and not _map(pod.get("metadata")).get("deletionTimestamp")


def _key(raw: Object) -> tuple[str, str]:
    metadata = _map(raw.get("metadata"))
    return str(metadata.get("namespace") or "default"), str(metadata.get("name") or "")


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
