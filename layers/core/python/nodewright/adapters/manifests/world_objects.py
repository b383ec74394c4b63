"""The objects of an input that matter to a plan, by kind and name."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from nodewright.adapters.manifests.files import unfolded
from nodewright.adapters.manifests.workloads import WORKLOADS
from nodewright.application.ports import ManifestWarning

Object = Mapping[str, object]

#: Kind → API group it must be of where another group has a kind of that name.
_GROUPS: Final = {
    "NodePool": "karpenter.sh",
    "Provisioner": "karpenter.sh",
    "NodeClaim": "karpenter.sh",
    "Machine": "karpenter.sh",
    "NodeOverlay": "karpenter.sh",
    "EC2NodeClass": "karpenter.k8s.aws",
    "AWSNodeTemplate": "karpenter.k8s.aws",
    "Job": "batch",
    "CapacityBuffer": "autoscaling.x-k8s.io",
}
_OF_THE_CLUSTER: Final = frozenset(
    {
        "Node",
        "Namespace",
        "PriorityClass",
        "RuntimeClass",
        "PersistentVolume",
        "StorageClass",
        "CSINode",
        "VolumeAttachment",
    }
)
_OF_A_NAMESPACE: Final = frozenset(
    {"Pod", "DaemonSet", "LimitRange", "PersistentVolumeClaim", "PodTemplate", "CapacityBuffer", *WORKLOADS}
)
#: API groups of Kubernetes' own kinds: whatever kind of theirs is nearly one that matters is a misspelling of it.
_BUILT_IN: Final = frozenset({"", "apps", "batch", "storage.k8s.io", "scheduling.k8s.io", "node.k8s.io"})
_KNOWN: Final = _OF_THE_CLUSTER | _OF_A_NAMESPACE | _GROUPS.keys()


@dataclass(slots=True)
class WorldObjects:
    """Lists are unfolded, and kinds that don't matter here passed over."""

    warnings: list[ManifestWarning] = field(default_factory=list)
    _by_kind: dict[str, dict[tuple[str, str], Object]] = field(default_factory=dict)
    _generated: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of_input(cls, objects: Iterable[Object]) -> "WorldObjects":
        """In any order; of several of one name the last counts, as with `kubectl apply`."""
        found = cls()
        for each in unfolded(objects):
            found.add(each)
        return found

    def add(self, raw: Object) -> None:
        """One object."""
        kind = str(raw.get("kind") or "")
        if not kind:
            self._warn(raw, "kind", "it has no kind, so it is no Kubernetes object and is left out")
        elif kind not in _KNOWN or not _is_of_group(raw, kind):
            self._pass_over(raw, kind)
        else:
            self._keep(self._named(raw), kind)

    def of(self, *kinds: str) -> list[Object]:
        """Those of these kinds."""
        return [each for kind in kinds for each in self._by_kind.get(kind, {}).values()]

    def has(self, kind: str, raw: Object) -> bool:
        """Whether there is one of this kind with the object's name."""
        return key_of(raw) in self._by_kind.get(kind, {})

    def find(self, kind: str, namespace: str, name: str) -> Object | None:
        """The one of this kind and name."""
        return self._by_kind.get(kind, {}).get((namespace, name))

    def _keep(self, raw: Object, kind: str) -> None:
        key = key_of(raw)
        if not key[1]:
            self._warn(raw, "metadata.name", "it has no name, so it is left out; give it one")
            return
        known = self._by_kind.setdefault(kind, {})
        if known.get(key, raw) != raw:
            self._warn(raw, "metadata.name", "it is there more than once; the last one counts")
        known[key] = raw

    def _pass_over(self, raw: Object, kind: str) -> None:
        group, meant = _group(raw), _meant(kind)
        ours = group in _BUILT_IN or group in _GROUPS.values()
        if kind in _GROUPS and (group in _BUILT_IN or kind == "CapacityBuffer"):
            self._warn(raw, "apiVersion", f"a {kind} is of {_GROUPS[kind]}, so this one is left out; correct it")
        elif ours and meant not in {"", kind}:
            self._warn(raw, "kind", f"{kind} is no kind that is known here, so it is left out; did you mean {meant}?")
        elif "karpenter" in group:
            self._warn(raw, "apiVersion", f"{group} has no kind {kind} that is known here, so it is left out")

    def _named(self, raw: Object) -> Object:
        """`kubectl create` makes a name of generateName."""
        metadata = raw.get("metadata")
        prefix = metadata.get("generateName") if isinstance(metadata, Mapping) else None
        if not isinstance(metadata, Mapping) or metadata.get("name") or not prefix:
            return raw
        number = self._generated[str(prefix)] = self._generated.get(str(prefix), -1) + 1
        return {**raw, "metadata": {**metadata, "name": f"{prefix}{number}"}}

    def _warn(self, raw: Object, path: str, message: str) -> None:
        self.warnings.append(ManifestWarning(shown(raw), path, message))


def key_of(raw: Object) -> tuple[str, str]:
    """(namespace, name); the namespace is empty for what has none."""
    metadata = raw.get("metadata")
    fields = metadata if isinstance(metadata, Mapping) else {}
    namespaced = raw.get("kind") in _OF_A_NAMESPACE
    return str(fields.get("namespace") or "default") if namespaced else "", str(fields.get("name") or "")


def shown(raw: Object) -> str:
    """`Pod/default/web`, `NodePool/default`."""
    return "/".join(part for part in (str(raw.get("kind") or "object"), *key_of(raw)) if part)


def _meant(kind: str) -> str:
    """The known kind that is nearly this one; empty where there is none."""
    known = {each.lower(): each for each in sorted(_KNOWN)}
    near = difflib.get_close_matches(kind.lower(), known, 1, cutoff=0.85)
    return known[near[0]] if near else ""


def _is_of_group(raw: Object, kind: str) -> bool:
    """One that names no API at all is taken for what its kind says."""
    return not raw.get("apiVersion") or _group(raw) == _GROUPS.get(kind, _group(raw))


def _group(raw: Object) -> str:
    return str(raw.get("apiVersion") or "").rpartition("/")[0]
