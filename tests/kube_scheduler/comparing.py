"""A plan put before the real kube-scheduler: what we would buy is there, and it binds as it likes."""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was planned, and what kube-scheduler did."""

    cluster: GeneratedCluster
    plan: Plan
    bought: Bought
    bindings: Bindings
    given_up: Mapping[PodKey, str] = field(default_factory=dict)
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
        """Planned, and no node for it in the end: bought in vain. Which of equal pods gets it doesn't count."""
        lacking = self._planned_by_twins() - self._bound_by_twins()
        return tuple(self._some_of(lacking, (pod for pod in self.bought.planned if pod not in self.bindings.nodes)))

    @property
    def underrated(self) -> tuple[PodKey, ...]:
        """Called unschedulable, and bound nevertheless, beside all of its equals that were planned."""
        more = self._bound_by_twins() - self._planned_by_twins()
        called = (each.pod for each in self.plan.unschedulable if each.pod not in self.limited)
        return tuple(self._some_of(more, (pod for pod in called if pod in self.bindings.nodes)))

    @property
    def limited(self) -> frozenset[PodKey]:
        """Left because a pool's limits end: a larger node than planned may have room for them all the same."""
        if not any("limits" in pool["spec"] for pool in self.cluster.pools):
            return frozenset()
        return frozenset(each.pod for each in self.plan.unschedulable if each.reason == "LimitReached")

    @property
    def agrees(self) -> bool:
        """Whether kube-scheduler did what we said it could, and no more."""
        return not (self.stranded or self.underrated or self.given_up)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _planned_by_twins(self) -> Counter[str]:
        return Counter(self.cluster.twins[pod] for pod in self.bought.planned)

    def _bound_by_twins(self) -> Counter[str]:
        return Counter(self.cluster.twins[pod] for pod in self.bindings.nodes)

    def _some_of(self, counts: Counter[str], pods: Iterable[PodKey]) -> Iterator[PodKey]:
        """As many of each kind."""
        left = counts.copy()
        for pod in pods:
            if left[self.cluster.twins[pod]] > 0:
                left[self.cluster.twins[pod]] -= 1
                yield pod

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
        outcome = Outcome(cluster, plan, bought, settle(bench, frozenset(pods), bought.planned.keys()))
        return replace(outcome, given_up=_offer(bench, outcome, snapshot))
    finally:
        bench.sweep()


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


def _offer(bench: Bench, outcome: Outcome, snapshot: Snapshot) -> Mapping[PodKey, str]:
    """Nodes that could be bought for those left: who takes one should have got one."""
    cluster, planned = outcome.cluster, outcome.bought.planned
    left = {pod.key for pod in snapshot.pods} - planned.keys() - outcome.bindings.nodes.keys() - outcome.limited
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
