"""Kubernetes clusters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from nodewright.domain.buffer_status import BufferReading, BufferStatus
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.headroom import CapacityBuffer
from nodewright.domain.nodeclasses import NodeClass
from nodewright.domain.nodes import Node
from nodewright.domain.overlays import NodeOverlay
from nodewright.domain.pods import DaemonSet, Owner, Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.storage import NO_STORAGE, Storage
from nodewright.domain.taints import Taint
from nodewright.domain.topology import Namespaces
from nodewright.domain.workloads import Workload


@dataclass(frozen=True, slots=True)
class ManifestWarning:
    """Something in a manifest we can't honour, with the field's path and the fix."""

    object: str
    path: str
    message: str


@dataclass(frozen=True, slots=True)
class ClusterState:
    """One consistent-enough reading of a cluster."""

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    """All that are not terminal, bound or not."""
    pools: tuple[NodePool, ...]
    node_classes: tuple[NodeClass, ...]
    daemon_sets: tuple[DaemonSet, ...]
    warnings: tuple[ManifestWarning, ...] = ()
    overlays: tuple[NodeOverlay, ...] = ()
    storage: Storage = NO_STORAGE
    namespaces: Namespaces | None = field(default_factory=dict)
    """None where they may not be listed."""
    buffers: tuple[CapacityBuffer, ...] = ()
    buffer_readings: tuple[BufferReading, ...] = ()
    """Of all buffers that are ours to carry out, those that can't be used among them."""


class Cluster(Protocol):
    """One Kubernetes cluster."""

    def read(self) -> ClusterState:
        """Nodes, pods, pools, classes, DaemonSets, volumes, namespaces and capacity buffers."""
        ...

    def node_pools(self) -> tuple[NodePool, ...]:
        """The pools alone: cheap, whatever the size of the cluster."""
        ...

    def pending_pods(self) -> tuple[Pod, ...]:
        """Unbound pods only (field selector spec.nodeName=): cheap enough to ask twice in a second."""
        ...

    def workload(self, namespace: str, owner: Owner) -> Workload | None:
        """The controller of pods, one GET; None for a kind that can't be asked. NotFoundError where it is no more."""
        ...

    def register_node(self, name: str, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> None:
        """Patch labels, take taints off and put our finalizer on (unless it is being deleted already), in one
        write guarded by the node's resourceVersion.
        """
        ...

    def nominate(self, pod: PodKey, uid: str, node: str) -> None:
        """Set `status.nominatedNodeName` of this very pod, or take it away: an empty node.

        ConflictError when it is another by now.
        """
        ...

    def tell_buffer(self, buffer: PodKey, version: str, status: BufferStatus) -> None:
        """Set a capacity buffer's status. ConflictError when it isn't what it was at that resourceVersion.

        NotFoundError also where its kind has no status; RefusedError says what is missing, or wrong with it.
        """
        ...

    def record_event(self, pod: PodKey, uid: str, reason: str, message: str, now: datetime) -> None:
        """A Kubernetes event on a pod, from controller `nodewright.dev/provisioner`; repeats are merged."""
        ...


class Clusters(Protocol):
    """Opens connected clusters."""

    def open(self, cluster: ConnectedCluster) -> Cluster:
        """A client for it, kept warm; no call is made yet."""
        ...
