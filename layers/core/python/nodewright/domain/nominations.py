"""Waiting pods told to which node they belong, so that a tight plan comes out as planned (KEP-5278, architecture §7).

kube-scheduler tries `status.nominatedNodeName` first and keeps the room for the pod. It forgets it when a try fails
(docs/decisions/0008), so pods are nominated when their node has joined and again when it is initialized.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from nodewright.domain.claims import ClaimState, NodeClaim, is_leaving
from nodewright.domain.nodes import Node
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.topology import Namespaces

PATIENCE: Final = timedelta(seconds=30)
"""After its node is initialized a pod that isn't bound there can't keep the nomination: it only holds room."""


@dataclass(frozen=True, slots=True)
class Nominate:
    """A pod to be sent to a node; an empty name withdraws what we said earlier."""

    pod: PodKey
    uid: str
    node: str


def nominations(
    claims: Iterable[NodeClaim], nodes: Iterable[Node], pods: Iterable[Pod], namespaces: Namespaces, now: datetime
) -> tuple[Nominate, ...]:
    """What to tell, node by node in the order of the claims.

    A pod that somebody else nominated to a node that exists is left alone.
    """
    everywhere = {node.name: node for node in nodes}
    by_instance = {node.instance_id: node for node in everywhere.values() if node.instance_id}
    waiting = {pod.key: pod for pod in pods if _waits(pod)}
    found: list[Nominate] = []
    for claim in claims:
        node = by_instance.get(claim.instance_id)
        planned = [waiting[key] for key in claim.nominated_pods if key in waiting]
        if node is None or not planned or claim.state is ClaimState.GONE:
            continue
        if node.terminating or node.unschedulable or is_leaving(claim, now) or is_late(claim, now):
            found += [Nominate(pod.key, pod.uid, "") for pod in planned if pod.nominated_node_name == node.name]
        else:
            found += _sent(planned, node, everywhere, namespaces)
    return tuple(found)


def is_late(claim: NodeClaim, now: datetime) -> bool:
    """Whether its node has been ready for so long that a pod not bound there by now needs another."""
    return claim.initialized is not None and now - claim.initialized > PATIENCE


def _waits(pod: Pod) -> bool:
    return not (pod.node_name or pod.gated or pod.terminating or pod.is_terminal)


def _sent(
    planned: Sequence[Pod], node: Node, everywhere: Mapping[str, Node], namespaces: Namespaces
) -> Iterator[Nominate]:
    """Pods of a node that can be nominated to it together."""
    together = [pod for pod in planned if pod.nominated_node_name == node.name]
    for pod in planned:
        free = not pod.nominated_node_name or pod.nominated_node_name not in everywhere
        if free and _bears(pod, together, namespaces):
            together.append(pod)
            yield Nominate(pod.key, pod.uid, node.name)


def _bears(pod: Pod, together: Sequence[Pod], namespaces: Namespaces) -> bool:
    """Whether they don't stand in each other's way.

    The scheduler judges a node as if all nominated to it were there, and other nodes' weren't: more of a spread
    than its skew on one node, and each would refuse the other.
    """
    company = (*together, pod)
    return all(
        sum(spread.selector.selects(other.key.namespace, other.labels, namespaces) for other in company)
        <= spread.max_skew
        for owner in company
        for spread in owner.spreads
        if spread.hard
    )
