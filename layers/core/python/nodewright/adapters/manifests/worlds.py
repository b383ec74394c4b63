"""A cluster read from manifests alone: what `nodewright plan` looks at instead of an API server."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from nodewright.adapters.manifests.admission import Priorities, admit_node
from nodewright.adapters.manifests.configuration import Configuration, read_configuration
from nodewright.adapters.manifests.daemon_sets import read_daemon_sets
from nodewright.adapters.manifests.files import unfolded
from nodewright.adapters.manifests.node_claims import claims_of_nodes, read_node_claims
from nodewright.adapters.manifests.nodes import NodeAmounts, read_nodes
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.adapters.manifests.pods import read_pods
from nodewright.adapters.manifests.workloads import WORKLOADS, LivePods, WorkloadError, controller, grow
from nodewright.application.ports import ClusterState, ManifestWarning
from nodewright.domain.claims import NodeClaim
from nodewright.domain.nodeclasses import NodeClass, SelectorTerm

Object = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class World:
    """What the manifests come to."""

    state: ClusterState
    claims: tuple[NodeClaim, ...]
    """Nodes on their way in or out."""
    kubernetes: str
    """`1.37`, as the newest of its nodes runs; empty where there are none."""
    names_pools: bool
    """Whether any object says what may be bought, readable or not."""


def read_world(objects: Iterable[Object]) -> World:
    """Objects of any kinds in any order; lists are unfolded, and kinds that don't matter here passed over."""
    sorted_out = _Objects()
    for each in unfolded(objects):
        sorted_out.add(each)
    return _read(sorted_out)


#: Kind → API group it must be of where another group has a kind of that name.
_GROUPS: Final = {
    "NodePool": "karpenter.sh",
    "Provisioner": "karpenter.sh",
    "NodeClaim": "karpenter.sh",
    "Machine": "karpenter.sh",
    "EC2NodeClass": "karpenter.k8s.aws",
    "AWSNodeTemplate": "karpenter.k8s.aws",
    "Job": "batch",
}
_KNOWN: Final = frozenset({"Node", "Pod", "DaemonSet", "PriorityClass", *WORKLOADS, *_GROUPS})
_WITHOUT_NAMESPACE: Final = frozenset({"Node", "PriorityClass", *_GROUPS}) - {"Job"}


@dataclass(slots=True)
class _Objects:
    """Objects that matter, by kind and name."""

    warnings: list[ManifestWarning] = field(default_factory=list)
    _by_kind: dict[str, dict[tuple[str, str], Object]] = field(default_factory=dict)
    _generated: dict[str, int] = field(default_factory=dict)

    def add(self, raw: Object) -> None:
        """One object; a later one of the same name replaces an earlier, as `kubectl apply` would."""
        kind, group = str(raw.get("kind") or ""), str(raw.get("apiVersion") or "").rpartition("/")[0]
        if not kind:
            self._warn(raw, "kind", "it has no kind, so it is no Kubernetes object and is left out")
        if kind not in _KNOWN or (group != _GROUPS.get(kind, group) and raw.get("apiVersion")):
            if "karpenter" in group:
                self._warn(raw, "apiVersion", f"{group} has no kind {kind} that is known here, so it is left out")
            return
        named = self._named(raw)
        key = _key(named, kind)
        if not key[1]:
            self._warn(raw, "metadata.name", "it has no name, so it is left out; give it one")
            return
        known = self._by_kind.setdefault(kind, {})
        if key in known and known[key] != named:
            self._warn(named, "metadata.name", "it is there more than once; the last one counts")
        known[key] = named

    def of(self, *kinds: str) -> list[Object]:
        """Those of these kinds."""
        return [each for kind in kinds for each in self._by_kind.get(kind, {}).values()]

    def _named(self, raw: Object) -> Object:
        """`kubectl create` makes a name of generateName."""
        metadata = raw.get("metadata")
        prefix = metadata.get("generateName") if isinstance(metadata, Mapping) else None
        if not isinstance(metadata, Mapping) or metadata.get("name") or not prefix:
            return raw
        number = self._generated[str(prefix)] = self._generated.get(str(prefix), -1) + 1
        return {**raw, "metadata": {**metadata, "name": f"{prefix}{number}"}}

    def _warn(self, raw: Object, path: str, message: str) -> None:
        self.warnings.append(ManifestWarning(_shown(raw), path, message))


