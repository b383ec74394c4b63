"""What a snapshot starts from: pods that wait, and nodes that exist or are on their way."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from nodewright.domain import nodes
from nodewright.domain.attach_limits import NO_LIMITS, AttachLimits
from nodewright.domain.claims import ClaimState, NodeClaim, is_leaving
from nodewright.domain.host_ports import HostPort
from nodewright.domain.nodes import Node
from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.snapshot import Room
from nodewright.domain.taints import Taint, untolerated

FARGATE_SCHEDULER: Final = "fargate-scheduler"
"""Its pods bring their own machine."""
STARTUP_PATIENCE: Final = timedelta(minutes=15)
"""How long a node's planned size is believed while it isn't initialized (cases.md 32)."""


def pending_pods(
    pods: Iterable[Pod],
    scheduler_names: Collection[str],
    claims: Iterable[NodeClaim] = (),
    node_names: Collection[str] | None = None,
) -> tuple[Pod, ...]:
    """Unbound pods that wait for room, sorted by name (architecture §7, "Which pods").

    The Unschedulable condition isn't required: room that is there absorbs what fits. A pod that
    `status.nominatedNodeName` sends to a node is left alone unless one of the `claims` planned it there:
    somebody is making room for it, by preemption for instance. With `node_names` a nomination to a node that
    is no more counts for nothing.
    """
    ours = {pod: claim.node_name for claim in claims for pod in claim.nominated_pods if claim.node_name}
    wanted = [
        pod
        for pod in pods
        if _waits(pod)
        and pod.scheduler_name in scheduler_names
        and pod.scheduler_name != FARGATE_SCHEDULER
        and not _nominated_elsewhere(pod, ours, node_names)
    ]
    return tuple(sorted(wanted, key=lambda pod: pod.key))


def displaced_pods(
    pods: Iterable[Pod],
    scheduler_names: Collection[str],
    cluster_nodes: Iterable[Node],
    claims: Iterable[NodeClaim],
    now: datetime,
) -> tuple[Pod, ...]:
    """Pods of nodes that are leaving, as if they waited already, sorted by name (architecture §7, "Which pods").

    They count in every snapshot until they are gone from there, and so does the place that was found for them:
    a node that was bought names them as nominated, and rooms that were there are still there. So each is
    planned once, however often it is looked at. One that is being deleted is left out, as whatever replaces
    it waits under a name of its own; but a StatefulSet's comes back as itself, and keeps its place.
    """
    leaving = _leaving_nodes(cluster_nodes, claims, now)
    found = [
        replace(pod, node_name="", nominated_node_name="", unschedulable=False)
        for pod in pods
        if pod.node_name in leaving and pod.scheduler_name in scheduler_names and _moves(pod)
    ]
    return tuple(sorted(found, key=lambda pod: pod.key))


def rooms(
    cluster_nodes: Iterable[Node],
    claims: Iterable[NodeClaim],
    bound_pods: Iterable[Pod],
    daemon_sets: Iterable[DaemonSet],
    now: datetime,
    limits: AttachLimits = NO_LIMITS,
) -> tuple[Room, ...]:
    """Every node and claim pods may go to, sorted by name.

    Left out: nodes that are cordoned, leaving, being deleted or, once they were initialized, not Ready; claims
    that are gone, leaving or have been starting for too long. A node of ours whose claim doesn't know it yet is found
    by its instance, so it doesn't count twice.
    """
    view = _View(bound_pods, tuple(daemon_sets), limits)
    left = {claim.id: claim for claim in claims if claim.state is not ClaimState.GONE}
    by_name = {claim.node_name: claim.id for claim in left.values() if claim.node_name}
    by_instance = {claim.instance_id: claim.id for claim in left.values() if claim.instance_id}
    found: list[Room | None] = []
    for node in cluster_nodes:
        claim_id = by_name.get(node.name) or by_instance.get(node.instance_id or "")
        found.append(view.of_node(node, left.pop(claim_id or "", None), now))
    found += [view.of_claim(claim, now) for claim in left.values()]
    return tuple(sorted((room for room in found if room is not None), key=lambda room: room.name))


def pods_by_node(bound_pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Those that have not finished."""
    found: dict[str, list[Pod]] = {}
    for pod in bound_pods:
        if pod.node_name and not pod.is_terminal:
            found.setdefault(pod.node_name, []).append(pod)
    return found


def labels_of(node: Node) -> dict[str, str]:
    """A Node's labels, with what kubelet sets on each and what matchFields select by."""
    return {nodes.HOSTNAME_LABEL: node.name, **node.labels, nodes.NAME_FIELD: node.name}


