"""Marks that nobody answers for: a run that died between tainting a node and starting its retirement."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from nodewright.domain.claims import NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.retirement import DISRUPTED, EXCLUDED

#: disrupt's timeout and some: after it nobody is still at work between a taint and its retirement.
AT_WORK: Final = timedelta(minutes=6)


class Stale(NamedTuple):
    """A node to be unmarked, and its claim."""

    node: Node
    claim: NodeClaim


def mark_labels(claim: NodeClaim) -> Mapping[str, str]:
    """What is put on a leaving node beside the taint; not where its pool has such a label of its own."""
    return {} if EXCLUDED in claim.labels else {EXCLUDED: "true"}


def stale_marks(nodes: Iterable[Node], claims: Iterable[NodeClaim]) -> tuple[Stale, ...]:
    """Nodes of ours that carry our taint though no retirement of theirs is under way.

    Only of nodes with a claim: what Karpenter beside us taints isn't ours to untaint.
    """
    by_node = {claim.node_name: claim for claim in claims if claim.node_name and claim.retirement is None}
    return tuple(Stale(node, by_node[node.name]) for node in nodes if node.name in by_node and DISRUPTED in node.taints)


def may_be_at_work(last_disrupt: datetime | None, now: datetime) -> bool:
    """Whether a disrupt run, whose snapshot was taken then, may still be about to start a retirement."""
    return last_disrupt is not None and now - last_disrupt < AT_WORK
