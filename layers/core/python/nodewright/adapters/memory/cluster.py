"""A Kubernetes cluster in memory: objects that a test puts there, and what was written to them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from nodewright.application.errors import NotFoundError, UnreachableError
from nodewright.application.ports import ClusterState, ManifestWarning
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.nodeclasses import NodeClass
from nodewright.domain.nodes import Node
from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.taints import Taint


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
    """Holds what it is given; schedules nothing by itself."""

    nodes: dict[str, Node] = field(default_factory=dict)
    pods: dict[PodKey, Pod] = field(default_factory=dict)
    pools: dict[str, NodePool] = field(default_factory=dict)
    node_classes: dict[str, NodeClass] = field(default_factory=dict)
    daemon_sets: tuple[DaemonSet, ...] = ()
    warnings: tuple[ManifestWarning, ...] = ()
    events: list[RecordedEvent] = field(default_factory=list)
    reachable: bool = True

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
        self.pods[key] = replace(self.pods[key], node_name=node, phase="Running", unschedulable=False)

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
        )

    def node_pools(self) -> tuple[NodePool, ...]:
        """Sorted by name."""
        return self.read().pools

    def pending_pods(self) -> tuple[Pod, ...]:
        """Those without a node."""
        return tuple(pod for pod in self.read().pods if not pod.node_name)

    def register_node(self, name: str, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> None:
        """Add labels, take taints off. NotFoundError when the node went away."""
        self._answer()
        if name not in self.nodes:
            raise NotFoundError(f"node {name} is not there")
        node = self.nodes[name]
        taints = tuple(taint for taint in node.taints if taint not in remove_taints)
        self.nodes[name] = replace(node, labels={**node.labels, **labels}, taints=taints)

    def record_event(self, pod: PodKey, uid: str, reason: str, message: str, now: datetime) -> None:
        """Write it down; the same again counts up."""
        self._answer()
        for event in self.events:
            if (event.pod, event.uid, event.reason, event.message) == (pod, uid, reason, message):
                event.count, event.last = event.count + 1, now
                return
        self.events.append(RecordedEvent(pod, uid, reason, message, now, now))

    def _answer(self) -> None:
        if not self.reachable:
            raise UnreachableError("the API server doesn't answer")


@dataclass
class InMemoryClusters:
    """Clusters by name; one that was never put there opens empty."""

    by_name: dict[str, InMemoryCluster] = field(default_factory=dict)

    def open(self, cluster: ConnectedCluster) -> InMemoryCluster:
        """The same each time."""
        return self.by_name.setdefault(cluster.name, InMemoryCluster())
