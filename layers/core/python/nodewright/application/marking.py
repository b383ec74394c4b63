"""Putting our mark on a node that is to go, and taking it off again."""

import contextlib
from dataclasses import dataclass

from nodewright.application.errors import NotFoundError
from nodewright.application.retirement_ports import NodeLedger, RetiringCluster
from nodewright.domain.claims import NodeClaim
from nodewright.domain.retirement import DISRUPTED
from nodewright.domain.stale_taints import mark_labels


@dataclass(frozen=True, slots=True)
class Marker:
    """Of one cluster."""

    name: str
    ledger: NodeLedger
    cluster: RetiringCluster

    def mark(self, node: str, claim: NodeClaim) -> None:
        """No new pods, and out of load balancers. NotFoundError: the node went away."""
        self.cluster.mark_node(node, DISRUPTED, mark_labels(claim))

    def unmark(self, node: str, claim: NodeClaim) -> None:
        """The node serves on.

        A retirement that is forced on us may have begun meanwhile and have found our mark in place of its own:
        so look after, not before, and give it back.
        """
        self.cluster.unmark_node(node, DISRUPTED, tuple(mark_labels(claim)))
        with contextlib.suppress(NotFoundError):
            if self.ledger.claim(self.name, claim.id).retirement is not None:
                self.mark(node, claim)
