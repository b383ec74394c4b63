"""Nodes as EC2 would bring them for a plan, and what is on them before any pod of the plan is."""

import itertools
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodewright.application.orders import pool_labels
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.claims import NodeClaim
from nodewright.domain.nodes import INSTANCE_TYPE_LABEL, NODE_POOL_LABEL
from nodewright.domain.plans import Launch, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.pools import NodePool
from sandbox.controlplane.client import Object
from tests.builders import claim
from tests.kube_scheduler import machines
from tests.kube_scheduler.bench import Bench
from tests.kube_scheduler.daemons import pods_for
from tests.kube_scheduler.generated import GeneratedCluster
from tests.kube_scheduler.machines import RACK, RACKS
from tests.kube_scheduler.pod_rules import CAPACITY_TYPE, ZONE
from tests.kube_scheduler.pools import zone_labels


@dataclass(frozen=True, slots=True)
class Bought:
    """A plan carried out."""

    nodes: tuple[Object, ...]
    planned: Mapping[PodKey, str]
    """Pod → the node it is meant for, new or not."""

    @property
    def claims(self) -> tuple[NodeClaim, ...]:
        """As the table would know them: nodes that are there stand for nodes on their way, and are ours, too."""
        pods: dict[str, list[PodKey]] = {}
        for pod, node in self.planned.items():
            pods.setdefault(node, []).append(pod)
        return tuple(
            claim(node, instance_id=machines.instance_id(node), node_name=node, nominated_pods=tuple(several))
            for node, several in pods.items()
        )


def buy(
    chance: random.Random, cluster: GeneratedCluster, plan: Plan, pools: Mapping[str, NodePool], before: int
) -> Bought:
    """For each node of a launch any one of its listed offerings comes; `before` nodes were bought already."""
    nodes: list[Object] = []
    planned = {pod: nomination.node for nomination in plan.nominations for pod in nomination.pods}
    types = {each.name: each for each in cluster.types}
    for launch in plan.launches:
        for content in launch.nodes:
            name = f"s{cluster.seed}-new{before + len(nodes)}"
            nodes.append(_node(chance, name, launch, pools[launch.pool], types))
            planned.update((pod, name) for pod in content)
    return Bought(tuple(nodes), planned)


def candidates(
    cluster: GeneratedCluster, pools: Iterable[NodePool], pods: Iterable[Pod], number: int = 0
) -> Iterator[Object]:
    """Nodes that could be bought for these pods, whatever they cost: the largest of each pool, zone and capacity type.

    Limits are others' business: pools that have some are left out.
    """
    for pool, pod in itertools.product((pool for pool in pools if pool.limits is None), pods):
        found: dict[tuple[str, ...], tuple[InstanceType, dict[str, str]]] = {}
        for kind, labels in _buyable(cluster, pool):
            wanted = any(alternative.admits(labels) for alternative in pod.alternatives)
            if wanted and all(kind.allocatable.get(name) >= amount for name, amount in pod.requests.items()):
                place = tuple(labels.get(key, "") for key in (ZONE, CAPACITY_TYPE, RACK))
                best = found.get(place)
                if best is None or best[0].allocatable.get("cpu") < kind.allocatable.get("cpu"):
                    found[place] = (kind, labels)
        for kind, labels in found.values():
            yield machines.node(f"s{cluster.seed}-may{number}", kind, labels, _taints(pool))
            number += 1


def _buyable(cluster: GeneratedCluster, pool: NodePool) -> Iterator[tuple[InstanceType, dict[str, str]]]:
    """Every type and offering within the pool's requirements, with the labels of such a node."""
    racks = [{RACK: rack} for rack in RACKS] if RACK in pool.requirements else [{}]
    own = {**pool.labels, NODE_POOL_LABEL: pool.name}
    for kind in cluster.types:
        for offering, rack in itertools.product(kind.offerings, racks):
            labels = {**kind.labels, **zone_labels(kind, offering), **own, **rack}
            if pool.requirements.admits(labels):
                yield kind, labels


def join(bench: Bench, cluster: GeneratedCluster, nodes: Sequence[Object]) -> None:
    """The nodes, not Ready yet; the scheduler knows of their DaemonSet pods already."""
    bench.create(pod for node in nodes for pod in pods_for(node, cluster.daemon_sets))
    bench.let_it_see()
    types = {each.name: each for each in cluster.types}
    bench.create((*nodes, *(_csi_node(node, types) for node in nodes)))


def _csi_node(node: Object, types: Mapping[str, InstanceType]) -> Object:
    metadata = node["metadata"]
    return machines.csi_node(metadata["name"], types[metadata["labels"][INSTANCE_TYPE_LABEL]])


def _node(
    chance: random.Random, name: str, launch: Launch, pool: NodePool, types: Mapping[str, InstanceType]
) -> Object:
    chosen = chance.choice(launch.offerings)
    kind = types[chosen.instance_type]
    came = (chosen.zone, launch.capacity_type)
    offering = next(each for each in kind.offerings if (each.zone, each.capacity_type) == came)
    labels = {**zone_labels(kind, offering), **pool_labels(pool, launch)}
    return machines.node(name, kind, labels, _taints(pool))


def _taints(pool: NodePool) -> list[Object]:
    return [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in pool.taints]
