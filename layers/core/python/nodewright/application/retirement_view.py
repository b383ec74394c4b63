"""What a turn of a retirement looks at: only what its step asks for, as a drain looks many times."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.application.ports import Fleet
from nodewright.application.retirement_ports import NodeLedger, RetiringCluster
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.pods import Pod
from nodewright.domain.retirement import Retirement, Step
from nodewright.domain.retirement_turns import View
from nodewright.domain.retiring import asks_leave, needs_cluster

_WITH_PODS = frozenset({Step.REPLACE, Step.DRAIN, Step.FORGET})


@dataclass(frozen=True, slots=True)
class Viewer:
    """Looks outside for one cluster's retirements."""

    name: str
    ledger: NodeLedger
    fleet: Fleet

    def look(self, cluster: RetiringCluster, claim: NodeClaim, retirement: Retirement, now: datetime) -> View:
        """The cluster is asked only where it matters."""
        if needs_cluster(retirement, now):
            return self._look_at_node(cluster, claim, retirement)
        ending = retirement.step is Step.TERMINATE
        return View(claim, retirement, instance=self._instance(claim) if ending else None)

    def _look_at_node(self, cluster: RetiringCluster, claim: NodeClaim, retirement: Retirement) -> View:
        node = cluster.node_of(claim.instance_id, claim.node_name) if claim.instance_id else None
        pods = cluster.pods_on(node.name) if node and _asks_for_pods(retirement) else ()
        return View(
            claim,
            retirement,
            node=node,
            pods=pods,
            budgets=cluster.disruption_budgets() if asks_leave(retirement) and retirement.withdrawable else (),
            volumes=cluster.attached_volumes(node.name) if node and retirement.step is Step.DETACH else (),
            replacements=self._replacements(claim, retirement, pods),
            # A node that is Ready has an instance; EC2's calls are few.
            instance=None if node and node.ready else self._instance(claim),
        )

    def _instance(self, claim: NodeClaim) -> str | None:
        found = self.fleet.ours_among((claim.instance_id,)) if claim.instance_id else ()
        return found[0].state if found else None

    def _replacements(self, leaving: NodeClaim, retirement: Retirement, pods: Sequence[Pod]) -> dict[str, ClaimState]:
        if retirement.step is not Step.REPLACE or not (retirement.replacements or retirement.announced):
            return {}
        claims = self.ledger.claims(self.name)
        wanted = {*retirement.replacements, *_bought_for(claims, leaving, retirement, pods)}
        return {claim.id: claim.state for claim in claims if claim.id in wanted}


def _asks_for_pods(retirement: Retirement) -> bool:
    """Before its taint only who might be kept by a pod: of a spot notice's two minutes none is to be lost."""
    return retirement.step in _WITH_PODS or (retirement.step is Step.TAINT and asks_leave(retirement))


def _bought_for(
    claims: Sequence[NodeClaim], leaving: NodeClaim, retirement: Retirement, pods: Sequence[Pod]
) -> Iterator[str]:
    """Of an announced retirement: since it began, for pods of its node. A pod's name may be older than that."""
    if not retirement.announced:
        return
    moving = {pod.key for pod in pods}
    for claim in claims:
        since = claim.created >= retirement.not_before
        if since and claim.id != leaving.id and not moving.isdisjoint(claim.nominated_pods):
            yield claim.id
