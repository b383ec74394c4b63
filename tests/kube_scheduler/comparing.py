"""A plan put before the real kube-scheduler: what we would buy is there, and it binds as it likes."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from nodewright.application.snapshots import snapshot_of
from nodewright.domain.nodes import INSTANCE_TYPE_LABEL, NODE_POOL_LABEL
from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import PoolOptions, Snapshot
from sandbox.controlplane.client import Object
from tests.builders import NOW
from tests.kube_scheduler.bench import GATE, Bench
from tests.kube_scheduler.buying import Bought, buy, candidates, install
from tests.kube_scheduler.daemons import pods_for
from tests.kube_scheduler.generated import GeneratedCluster
from tests.kube_scheduler.machines import RACK
from tests.kube_scheduler.pod_rules import CAPACITY_TYPE, ZONE
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
    given_up: Mapping[PodKey, str]
    """Pods left without a node that took one that we could have bought → what that is."""

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
        return not (self.stranded or self.underrated or self.given_up)

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
        for pod, node in self.given_up.items():
            yield f"  {pod} would take {node}; we said {reasons[pod]}"
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
        snapshot = _read(bench, cluster)
        plan = planner(snapshot)
        bought = buy(chance, cluster, plan, {options.pool.name: options.pool for options in snapshot.pools})
        _complete(bench, cluster)
        install(bench, cluster, bought.nodes)
        bench.nominate(bought.planned)
        bench.release(pods)
        bindings = settle(bench, frozenset(pods), bought.planned.keys())
        given_up = _offer(bench, cluster, snapshot, plan, bindings)
    finally:
        bench.sweep()
    return Outcome(cluster, plan, bought, bindings, given_up)


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


def _read(bench: Bench, cluster: GeneratedCluster) -> Snapshot:
    """As production does; only the catalogue is ours."""
    state = bench.cluster.read()
    if state.warnings:
        raise AssertionError(f"seed {cluster.seed}: {state.warnings}")
    state = replace(state, pods=tuple(replace(pod, gated=False) for pod in state.pods))
    options = tuple(PoolOptions(pool, cluster.types, pool.limits) for pool in state.pools)
    return snapshot_of(bench.connected, state, (), options, NOW)


def _offer(
    bench: Bench, cluster: GeneratedCluster, snapshot: Snapshot, plan: Plan, bindings: Bindings
) -> Mapping[PodKey, str]:
    """Nodes that could be bought for those left: who takes one should have got one."""
    left = {u.pod for u in plan.unschedulable if u.reason not in BOUGHT_NO_MORE} - bindings.nodes.keys()
    of_templates = {pod.labels.get("app"): pod for pod in snapshot.pods if pod.key in left}
    nodes = tuple(candidates(cluster, (each.pool for each in snapshot.pools), of_templates.values()))
    if not nodes:
        return {}
    install(bench, cluster, nodes)
    found = settle(bench, left, ())
    return {pod: _shown(nodes, name) for pod, name in found.nodes.items()}


def _shown(nodes: Iterable[Object], name: str) -> str:
    """A node by what it is."""
    labels: Object = next((node["metadata"]["labels"] for node in nodes if node["metadata"]["name"] == name), {})
    keys = (NODE_POOL_LABEL, INSTANCE_TYPE_LABEL, ZONE, CAPACITY_TYPE, RACK)
    return f"{name} ({', '.join(labels[key] for key in keys if key in labels)})"