def _read(objects: _Objects) -> World:
    specs = PodSpecs()
    pods, pod_warnings = _pods(objects)
    read = read_pods(_listed(pods), specs)
    nodes = read_nodes(_listed(map(admit_node, objects.of("Node"))), NodeAmounts())
    daemon_sets = read_daemon_sets(_listed(objects.of("DaemonSet")), specs)
    configuration = _with_classes(
        read_configuration(objects.of("NodePool", "Provisioner"), objects.of("EC2NodeClass", "AWSNodeTemplate"))
    )
    claims = read_node_claims(_listed(objects.of("NodeClaim", "Machine")), NodeAmounts())
    unnamed = tuple(claims_of_nodes(nodes.items, claims.items, configuration.pools))
    state = ClusterState(
        nodes=nodes.items,
        pods=read.items,
        pools=configuration.pools,
        node_classes=configuration.node_classes,
        daemon_sets=daemon_sets.items,
        warnings=(
            *objects.warnings,
            *pod_warnings,
            *read.warnings,
            *nodes.warnings,
            *daemon_sets.warnings,
            *claims.warnings,
            *configuration.warnings,
        ),
    )
    return World(
        state=state,
        claims=(*claims.items, *unnamed),
        kubernetes=_kubernetes(objects.of("Node")),
        names_pools=bool(objects.of("NodePool", "Provisioner")),
    )


def _pods(objects: _Objects) -> tuple[list[Object], list[ManifestWarning]]:
    """Pods that are there and those that workloads still want."""
    live = objects.of("Pod")
    replica_sets = objects.of("ReplicaSet")
    there = LivePods.of(live, replica_sets)
    deployments = {_key(each, "Deployment") for each in objects.of("Deployment")}
    grown: list[Object] = []
    warnings: list[ManifestWarning] = []
    for workload in objects.of(*WORKLOADS):
        if _is_made_by(workload, deployments):
            continue
        try:
            grown += grow(workload, there).pods
        except WorkloadError as error:
            path, _, message = str(error).partition(": ")
            warnings.append(ManifestWarning(_shown(workload), path, f"{message}; its pods are left out"))
    priorities = Priorities.of(objects.of("PriorityClass"))
    return [priorities.admit(pod) for pod in (*live, *grown)], warnings


def _is_made_by(workload: Object, deployments: set[tuple[str, str]]) -> bool:
    """Whether it is a ReplicaSet of a Deployment that is there and stands for the same pods."""
    owner = controller(workload)
    namespace, _ = _key(workload, "ReplicaSet")
    return owner is not None and owner[0] == "Deployment" and (namespace, owner[1]) in deployments


def _with_classes(configuration: Configuration) -> Configuration:
    """Pools whose class isn't there are planned with a class of default values."""
    there = {each.name for each in configuration.node_classes}
    missing = {pool.node_class: pool for pool in reversed(configuration.pools) if pool.node_class not in there}
    warnings = [
        ManifestWarning(
            str(pool),
            "spec.template.spec.nodeClassRef.name" if pool.kind == "NodePool" else "spec.providerRef.name",
            f"class {name!r} is not in the input, so it is planned as {_DEFAULT.ami_family} with default values; "
            "add its manifest with -f",
        )
        for name, pool in sorted(missing.items())
    ]
    return Configuration(
        configuration.pools,
        (*configuration.node_classes, *(replace(_DEFAULT, name=name) for name in sorted(missing))),
        (*configuration.warnings, *warnings),
    )


_ANY: Final = (SelectorTerm(tags={"*": "*"}),)
_DEFAULT: Final = NodeClass(
    name="",
    ami_family="AL2023",
    ami_terms=(SelectorTerm(alias="al2023@latest"),),
    subnet_terms=_ANY,
    security_group_terms=_ANY,
)


def _kubernetes(nodes: Iterable[Object]) -> str:
    versions = sorted(_minor(each) for each in nodes)
    return "{}.{}".format(*versions[-1]) if versions and versions[-1] > (0, 0) else ""


def _minor(node: Object) -> tuple[int, int]:
    status = node.get("status")
    info = status.get("nodeInfo") if isinstance(status, Mapping) else None
    version = str(info.get("kubeletVersion", "")) if isinstance(info, Mapping) else ""
    parts = version.removeprefix("v").split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) > 2 and parts[0].isdigit() and parts[1].isdigit() else (0, 0)


def _listed(objects: Iterable[Object]) -> bytes:
    return msgspec.json.encode({"items": list(objects)})


def _key(raw: Object, kind: str) -> tuple[str, str]:
    metadata = raw.get("metadata")
    fields = metadata if isinstance(metadata, Mapping) else {}
    namespace = "" if kind in _WITHOUT_NAMESPACE else str(fields.get("namespace") or "default")
    return namespace, str(fields.get("name") or "")


def _shown(raw: Object) -> str:
    kind = str(raw.get("kind"))
    return "/".join(part for part in (kind, *_key(raw, kind)) if part)
