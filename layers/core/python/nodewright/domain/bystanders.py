"""Nodes that take no pods, but whose pods and labels rules between pods count."""

from collections.abc import Collection, Iterable
from dataclasses import replace

from nodewright.domain.nodes import NODE_POOL_LABEL, Node
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.rooms import labels_of, pods_by_node
from nodewright.domain.snapshot import Room, Snapshot


def bystanders(
    cluster_nodes: Iterable[Node], rooms: Iterable[Room], bound_pods: Iterable[Pod], displaced: Collection[PodKey]
) -> tuple[Room, ...]:
    """Every node that is no room, sorted by name, without the pods that are planned anew."""
    taking = {room.name for room in rooms}
    pods = pods_by_node(pod for pod in bound_pods if pod.key not in displaced)
    found = (_bystander(node, pods.get(node.name, [])) for node in cluster_nodes if node.name not in taking)
    return tuple(sorted(found, key=lambda each: each.name))


def stepping_back(snapshot: Snapshot, names: Collection[str]) -> Snapshot:
    """Its rooms of these names take no more pods; those that are there still count."""
    back = tuple(room for room in snapshot.rooms if room.name in names)
    taking = tuple(room for room in snapshot.rooms if room.name not in names)
    return replace(snapshot, rooms=taking, bystanders=(*snapshot.bystanders, *back))


def _bystander(node: Node, pods: Iterable[Pod]) -> Room:
    return Room(
        name=node.name,
        labels=labels_of(node),
        taints=node.taints,
        available=Resources(),
        initialized=True,
        pool=node.labels.get(NODE_POOL_LABEL, ""),
        pods=tuple(pods),
    )
