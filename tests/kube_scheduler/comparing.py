"""A plan put before the real kube-scheduler: what we would buy is there, and it binds as it likes."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from nodewright.adapters.manifests.objects import NEVER
from nodewright.application.ports import ClusterState
from nodewright.application.snapshots import snapshot_of
from nodewright.domain.limits import Limits
from nodewright.domain.nodes import INSTANCE_TYPE_LABEL, NODE_POOL_LABEL
from nodewright.domain.nominations import nominations
from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import CPU, Resources
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import PoolOptions, Snapshot
from sandbox.controlplane.client import Object
from tests.builders import NOW
from tests.kube_scheduler.bench import GATE, Bench
from tests.kube_scheduler.buying import Bought, buy, candidates, join
from tests.kube_scheduler.daemons import pods_for
from tests.kube_scheduler.generated import GeneratedCluster, pod_key
from tests.kube_scheduler.machines import RACK
from tests.kube_scheduler.outcomes import Outcome, Round
from tests.kube_scheduler.pod_rules import CAPACITY_TYPE, ZONE
from tests.kube_scheduler.settling import settle

#: Production's `solve`, or a wrong one that has to be found.
Planner = Callable[[Snapshot], Plan]

MOST_ROUNDS: Final = 4
"""Pods that are planned once more after that are planned for ever."""


def compare(bench: Bench, cluster: GeneratedCluster, planner: Planner = solve) -> Outcome:
    """Create it, then plan, buy and let kube-scheduler bind in shuffled order, as long as there is something to plan.

    A planned pod may find its node taken by one that went where it liked; it is planned once more, as in production.
    """
    try:
        _create(bench, cluster)
        playing = _Playing(bench, cluster, planner, random.Random(cluster.seed))
        rounds = [playing.round()]
        while not rounds[-1].settled and len(rounds) < MOST_ROUNDS:
            rounds.append(playing.round())
        return Outcome(cluster, tuple(rounds), playing.offer(rounds[-1]))
    finally:
        bench.sweep()


@dataclass(slots=True)
class _Playing:
    bench: Bench
    cluster: GeneratedCluster
    planner: Planner
    chance: random.Random
    nodes: int = 0
    """Bought so far."""
    spent: Counter[str] = field(default_factory=Counter)
    """Millicores bought so far, by pool."""
    held: bool = True
    """The pods, by their gates."""

    def round(self) -> Round:
        """Plan, buy, nominate, bind."""
        snapshot = self._read()
        plan = self.planner(snapshot)
        pools = {options.pool.name: options.pool for options in snapshot.pools}
        bought = buy(self.chance, self.cluster, plan, pools, self.nodes)
        self._count(bought)
        join(self.bench, self.cluster, bought.nodes)
        self._nominate(bought)
        self.bench.make_ready(bought.nodes)
        self.bench.let_it_see()
        pods = {pod_key(pod): pod for pod in self.cluster.pending}
        if self.held:
            _complete(self.bench, self.cluster)
            self.bench.release(self.chance.sample(list(pods), len(pods)))
            self.held = False
        bindings = settle(self.bench, pods, bought.planned.keys())
        return Round(self.cluster, plan, bought, bindings)

    def offer(self, last: Round) -> Mapping[PodKey, str]:
        """Nodes that could be bought for those left: who takes one should have got one."""
        left = self.cluster.twins.keys() - last.bought.planned.keys() - last.bindings.nodes.keys() - last.limited
        snapshot = self._read()
        of_templates = {pod.labels.get("app"): pod for pod in snapshot.pods if pod.key in left}
        nodes = tuple(candidates(self.cluster, (each.pool for each in snapshot.pools), of_templates.values()))
        if not nodes:
            return {}
        join(self.bench, self.cluster, nodes)
        self.bench.make_ready(nodes)
        pods = {pod_key(pod): pod for pod in self.cluster.pending if pod_key(pod) in left}
        found = settle(self.bench, pods, ())
        return {pod: _shown(nodes, name) for pod, name in found.nodes.items()}

    def _nominate(self, bought: Bought) -> None:
        """Whom production would tell of its node."""
        state = self._state()
        told = nominations(bought.claims, state.nodes, state.pods, state.namespaces or {}, NOW)
        self.bench.nominate({each.pod: each.node for each in told})

    def _state(self) -> ClusterState:
        """As production reads it; pods that are held back wait like others, whatever they were told.

        All are as old as a scenario file's: two alike are planned in the order of their ages, which a busy API server
        draws anew in each run.
        """
        state = self.bench.cluster.read()
        if state.warnings:
            raise AssertionError(f"seed {self.cluster.seed}: {state.warnings}")
        pods = tuple(replace(pod, gated=False, nominated_node_name="", created=NEVER) for pod in state.pods)
        return replace(state, pods=pods)

    def _read(self) -> Snapshot:
        """Only the catalogue is ours."""
        state = self._state()
        options = tuple(PoolOptions(pool, self.cluster.types, self._remaining(pool)) for pool in state.pools)
        return snapshot_of(self.bench.connected, state, (), options, NOW)

    def _count(self, bought: Bought) -> None:
        self.nodes += len(bought.nodes)
        for node in bought.nodes:
            self.spent[node["metadata"]["labels"][NODE_POOL_LABEL]] += int(node["status"]["capacity"]["cpu"][:-1])

    def _remaining(self, pool: NodePool) -> Limits | None:
        """Generated pools are limited in nothing but cpu."""
        return None if pool.limits is None else Limits(pool.limits) - Resources({CPU: self.spent[pool.name]})


def _create(bench: Bench, cluster: GeneratedCluster) -> None:
    there = cluster.existing
    bench.create((*cluster.pools, *cluster.daemon_sets, *there.nodes, *there.csi_nodes, *cluster.storage))
    bench.create((*there.pods, *map(_held_back, cluster.pending)))
    bench.finish(there.finished)
    bench.begin_deletion(there.terminating)
    bench.make_ready(there.nodes)


def _held_back(pod: Object) -> Object:
    """Until its node is chosen: kube-scheduler would take room while we look."""
    return {**pod, "spec": {**pod["spec"], "schedulingGates": [{"name": GATE}]}}


def _complete(bench: Bench, cluster: GeneratedCluster) -> None:
    """The DaemonSet pods that existing nodes still lack."""
    there = {pod_key(pod) for pod in cluster.existing.pods}
    daemons = [pod for node in cluster.existing.nodes for pod in pods_for(node, cluster.daemon_sets)]
    bench.create(pod for pod in daemons if pod_key(pod) not in there)


def _shown(nodes: Iterable[Object], name: str) -> str:
    """A node by what it is."""
    labels: Object = next((node["metadata"]["labels"] for node in nodes if node["metadata"]["name"] == name), {})
    keys = (NODE_POOL_LABEL, INSTANCE_TYPE_LABEL, ZONE, CAPACITY_TYPE, RACK)
    return f"{name} ({', '.join(labels[key] for key in keys if key in labels)})"
