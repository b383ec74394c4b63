"""Nodes as EC2 would bring them for a plan, and what is on them before any pod of the plan is."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.application.orders import pool_labels
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.nodes import INSTANCE_TYPE_LABEL
from nodewright.domain.plans import Launch, Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.pools import NodePool
from sandbox.controlplane.client import Object
from tests.kube_scheduler import machines
from tests.kube_scheduler.bench import Bench
from tests.kube_scheduler.daemons import pods_for
from tests.kube_scheduler.generated import GeneratedCluster
from tests.kube_scheduler.pools import zone_labels
from tests.kube_scheduler.settling import pod_key


@dataclass(frozen=True, slots=True)
class Bought:
    """A plan carried out."""

    nodes: tuple[Object, ...]
    planned: Mapping[PodKey, str]
    """Pod → the node it is meant for, new or not."""


def buy(chance: random.Random, cluster: GeneratedCluster, plan: Plan, pools: Mapping[str, NodePool]) -> Bought:
    """For each node of a launch any one of its listed offerings comes."""
    nodes: list[Object] = []
    planned = {pod: nomination.node for nomination in plan.nominations for pod in nomination.pods}
    types = {each.name: each for each in cluster.types}
    for launch in plan.launches:
        for content in launch.nodes:
            name = f"s{cluster.seed}-new{len(nodes)}"
            nodes.append(_node(chance, name, launch, pools[launch.pool], types))
            planned.update((pod, name) for pod in content)
    return Bought(tuple(nodes), planned)


def install(bench: Bench, cluster: GeneratedCluster, nodes: tuple[Object, ...]) -> None:
    """The nodes, and the DaemonSet pods that old and new ones lack; Ready when those are there."""
    types = {each.name: each for each in cluster.types}
    there = {pod_key(pod) for pod in cluster.existing.pods}
    daemons = [pod for node in (*cluster.existing.nodes, *nodes) for pod in pods_for(node, cluster.daemon_sets)]
    drivers = [_csi_node(node, types) for node in nodes]
    bench.create((*nodes, *drivers, *(pod for pod in daemons if pod_key(pod) not in there)))
    bench.make_ready(nodes)


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
    taints = [{"key": t.key, "value": t.value, "effect": t.effect} for t in pool.taints]
    return machines.node(name, kind, labels, taints)
