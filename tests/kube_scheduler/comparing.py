"""A plan put before the real kube-scheduler: what we would buy is there, and it binds as it likes."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from nodewright.application.snapshots import snapshot_of
from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import PoolOptions, Snapshot
from sandbox.controlplane.client import Object
from tests.builders import NOW
from tests.kube_scheduler.bench import GATE, Bench
from tests.kube_scheduler.buying import Bought, buy, install
from tests.kube_scheduler.generated import GeneratedCluster
from tests.kube_scheduler.settling import Bindings, pod_key, settle

#: A pod may be without a node for these reasons and still find room that a larger node than planned has left.
BOUGHT_NO_MORE: Final = frozenset({"LimitReached"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was planned, and what kube-scheduler did."""

    cluster: GeneratedCluster
    plan: Plan
    bought: Bought
    bindings: Bindings

    @property
    def kept(self) -> tuple[PodKey, ...]:
        """Planned, and bound there."""
        return tuple(pod for pod, node in self.bought.planned.items() if self.bindings.nodes.get(pod) == node)

    @property
    def elsewhere(self) -> tuple[PodKey, ...]:
        """Planned, and bound to another node."""
        return tuple(pod for pod, node in self.bought.planned.items() if self.bindings.nodes.get(pod, node) != node)

    @property
    def stranded(self) -> tuple[PodKey, ...]:
        """Planned, and not bound at all: bought in vain."""
        return tuple(pod for pod in self.bought.planned if pod not in self.bindings.nodes)

    @property
    def underrated(self) -> tuple[PodKey, ...]:
        """Called unschedulable, and bound nevertheless."""
        called = (each.pod for each in self.plan.unschedulable if each.reason not in BOUGHT_NO_MORE)
        return tuple(pod for pod in called if pod in self.bindings.nodes)

    @property
    def agrees(self) -> bool:
        """Whether kube-scheduler did what we said it could, and no more."""
        return not (self.stranded or self.underrated)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        planned, nodes = self.bought.planned, self.bindings.nodes
        reasons = {each.pod: f"{each.reason}: {each.message}" for each in self.plan.unschedulable}
        yield f"seed {self.cluster.seed}: of {len(planned)} planned pods {len(self.kept)} are where they were planned"
        for pod in self.stranded:
            yield f"  {pod} isn't bound; planned for {planned[pod]}; kube-scheduler: {self.bindings.words.get(pod)}"
        for pod in self.underrated:
            yield f"  {pod} is bound to {nodes[pod]}; we said {reasons[pod]}"
        for pod in self.elsewhere:
            yield f"  {pod} is bound to {nodes[pod]}; planned for {planned[pod]}"


#: Production's `solve`, or a wrong one that has to be found.
Planner = Callable[[Snapshot], Plan]


def compare(bench: Bench, cluster: GeneratedCluster, planner: Planner = solve) -> Outcome:
    """Create it, plan it, buy what was planned, and let kube-scheduler bind in shuffled order."""
    chance = random.Random(cluster.seed)
    pods = [pod_key(pod) for pod in cluster.pending]
    chance.shuffle(pods)
    try:
        _create(bench, cluster)
        plan, pools = _plan(bench, cluster, planner)
        bought = buy(chance, cluster, plan, pools)
        install(bench, cluster, bought.nodes)
        bench.nominate(bought.planned)
        bench.release(pods)
        bindings = settle(bench, frozenset(pods), bought.planned.keys())
    finally:
        bench.sweep()
    return Outcome(cluster, plan, bought, bindings)


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


def _plan(bench: Bench, cluster: GeneratedCluster, planner: Planner) -> tuple[Plan, Mapping[str, NodePool]]:
    """What production reads, makes a snapshot of and solves; only the catalogue is ours."""
    state = bench.cluster.read()
    if state.warnings:
        raise AssertionError(f"seed {cluster.seed}: {state.warnings}")
    state = replace(state, pods=tuple(replace(pod, gated=False) for pod in state.pods))
    options = tuple(PoolOptions(pool, cluster.types, pool.limits) for pool in state.pools)
    plan = planner(snapshot_of(bench.connected, state, (), options, NOW))
    return plan, {pool.name: pool for pool in state.pools}