class _View:
    """What bound pods and DaemonSets leave on each node."""

    def __init__(self, bound_pods: Iterable[Pod], daemon_sets: tuple[DaemonSet, ...], limits: AttachLimits) -> None:
        self._pods = pods_by_node(bound_pods)
        self._daemon_sets = daemon_sets
        self._limits = limits

    def of_node(self, node: Node, claim: NodeClaim | None, now: datetime) -> Room | None:
        """A node; one of ours counts as it was planned until it is initialized."""
        if node.unschedulable or node.terminating or (claim is not None and is_leaving(claim, now)):
            return None
        if claim is not None and _is_starting(claim, node, now):
            return self._starting(claim, node.name, {**_planned_labels(claim), **labels_of(node)}, now)
        if not node.ready:
            return None
        return self._room(node.name, labels_of(node), node.taints, node.allocatable, claim)

    def of_claim(self, claim: NodeClaim, now: datetime) -> Room | None:
        """A claim without a node: one that had one has lost it, and what to do is for reconcile to find out."""
        if not claim.state.precedes(ClaimState.INITIALIZED) or is_leaving(claim, now):
            return None
        labels = {nodes.HOSTNAME_LABEL: claim.id, **_planned_labels(claim)}
        return self._starting(claim, claim.id, labels, now)

    def _starting(self, claim: NodeClaim, name: str, labels: Mapping[str, str], now: datetime) -> Room | None:
        if now - claim.created > STARTUP_PATIENCE:
            return None
        return self._room(name, labels, claim.taints, claim.allocatable, claim)

    def _room(
        self,
        name: str,
        labels: Mapping[str, str],
        taints: tuple[Taint, ...],
        allocatable: Resources,
        claim: NodeClaim | None,
    ) -> Room:
        pods = self._pods.get(name, [])
        coming = self._daemons_to_come(labels, taints, pods)
        takers: tuple[Pod | DaemonSet, ...] = (*pods, *coming)
        used = sum((each.requests for each in takers), Resources())
        planned_for = claim.requests if claim is not None and not allocatable else Resources()
        return Room(
            name=name,
            labels=labels,
            taints=taints,
            # A claim whose type isn't known yet has room for what it was planned for.
            available=planned_for or allocatable - used,
            initialized=claim is None or not claim.state.precedes(ClaimState.INITIALIZED),
            pool=claim.pool if claim is not None else labels.get(nodes.NODE_POOL_LABEL, ""),
            nominated=claim.nominated_pods if claim is not None else (),
            pods=tuple(pods),
            host_ports=_host_ports(takers),
            attachable=self._limits.of(name, claim, labels),
            attached=self._limits.attached.get(name, frozenset()),
        )

    def _daemons_to_come(
        self, labels: Mapping[str, str], taints: tuple[Taint, ...], pods: Iterable[Pod]
    ) -> tuple[DaemonSet, ...]:
        there = {
            PodKey(pod.key.namespace, pod.owner.name)
            for pod in pods
            if pod.owner is not None and pod.owner.kind == "DaemonSet"
        }
        # A DaemonSet may wait for the label that we put on last (KC#2161).
        final = {**labels, nodes.REGISTERED_LABEL: "true", nodes.INITIALIZED_LABEL: "true"}
        return tuple(each for each in self._daemon_sets if each.key not in there and _runs_on(each, final, taints))


def _host_ports(takers: Iterable[Pod | DaemonSet]) -> tuple[HostPort, ...]:
    return tuple(sorted({port for each in takers for port in each.host_ports}))


def _is_starting(claim: NodeClaim, node: Node, now: datetime) -> bool:
    """Whether it was when the node was read, which may be before the claim was: reconcile works meanwhile.

    It labels a node before it says of the claim that it is initialized. Who takes that label off later gains nothing.
    """
    young = now - claim.created <= STARTUP_PATIENCE
    return claim.state.precedes(ClaimState.INITIALIZED) or (young and nodes.INITIALIZED_LABEL not in node.labels)


def _planned_labels(claim: NodeClaim) -> dict[str, str]:
    known = {
        nodes.INSTANCE_TYPE_LABEL: claim.instance_type,
        nodes.ZONE_LABEL: claim.zone,
        nodes.CAPACITY_TYPE_LABEL: claim.capacity_type if claim.instance_type else "",
        nodes.NODE_POOL_LABEL: claim.pool,
    }
    return {**{key: value for key, value in known.items() if value}, **claim.labels}


def _runs_on(daemon_set: DaemonSet, labels: Mapping[str, str], taints: tuple[Taint, ...]) -> bool:
    admitted = any(alternative.admits(labels) for alternative in daemon_set.alternatives)
    return admitted and not untolerated(daemon_set.tolerations, taints)


def _leaving_nodes(cluster_nodes: Iterable[Node], claims: Iterable[NodeClaim], now: datetime) -> frozenset[str]:
    """By name, and by instance where the claim doesn't know its node yet."""
    leaving = [claim for claim in claims if is_leaving(claim, now)]
    instances = {claim.instance_id for claim in leaving if claim.instance_id}
    named = {claim.node_name for claim in leaving if claim.node_name}
    return frozenset(named | {node.name for node in cluster_nodes if node.instance_id in instances})


def _moves(pod: Pod) -> bool:
    if pod.is_daemon or pod.is_terminal:
        return False
    returns = pod.owner is not None and pod.owner.kind == "StatefulSet"
    return returns or not pod.terminating


def _waits(pod: Pod) -> bool:
    settled = pod.node_name or pod.is_terminal or pod.is_daemon
    return not (settled or pod.gated or pod.terminating)


def _nominated_elsewhere(pod: Pod, ours: Mapping[PodKey, str], node_names: Collection[str] | None) -> bool:
    node = pod.nominated_node_name
    return bool(node) and ours.get(pod.key) != node and (node_names is None or node in node_names)
