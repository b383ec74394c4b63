"""Which nodes may be disrupted at all (karpenter-behaviour §8.2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.disruption.method import Candidate, Objection
from nodewright.domain.draining import objections
from nodewright.domain.nodes import Node
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.pods import DO_NOT_DISRUPT, Pod
from nodewright.domain.pools import NodePool


def candidates(
    claims: Iterable[NodeClaim], nodes: Iterable[Node], pools: Iterable[NodePool], pods: Iterable[Pod]
) -> tuple[Candidate, ...]:
    """Initialized nodes of pools that are there, neither leaving nor kept by an annotation; in the claims' order.

    What their pods object to isn't looked at yet.
    """
    by_name = {node.name: node for node in nodes}
    by_pool = {pool.name: pool for pool in pools if not pool.terminating}
    by_node = _by_node(pods)
    return tuple(_candidates(claims, by_name, by_pool, by_node))


def objecting(pods: Sequence[Pod], budgets: Iterable[PodDisruptionBudget], now: datetime) -> tuple[Objection, ...]:
    """Pods that would not leave now."""
    known = tuple(budgets)
    return tuple(Objection(pod, why) for pod in pods for why in objections((pod,), known, now))


def _candidates(
    claims: Iterable[NodeClaim],
    nodes: Mapping[str, Node],
    pools: Mapping[str, NodePool],
    pods: Mapping[str, list[Pod]],
) -> Iterator[Candidate]:
    for claim in claims:
        node, pool = nodes.get(claim.node_name), pools.get(claim.pool)
        if node is not None and pool is not None and _may_go(claim, node, pool):
            yield Candidate(claim, node, pool, tuple(pods.get(node.name, ())))


def _may_go(claim: NodeClaim, node: Node, pool: NodePool) -> bool:
    in_use = claim.state is ClaimState.INITIALIZED and claim.retirement is None and not node.terminating
    # A pool's template annotations are its nodes': so Karpenter writes them.
    kept = "true" in {node.annotations.get(DO_NOT_DISRUPT), pool.annotations.get(DO_NOT_DISRUPT)}
    return in_use and not kept


def _by_node(pods: Iterable[Pod]) -> Mapping[str, list[Pod]]:
    found: dict[str, list[Pod]] = {}
    for pod in pods:
        if pod.node_name and not pod.is_terminal:
            found.setdefault(pod.node_name, []).append(pod)
    return found
