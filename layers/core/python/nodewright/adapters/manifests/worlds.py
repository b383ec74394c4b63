"""A cluster read from manifests alone: what `nodewright plan` looks at instead of an API server."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from nodewright.adapters.manifests.admission import Admission, admit_node
from nodewright.adapters.manifests.capacity_buffers import BufferReader, Reference
from nodewright.adapters.manifests.configuration import read_configuration
from nodewright.adapters.manifests.container_defaults import container_defaults, read_limit_ranges
from nodewright.adapters.manifests.daemon_sets import read_daemon_sets
from nodewright.adapters.manifests.foreseen import is_foreseen, misread
from nodewright.adapters.manifests.missing_classes import with_classes
from nodewright.adapters.manifests.namespaces import read_namespaces
from nodewright.adapters.manifests.node_claims import claims_of_nodes, read_node_claims
from nodewright.adapters.manifests.nodes import NodeAmounts, read_nodes
from nodewright.adapters.manifests.overlays import read_overlays
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.adapters.manifests.pods import read_pods
from nodewright.adapters.manifests.workloads import WORKLOADS, Grown, LivePods, WorkloadError, controller, grow
from nodewright.adapters.manifests.world_objects import WorldObjects, key_of, shown
from nodewright.adapters.manifests.world_storage import listed, read_storage
from nodewright.application.errors import NotFoundError
from nodewright.application.ports import ClusterState, ManifestWarning
from nodewright.domain.claims import NodeClaim
from nodewright.domain.pods import Pod, PodKey

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
    expected: tuple[Pod, ...] = ()
    """Pods that workloads are about to make; those that are there are in `state`."""


def read_world(objects: Iterable[Object]) -> World:
    """Objects of any kinds in any order; what can't be read is a warning of `state`, and the rest is read."""
    sorted_out = WorldObjects.of_input(objects)
    state, expected = _state(sorted_out)
    claims = read_node_claims(listed(sorted_out.of("NodeClaim", "Machine")), NodeAmounts())
    return World(
        state=state,
        claims=(*claims.items, *claims_of_nodes(state.nodes, claims.items, state.pools)),
        kubernetes=_kubernetes(sorted_out.of("Node")),
        names_pools=bool(sorted_out.of("NodePool", "Provisioner")),
        expected=expected,
    )


def _state(objects: WorldObjects) -> tuple[ClusterState, tuple[Pod, ...]]:
    specs = PodSpecs()
    limit_ranges = read_limit_ranges(listed(objects.of("LimitRange")))
    defaults = container_defaults(limit_ranges.items)
    admission = Admission.of(defaults, objects.of("PriorityClass"), objects.of("RuntimeClass"))
    grown, foreseen, workload_warnings = _grown(objects)
    pods = read_pods(listed(map(admission.pod, [*objects.of("Pod"), *grown.pods])), specs)
    there, expected = _parted(pods.items, foreseen)
    buffers = BufferReader(partial(_referred, objects), admission).read(objects.of("CapacityBuffer"))
    nodes = read_nodes(listed(map(admit_node, objects.of("Node"))), NodeAmounts())
    daemon_sets = read_daemon_sets(listed(objects.of("DaemonSet")), specs, defaults)
    namespaces = read_namespaces(listed(objects.of("Namespace")))
    storage, storage_warnings = read_storage(objects, grown.claims, pods.items)
    classes = objects.of("EC2NodeClass", "AWSNodeTemplate")
    read = read_configuration(objects.of("NodePool", "Provisioner"), classes)
    configuration = with_classes(read, (key_of(each)[1] for each in classes))
    overlays, overlay_warnings = read_overlays(objects.of("NodeOverlay"))
    state = ClusterState(
        nodes=nodes.items,
        pods=there,
        pools=configuration.pools,
        node_classes=configuration.node_classes,
        daemon_sets=daemon_sets.items,
        storage=storage,
        namespaces=dict(namespaces.items),
        warnings=(
            *objects.warnings,
            *workload_warnings,
            *limit_ranges.warnings,
            *pods.warnings,
            *nodes.warnings,
            *daemon_sets.warnings,
            *namespaces.warnings,
            *storage_warnings,
            *configuration.warnings,
            *overlay_warnings,
            *buffers.warnings,
        ),
        overlays=overlays,
        buffers=buffers.buffers,
    )
    return state, expected


def _parted(pods: Iterable[Pod], foreseen: Collection[PodKey]) -> tuple[tuple[Pod, ...], tuple[Pod, ...]]:
    """Those that are there or are given as if they were, and those to be expected."""
    every = tuple(pods)
    expected = (replace(pod, stands_for="expected") for pod in every if pod.key in foreseen)
    return tuple(pod for pod in every if pod.key not in foreseen), tuple(expected)


def _referred(objects: WorldObjects, reference: Reference) -> Object:
    found = objects.find(*reference)
    if found is None:
        raise NotFoundError(f"{reference.kind} {reference.namespace}/{reference.name} is not in the input")
    return found


def _grown(objects: WorldObjects) -> tuple[Grown, frozenset[PodKey], list[ManifestWarning]]:
    """What workloads still want, and which of it is to be expected only."""
    live = LivePods.of(objects.of("Pod"), objects.of("ReplicaSet"))
    pods: list[Object] = []
    claims: list[Object] = []
    foreseen: set[PodKey] = set()
    warnings: list[ManifestWarning] = []
    for workload in objects.of(*WORKLOADS):
        if _is_made_by_one_of(objects, workload):
            continue
        expected = is_foreseen(workload, live, objects.find)
        warnings += misread(workload)
        try:
            grown = grow(workload, live, expected=expected)
        except WorkloadError as error:
            warnings.append(ManifestWarning(shown(workload), error.path, f"{error.message}; its pods are left out"))
            continue
        pods += grown.pods
        claims += grown.claims
        foreseen |= {PodKey(*key_of(each)) for each in grown.pods} if expected else set()
    return Grown(tuple(pods), tuple(claims)), frozenset(foreseen), warnings


def _is_made_by_one_of(objects: WorldObjects, workload: Object) -> bool:
    """Whether it stands for the pods of another that is there: a ReplicaSet for its Deployment's, a Job …"""
    owner = controller(workload)
    if owner is None or owner[0] not in WORKLOADS:
        return False
    namespace, _ = key_of(workload)
    return objects.has(owner[0], {"kind": owner[0], "metadata": {"namespace": namespace, "name": owner[1]}})


def _kubernetes(nodes: Iterable[Object]) -> str:
    newest = max((_minor(each) for each in nodes), default=(0, 0))
    return "{}.{}".format(*newest) if newest > (0, 0) else ""


def _minor(node: Object) -> tuple[int, int]:
    status = node.get("status")
    info = status.get("nodeInfo") if isinstance(status, Mapping) else None
    version = str(info.get("kubeletVersion", "")) if isinstance(info, Mapping) else ""
    parts = version.removeprefix("v").split(".")
    return (int(parts[0]), int(parts[1])) if len(parts) > 2 and parts[0].isdigit() and parts[1].isdigit() else (0, 0)
