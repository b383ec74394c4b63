"""Nodes that join one by one as machines boot, and what reconcile and provision do meanwhile.

The cluster is real. EC2 is a list, and instead of hints either looks each second, which is what hints come to while
nodes join and pods don't fit.
"""

import sched
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random
from typing import Final

from nodewright.adapters.clock import SystemClock
from nodewright.adapters.kubernetes import KubernetesCluster
from nodewright.adapters.memory import RecordingObserver
from nodewright.adapters.threads import several
from nodewright.application.nominating import nominate
from nodewright.application.registering import is_initialized, missing_labels
from nodewright.application.snapshots import snapshot_of
from nodewright.domain import nodes
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.nodes import Node
from nodewright.domain.plans import Launch
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import format_amount
from nodewright.domain.scheduling import Budget, solve
from nodewright.domain.snapshot import PoolOptions
from sandbox.controlplane.client import Client, Object

#: When a node registers after its launch, and how much later it is ready: uniform within these, in seconds.
REGISTERS: Final = (25.0, 60.0)
READY_AFTER: Final = (7.0, 13.0)
#: Stands for all that keeps a young node from being Ready: KWOK calls its nodes Ready at once.
STARTING: Final[Object] = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "effect": "NoSchedule"}
LOOK_SECONDS: Final = 1.0


@dataclass(slots=True)
class Booting:
    """One cluster, from its first plan on."""

    client: Client
    cluster: KubernetesCluster
    connected: ConnectedCluster
    options: tuple[PoolOptions, ...]
    random: Random
    nominating: bool
    claims: dict[str, NodeClaim] = field(default_factory=dict)
    """By id, in the order in which they were bought."""
    plans: int = 0
    """Those that bought anything."""
    patches: int = 0
    slowest: float = 0.0
    """How long it took at most until pods had been told, in seconds."""
    ready: dict[str, float] = field(default_factory=dict)
    """Claim → when its node was ready, by the monotonic clock."""
    _clock: SystemClock = field(default_factory=SystemClock)
    _observer: RecordingObserver = field(default_factory=RecordingObserver)
    _coming: sched.scheduler = field(default_factory=lambda: sched.scheduler(time.monotonic))
    _over: threading.Event = field(default_factory=threading.Event)

    def waiting(self) -> int:
        """Pods that don't run yet."""
        return len(self.client.objects("v1", "Pod", "default", fields="status.phase!=Running"))

    def bought(self) -> tuple[list[NodeClaim], list[NodeClaim]]:
        """By the first plan that bought anything, and by all later ones."""
        every = list(self.claims.values())
        first = [claim for claim in every if claim.launch_id == every[0].launch_id]
        return first, every[len(first) :]

    def run(self, seconds: float) -> None:
        """Machines come, reconcile and provision look, each by itself, until every pod runs, or for so long."""
        duties = ((self._boot, 0.02), (self._reconcile, LOOK_SECONDS), (self._provision, LOOK_SECONDS))
        with ThreadPoolExecutor(len(duties)) as threads:
            running = [threads.submit(self._every, pause, do) for do, pause in duties]
            self._over.wait(seconds)
            self._over.set()
        for each in running:
            each.result()

    def _every(self, seconds: float, do: Callable[[], object]) -> None:
        try:
            begin = time.monotonic()
            while not self._over.wait(max(0.0, begin - time.monotonic())):
                begin = time.monotonic() + seconds
                do()
        finally:
            self._over.set()

    def _boot(self) -> None:
        self._coming.run(blocking=False)

    def _reconcile(self) -> None:
        begin = time.monotonic()
        now, state, claims = self._clock.now(), self.cluster.read(), list(self.claims.values())
        if all(pod.node_name for pod in state.pods) and not self.waiting():
            self._over.set()
        if self.nominating:
            name, told = self.connected.name, self.patches
            self.patches += nominate(name, self.cluster, state, claims, self._observer, now, several)
            self.slowest = max(self.slowest, time.monotonic() - begin if self.patches > told else 0.0)
        by_instance = {node.instance_id: node for node in state.nodes}
        for claim in claims:
            self.claims[claim.id] = self._advanced(claim, by_instance.get(claim.instance_id), now)

    def _provision(self) -> None:
        # Claims first: a node that a claim calls initialized has to be there.
        claims, state, now = list(self.claims.values()), self.cluster.read(), self._clock.now()
        plan = solve(snapshot_of(self.connected, state, claims, self.options, now), Budget())
        for launch in plan.launches:
            self._launch(launch, now)
        self.plans += bool(plan.launches)

    def _advanced(self, claim: NodeClaim, node: Node | None, now: datetime) -> NodeClaim:
        if node is None or claim.state is ClaimState.INITIALIZED:
            return claim
        if not is_initialized(claim, node):
            return replace(claim, state=ClaimState.REGISTERED, node_name=node.name)
        self.cluster.register_node(node.name, missing_labels(claim, node, ClaimState.INITIALIZED), ())
        return replace(claim, state=ClaimState.INITIALIZED, node_name=node.name, initialized=now)

    def _launch(self, launch: Launch, now: datetime) -> None:
        for pods in launch.nodes:
            claim = self._claim(launch, pods, now)
            self.claims[claim.id] = claim
            registers = self.random.uniform(*REGISTERS)
            self._coming.enter(registers, 0, self.client.create, (_node(claim),))
            self._coming.enter(registers + self.random.uniform(*READY_AFTER), 1, self._make_ready, (claim,))

    def _claim(self, launch: Launch, pods: Sequence[PodKey], now: datetime) -> NodeClaim:
        """Of the launch's cheapest offering, which EC2 had."""
        offering, number = launch.offerings[0], len(self.claims)
        (kind,) = (t for o in self.options for t in o.instance_types if t.name == offering.instance_type)
        return NodeClaim(
            id=f"claim-{number:03}",
            launch_id=f"plan-{self.plans}",
            state=ClaimState.LAUNCHED,
            pool=launch.pool,
            node_class="default",
            pool_hash="",
            class_hash="",
            created=now,
            labels={**kind.labels, **_bought(launch)},
            taints=(),
            startup_taints=(),
            requests=launch.requests,
            nominated_pods=tuple(pods),
            instance_type=kind.name,
            zone=offering.zone,
            capacity_type=launch.capacity_type,
            price=offering.price,
            capacity=kind.capacity,
            allocatable=kind.allocatable,
            instance_id=f"i-{number:017x}",
        )

    def _make_ready(self, claim: NodeClaim) -> None:
        self.client.patch("v1", "Node", claim.id, {"spec": {"taints": None}})
        self.ready[claim.id] = time.monotonic()


def _bought(launch: Launch) -> dict[str, str]:
    """Labels of the offering and the pool."""
    offering = launch.offerings[0]
    return {
        nodes.INSTANCE_TYPE_LABEL: offering.instance_type,
        nodes.ZONE_LABEL: offering.zone,
        nodes.CAPACITY_TYPE_LABEL: launch.capacity_type,
        nodes.NODE_POOL_LABEL: launch.pool,
    }


def _node(claim: NodeClaim) -> Object:
    """As kubelet registers it, for KWOK to keep alive."""
    size = {name: format_amount(name, amount) for name, amount in claim.allocatable.items()}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": claim.id,
            "labels": {**claim.labels, nodes.HOSTNAME_LABEL: claim.id},
            "annotations": {"kwok.x-k8s.io/node": "fake"},
        },
        "spec": {"providerID": f"aws:///{claim.zone}/{claim.instance_id}", "taints": [STARTING]},
        "status": {"capacity": size, "allocatable": size},
    }
