"""What retiring a node needs from outside, beyond ports.py."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, Protocol

from nodewright.application.ports import Cluster, Ledger
from nodewright.domain.claims import NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.nodes import Node
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.taints import Taint


class Eviction(NamedTuple):
    """What the eviction API said."""

    answer: Literal["evicted", "later", "gone"]
    """later: a budget refuses now (429); gone: it isn't there any more, or is another pod of that name."""
    why: str = ""
    """The API server's words, for `later`."""


class RetiringCluster(Cluster, Protocol):
    """A cluster from which nodes are taken."""

    def disruption_budgets(self) -> tuple[PodDisruptionBudget, ...]:
        """All PDBs."""
        ...

    def node_of(self, instance_id: str, name: str) -> Node | None:
        """The Node of this instance; an empty name: whichever it is. None too where the name is another's by now."""
        ...

    def pods_on(self, node: str) -> tuple[Pod, ...]:
        """Bound to this node and not finished, read consistently."""
        ...

    def mark_node(self, name: str, taint: Taint, labels: Mapping[str, str]) -> None:
        """Add the taint and the labels in one write guarded by resourceVersion; nothing where they are there."""
        ...

    def unmark_node(self, name: str, taint: Taint, labels: Sequence[str]) -> None:
        """Take both off again in one guarded write; nothing where they, or the node, aren't there."""
        ...

    def evict(self, pod: PodKey, uid: str) -> Eviction:
        """Ask the eviction API, for this very pod (precondition on its uid)."""
        ...

    def delete_pod(self, pod: PodKey, uid: str, grace_seconds: int) -> None:
        """Delete it whatever a budget says; one that isn't there is as good as deleted."""
        ...

    def attached_volumes(self, node: str) -> tuple[str, ...]:
        """Persistent volumes with a VolumeAttachment to this node."""
        ...

    def delete_node(self, name: str, uid: str) -> None:
        """Delete the Node object and take our finalizer off; nothing where it isn't there or is another one."""
        ...


class RetiringClusters(Protocol):
    """Opens connected clusters for retiring."""

    def open(self, cluster: ConnectedCluster) -> RetiringCluster:
        """A client for it, kept warm; no call is made yet."""
        ...


class RetireQueue(Protocol):
    """The retire queue: standard, one chain of messages per claim (architecture §2)."""

    def send(self, cluster: str, claim_id: str, epoch: int, delay: timedelta) -> None:
        """Wake retire for this claim's retirement after the delay (SQS: at most 15 minutes)."""
        ...


class RetiringLedger(Protocol):
    """What the table does for retirements, beyond Ledger."""

    def start_retirements(self, cluster: str, claims: Sequence[NodeClaim], epoch: int | None) -> tuple[NodeClaim, ...]:
        """Store the claims, each now with a retirement, in one transaction; each version must be the stored one.

        With an epoch (voluntary) it is required and incremented. ConflictError: decide anew.
        """
        ...

    def take_turn(self, cluster: str, claim_id: str, epoch: int, now: datetime, next_at: datetime) -> NodeClaim:
        """The claim, its retirement's next_at moved from `≤ now` to `next_at` by a conditional write.

        ConflictError: it isn't this message's turn, or the retirement is another or withdrawn.
        NotFoundError: the claim is gone.
        """
        ...


class NodeLedger(Ledger, RetiringLedger, Protocol):
    """All that is remembered of nodes, from reservation to end."""
