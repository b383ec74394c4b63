"""What a cluster does by itself, in virtual time: controllers, kube-scheduler, the end of nodes.

It works on the objects of an `InMemoryCluster`; whoever changes one of them calls `changed`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from nodewright.adapters.memory.cluster import InMemoryCluster
from nodewright.adapters.memory.departures import dying
from nodewright.adapters.memory.kube_scheduler import KubeScheduler, waits
from nodewright.adapters.memory.timeline import Timeline
from nodewright.domain.nodes import Node
from nodewright.domain.pods import DaemonSet, Owner, Pod, PodKey
from nodewright.domain.taints import untolerated
from nodewright.domain.workloads import Workload

#: From a change to what the control plane makes of it.
REACTION: Final = timedelta(milliseconds=20)
#: A node whose lease isn't renewed for so long is no longer Ready (node-monitor-grace-period).
LEASE: Final = timedelta(seconds=50)
#: Then the cloud's node controller asks EC2, and deletes the Node of an instance that is no more.
CLOUD_LOOKS: Final = timedelta(seconds=5)
#: Pods of a Node that is no more are deleted by the pod garbage collector.
QUARANTINE_SECONDS: Final = 40
#: What a DaemonSet's controller lets its pods tolerate.
_BORNE: Final = ("node.kubernetes.io/",)


@dataclass(frozen=True, slots=True)
class Deployment:
    """So many pods like this one."""

    name: str
    replicas: int
    template: Pod
    every: timedelta = timedelta()
    """One pod each time; none: all at once."""
    quota: int | None = None
    """More than so many are refused, and its controller goes on trying."""


def _ignore(_thing: object) -> None:
    """Nobody listens."""


@dataclass
class ControlPlane:
    """`failed_scheduling` hears of each pod once: repeats of the event are updates, which nobody hears of."""

    cluster: InMemoryCluster
    timeline: Timeline
    scheduler: KubeScheduler = field(default_factory=KubeScheduler)
    failed_scheduling: Callable[[Pod], None] = _ignore
    node_changed: Callable[[Node], None] = _ignore
    """Created, Ready or deleted."""
    deployments: dict[str, Deployment] = field(default_factory=dict)
    _due: dict[str, datetime] = field(default_factory=dict)
    """When a Deployment's next pod is made."""
    _told: set[str] = field(default_factory=set)
    _alarm: datetime | None = None
    _numbers: Iterator[int] = field(default_factory=count)
    _awake: bool = False

    def deploy(self, deployment: Deployment) -> None:
        """Apply it: new, or changed."""
        self.deployments[deployment.name] = deployment
        namespace, owner = deployment.template.key.namespace, _owner("ReplicaSet", deployment.name)
        wants = Workload(namespace, owner, deployment.replicas)
        self.cluster.workloads[namespace, owner.kind, owner.name] = wants
        self.changed()

    def scale(self, name: str, replicas: int) -> None:
        """`kubectl scale`."""
        self.deploy(replace(self.deployments[name], replicas=replicas))

    def join(self, node: Node) -> None:
        """Kubelet makes its Node."""
        self.cluster.add(node)
        self._tell(node)

    def ready(self, name: str, gone: tuple[str, ...]) -> None:
        """Kubelet says so; taints of these keys come off."""
        node = self.cluster.nodes.get(name)
        if node is not None:
            kept = tuple(taint for taint in node.taints if taint.key not in gone)
            self.cluster.add(replace(node, ready=True, taints=kept))
            self._tell(self.cluster.nodes[name])

    def delete(self, name: str) -> None:
        """`kubectl delete node`: one with a finalizer waits for it."""
        if name in self.cluster.nodes:
            node = self.cluster.nodes[name]
            self.cluster.remove_node(name)
            self._tell(node)

    def untaint(self, name: str, keys: tuple[str, ...]) -> None:
        """Somebody takes taints off."""
        node = self.cluster.nodes.get(name)
        if node is not None:
            self.cluster.add(replace(node, taints=tuple(taint for taint in node.taints if taint.key not in keys)))
            self.changed()

    def lost(self, name: str, uid: str) -> None:
        """Its machine died: first its lease runs out, then it is found out."""
        self.timeline.after(LEASE, lambda: self._not_ready(name, uid))
        self.timeline.after(LEASE + CLOUD_LOOKS, lambda: self._remove(name, uid))

    def changed(self) -> None:
        """Something did: look, soon."""
        if not self._awake:
            self._awake = True
            self.timeline.after(REACTION, self._react)

    def _tell(self, node: Node) -> None:
        self.node_changed(node)
        self.changed()

    def _is_there(self, name: str, uid: str) -> bool:
        node = self.cluster.nodes.get(name)
        return node is not None and node.uid == uid

    def _not_ready(self, name: str, uid: str) -> None:
        if self._is_there(name, uid):
            self.cluster.add(replace(self.cluster.nodes[name], ready=False))
            for pod in self._pods():
                if pod.node_name == name:
                    self.cluster.add(replace(pod, ready=False))
            self.changed()

    def _remove(self, name: str, uid: str) -> None:
        if self._is_there(name, uid):
            self.delete(name)

    def _react(self) -> None:
        self._awake = False
        self._bury()
        for deployment in self.deployments.values():
            self._replicate(deployment)
        for daemon_set in self.cluster.daemon_sets:
            self._serve(daemon_set)
        self._schedule()

    def _pods(self) -> tuple[Pod, ...]:
        return tuple(self.cluster.pods.values())

    def _bury(self) -> None:
        """Whose grace is over; whose node is no more is told to go."""
        now = self.timeline.now()
        for pod in self._pods():
            if pod.node_name and pod.node_name not in self.cluster.nodes:
                self.cluster.add(dying(pod, now, QUARANTINE_SECONDS))
        self.cluster.bury()
        ends = min((pod.deletion for pod in self._pods() if pod.deletion), default=None)
        if ends is not None and ends != self._alarm:
            self._alarm = ends
            self.timeline.at(ends, self.changed)

    def _replicate(self, deployment: Deployment) -> None:
        """Too few are made; of too many those go first that wait, then the youngest."""
        own = [pod for pod in self._pods() if _is_of(pod, "ReplicaSet", deployment.name) and not pod.terminating]
        own.sort(key=lambda pod: (bool(pod.node_name), -pod.created.timestamp(), pod.key))
        for pod in own[: max(0, len(own) - deployment.replicas)]:
            grace = pod.termination_grace_seconds if pod.node_name else 0
            self.cluster.add(dying(pod, self.timeline.now(), grace))
            self.changed()
        for _ in range(self._may_make(deployment, len(own))):
            self.cluster.add(self._copy(deployment.template, "ReplicaSet", deployment.name))

    def _may_make(self, deployment: Deployment, there: int) -> int:
        most = deployment.replicas if deployment.quota is None else min(deployment.replicas, deployment.quota)
        missing, now = max(0, most - there), self.timeline.now()
        if not (missing and deployment.every):
            return missing
        if now < self._due.get(deployment.name, now):
            return 0
        self._due[deployment.name] = now + deployment.every
        self.timeline.after(deployment.every, self.changed)
        return 1

    def _serve(self, daemon_set: DaemonSet) -> None:
        """A pod of it on each node that takes it and has none."""
        served = {pod.node_name for pod in self._pods() if _is_of(pod, "DaemonSet", daemon_set.key.name)}
        for node in self.cluster.nodes.values():
            hard = [taint for taint in node.taints if not taint.key.startswith(_BORNE)]
            wanted = any(term.admits(node.labels) for term in daemon_set.alternatives)
            if wanted and node.name not in served and not untolerated(daemon_set.tolerations, hard):
                self._start_daemon(daemon_set, node)

    def _start_daemon(self, daemon_set: DaemonSet, node: Node) -> None:
        pod = self._copy(_blank(daemon_set), "DaemonSet", daemon_set.key.name)
        self.cluster.add(pod)
        self.cluster.bind(pod.key, node.name)

    def _copy(self, template: Pod, kind: str, owner: str) -> Pod:
        number = next(self._numbers)
        key = PodKey(template.key.namespace, f"{owner}-{number}")
        return replace(
            template,
            key=key,
            uid=f"uid-{key.name}",
            owner=_owner(kind, owner),
            created=self.timeline.now(),
        )

    def _schedule(self) -> None:
        done = self.scheduler.schedule(self.cluster.nodes.values(), self._pods())
        now = self.timeline.now()
        for key, node in done.bound.items():
            self.cluster.bind(key, node)
            self.cluster.add(replace(self.cluster.pods[key], started=now))
        for key in done.failed:
            self._fail(self.cluster.pods[key])

    def _fail(self, pod: Pod) -> None:
        if not pod.unschedulable:
            self.cluster.add(replace(pod, unschedulable=True))
        if pod.uid not in self._told:
            self._told.add(pod.uid)
            self.failed_scheduling(pod)


def _owner(kind: str, name: str) -> Owner:
    return Owner(kind, name, f"uid-{name}")


def waiting(cluster: InMemoryCluster) -> tuple[Pod, ...]:
    """Pods that have no node and want one."""
    return tuple(filter(waits, cluster.pods.values()))


def _is_of(pod: Pod, kind: str, name: str) -> bool:
    return pod.owner is not None and (pod.owner.kind, pod.owner.name) == (kind, name)


def _blank(daemon_set: DaemonSet) -> Pod:
    return Pod(
        key=daemon_set.key,
        uid="",
        labels={},
        annotations={},
        requests=daemon_set.requests,
        alternatives=daemon_set.alternatives,
        tolerations=daemon_set.tolerations,
        created=datetime(1970, 1, 1, tzinfo=UTC),
    )
