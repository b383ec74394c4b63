"""A Kubernetes cluster in memory: objects that a test puts there, and what was written to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from nodewright.adapters.memory.clock import VirtualClock
from nodewright.adapters.memory.departures import Budget, dying, ended
from nodewright.application.errors import ConflictError, NotFoundError, UnreachableError
from nodewright.application.ports import ClusterState, ManifestWarning
from nodewright.application.retirement_ports import Eviction
from nodewright.domain.buffer_status import BufferReading, BufferStatus
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.headroom import CapacityBuffer
from nodewright.domain.nodeclasses import NodeClass
from nodewright.domain.nodes import Node
from nodewright.domain.overlays import NodeOverlay
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget, blocking
from nodewright.domain.pods import DaemonSet, Owner, Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.storage import NO_STORAGE, Storage
from nodewright.domain.taints import Taint
from nodewright.domain.topology import Namespaces
from nodewright.domain.workloads import Workload

#: The moment at which a world without a clock stands.
_STILL = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class RecordedEvent:
    """An event, with how often it was repeated."""

    pod: PodKey
    uid: str
    reason: str
    message: str
    first: datetime
    last: datetime
    count: int = 1


@dataclass
class InMemoryCluster:
    """Holds what it is given; schedules nothing by itself. Pods that were told to go do so in virtual time."""

    clock: VirtualClock | None = None
    """Without one, time stands still: who is told to go is gone."""

    nodes: dict[str, Node] = field(default_factory=dict)
    pods: dict[PodKey, Pod] = field(default_factory=dict)
    pools: dict[str, NodePool] = field(default_factory=dict)
    node_classes: dict[str, NodeClass] = field(default_factory=dict)
    daemon_sets: tuple[DaemonSet, ...] = ()
    warnings: tuple[ManifestWarning, ...] = ()
    overlays: tuple[NodeOverlay, ...] = ()
    storage: Storage = NO_STORAGE
    namespaces: Namespaces | None = field(default_factory=dict)
    buffers: tuple[CapacityBuffer, ...] = ()
    buffer_readings: dict[PodKey, BufferReading] = field(default_factory=dict)
    workloads: dict[tuple[str, str, str], Workload] = field(default_factory=dict)
    """By namespace, kind and name."""
    events: list[RecordedEvent] = field(default_factory=list)
    budgets: dict[str, Budget] = field(default_factory=dict)
    volumes: dict[PodKey, tuple[str, ...]] = field(default_factory=dict)
    """Of a pod, attached to its node until it is gone and so much longer:"""
    detaching: timedelta = timedelta()
    finalized: set[str] = field(default_factory=set)
    """Nodes that carry our finalizer."""
    evictions: list[PodKey] = field(default_factory=list)
    """Asked for, in order."""
    reachable: bool = True
    _detaching: dict[str, tuple[str, datetime]] = field(default_factory=dict)

    def add(self, *things: Node | Pod | NodePool | NodeClass) -> None:
        """Put objects there, or replace them."""
        for thing in things:
            match thing:
                case Node():
                    self.nodes[thing.name] = thing
                case Pod():
                    self.pods[thing.key] = thing
                case NodePool():
                    self.pools[thing.name] = thing
                case NodeClass():
                    self.node_classes[thing.name] = thing

    def bind(self, key: PodKey, node: str) -> None:
        """What kube-scheduler does: the pod runs on the node."""
        self.pods[key] = replace(self.pods[key], node_name=node, phase="Running", unschedulable=False, ready=True)

    def remove_node(self, name: str) -> None:
        """What `kubectl delete node` does: one with a finalizer waits for it."""
        if name in self.finalized:
            self.nodes[name] = replace(self.nodes[name], terminating=True)
        else:
            self.nodes.pop(name, None)

    def read(self) -> ClusterState:
        """Everything, sorted by name."""
        self._answer()
        return ClusterState(
            nodes=tuple(self.nodes[name] for name in sorted(self.nodes)),
            pods=tuple(pod for _, pod in sorted(self.pods.items()) if not pod.is_terminal),
            pools=tuple(self.pools[name] for name in sorted(self.pools)),
            node_classes=tuple(self.node_classes[name] for name in sorted(self.node_classes)),
            daemon_sets=self.daemon_sets,
            warnings=self.warnings,
            overlays=self.overlays,
            storage=self.storage,
            namespaces=self.namespaces,
            buffers=self.buffers,
            buffer_readings=tuple(reading for _, reading in sorted(self.buffer_readings.items())),
        )

    def node_pools(self) -> tuple[NodePool, ...]:
        """Sorted by name."""
        return self.read().pools

    def pending_pods(self) -> tuple[Pod, ...]:
        """Those without a node."""
        return tuple(pod for pod in self.read().pods if not pod.node_name)

    def workload(self, namespace: str, owner: Owner) -> Workload | None:
        """NotFoundError when it went away."""
        self._answer()
        found = self.workloads.get((namespace, owner.kind, owner.name))
        if found is None:
            raise NotFoundError(f"{owner.kind} {namespace}/{owner.name} is not there")
        return found

    def register_node(self, name: str, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> None:
        """Labels and finalizer on, taints off. NotFoundError when the node went away."""
        self._answer()
        if name not in self.nodes:
            raise NotFoundError(f"node {name} is not there")
        node = self.nodes[name]
        taints = tuple(taint for taint in node.taints if taint not in remove_taints)
        self.nodes[name] = replace(node, labels={**node.labels, **labels}, taints=taints)
        if not node.terminating:
            self.finalized.add(name)

    def nominate(self, pod: PodKey, uid: str, node: str) -> None:
        """NotFoundError when it went away, ConflictError when it is another by now, or bound."""
        self._answer()
        if pod not in self.pods:
            raise NotFoundError(f"pod {pod} is not there")
        if self.pods[pod].uid != uid:
            raise ConflictError(f"pod {pod} is another one by now")
        if self.pods[pod].node_name:
            raise ConflictError(f"pod {pod} is already bound to a node")
        self.pods[pod] = replace(self.pods[pod], nominated_node_name=node)

    def tell_buffer(self, buffer: PodKey, version: str, status: BufferStatus) -> None:
        """NotFoundError when it went away, ConflictError when it changed; told, it is of another version."""
        self._answer()
        if buffer not in self.buffer_readings:
            raise NotFoundError(f"CapacityBuffer {buffer} is not there")
        known = self.buffer_readings[buffer]
        if known.version != version:
            raise ConflictError(f"CapacityBuffer {buffer} is of version {known.version} by now")
        self.buffer_readings[buffer] = replace(known, told=status, version=f"{version}+")

    def record_event(self, pod: PodKey, uid: str, reason: str, message: str, now: datetime) -> None:
        """Write it down; the same again counts up."""
        self._answer()
        for event in self.events:
            if (event.pod, event.uid, event.reason, event.message) == (pod, uid, reason, message):
                event.count, event.last = event.count + 1, now
                return
        self.events.append(RecordedEvent(pod, uid, reason, message, now, now))

    def disruption_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        """With what they allow now."""
        self._answer()
        return tuple(self.budgets[name].counted(self.pods.values()) for name in sorted(self.budgets))

    def node_of(self, instance_id: str, name: str) -> Node | None:
        """By its instance, and its name where one is given."""
        self._answer()
        found = (node for node in self.nodes.values() if node.instance_id == instance_id and name in {"", node.name})
        return next(found, None)

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """Sorted by name."""
        return tuple(pod for pod in self.read().pods if pod.node_name == node)

    def mark_node(self, name: str, taint: Taint, labels: Mapping[str, str]) -> None:
        """NotFoundError when the node went away."""
        self._answer()
        if name not in self.nodes:
            raise NotFoundError(f"node {name} is not there")
        node = self.nodes[name]
        taints = node.taints if taint in node.taints else (*node.taints, taint)
        self.nodes[name] = replace(node, labels={**node.labels, **labels}, taints=taints)

    def unmark_node(self, name: str, taint: Taint, labels: Sequence[str]) -> None:
        """Nothing where it isn't there."""
        self._answer()
        if name in self.nodes:
            node = self.nodes[name]
            kept = {key: value for key, value in node.labels.items() if key not in labels}
            self.nodes[name] = replace(node, labels=kept, taints=tuple(t for t in node.taints if t != taint))

    def evict(self, pod: PodKey, uid: str) -> Eviction:
        """As the API server decides it, on budgets counted this moment."""
        self._answer()
        self.evictions.append(pod)
        known = self.pods.get(pod)
        if known is None or known.uid != uid:
            return Eviction("gone")
        refusal = blocking(known, self.disruption_budgets()) if not known.terminating else ""
        if refusal:
            return Eviction("later", refusal)
        self._let_go(known, known.termination_grace_seconds)
        return Eviction("evicted")

    def delete_pod(self, pod: PodKey, uid: str, grace_seconds: int) -> None:
        """Whatever a budget says."""
        self._answer()
        known = self.pods.get(pod)
        if known is not None and known.uid == uid:
            self._let_go(known, grace_seconds)

    def attached_volumes(self, node: str) -> tuple[str, ...]:
        """Of pods there, and those still being detached."""
        self._answer()
        held = {
            v for key, vs in self.volumes.items() for v in vs if key in self.pods and self.pods[key].node_name == node
        }
        return tuple(
            sorted(held | {v for v, (where, until) in self._detaching.items() if where == node and until > self._now()})
        )

    def delete_node(self, name: str, uid: str) -> None:
        """With its finalizer."""
        self._answer()
        if name in self.nodes and self.nodes[name].uid == uid:
            del self.nodes[name]
            self.finalized.discard(name)

    def _let_go(self, pod: Pod, grace_seconds: int) -> None:
        """A pod without a grace, or in a world without time, is gone at once."""
        self.pods[pod.key] = dying(pod, self._now(), grace_seconds if self.clock else 0)
        self.bury()

    def bury(self) -> None:
        """Pods whose grace is over are gone; their volumes are being detached."""
        for pod in ended(self.pods, self._now()):
            del self.pods[pod.key]
            end = (pod.deletion or self._now()) + self.detaching
            self._detaching |= dict.fromkeys(self.volumes.get(pod.key, ()), (pod.node_name, end))

    def _now(self) -> datetime:
        return self.clock.now() if self.clock else _STILL

    def _answer(self) -> None:
        if not self.reachable:
            raise UnreachableError("the API server doesn't answer")
        self.bury()


@dataclass
class InMemoryClusters:
    """Clusters by name; one that was never put there opens empty."""

    by_name: dict[str, InMemoryCluster] = field(default_factory=dict)

    def open(self, cluster: ConnectedCluster) -> InMemoryCluster:
        """The same each time."""
        return self.by_name.setdefault(cluster.name, InMemoryCluster())
