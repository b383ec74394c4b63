"""The truth-keeper: what webhooks and crashes missed, found by looking (architecture §2).

Finishes launches whose owner died, takes joined nodes forward, and wakes provision for pods that wait.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.application.errors import UnavailableError
from nodewright.application.launching import Launcher
from nodewright.application.pool_options import MarketReader
from nodewright.application.ports import Clock, Cluster, Clusters, ClusterState, Hints, Ledger, Observer
from nodewright.application.registering import Registrar
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.pods import Pod
from nodewright.domain.rooms import pending_pods

UNREACHABLE = timedelta(seconds=60)
#: A younger pod's own webhook is still on its way; an older one nobody may have told us of.
MISSED_AFTER = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did."""

    outcome: str
    """reconciled | stale-hint | paused | unreachable."""
    finished: int = 0
    moved: int = 0
    missed_pods: int = 0


@dataclass(frozen=True, slots=True)
class Reconcile:
    """The use case."""

    ledger: Ledger
    clusters: Clusters
    market: MarketReader
    launcher: Launcher
    registrar: Registrar
    hints: Hints
    observer: Observer
    clock: Clock

    def __call__(self, name: str, hint_sent: datetime | None) -> Report:
        """Reconcile one cluster. UnavailableError: worth another hint."""
        connected = self.ledger.cluster(name)
        if connected.paused:
            return Report("paused")
        if connected.unreachable(self.clock.now()):
            return Report("unreachable")
        if self._stale(name, hint_sent):
            return Report("stale-hint")
        return self._reconcile(connected, self.clusters.open(connected))

    def _reconcile(self, connected: ConnectedCluster, cluster: Cluster) -> Report:
        name, taken = connected.name, self.clock.now()
        state = self._read(connected, cluster)
        finished = self._finish(connected, state, taken)
        claims = self.ledger.claims(name)
        moved = self.registrar.advance(name, cluster, claims, state.nodes)
        missed = self._wake_provision(connected, state, claims, taken)
        self.ledger.set_last_run(name, "reconcile", taken)
        return Report("reconciled", finished, moved, missed)

    def _read(self, connected: ConnectedCluster, cluster: Cluster) -> ClusterState:
        try:
            state = cluster.read()
        except UnavailableError:
            self.ledger.mark_unreachable(connected.name, self.clock.now() + UNREACHABLE)
            raise
        if connected.unreachable_until is not None:
            self.ledger.mark_unreachable(connected.name, None)
        return state

    def _finish(self, connected: ConnectedCluster, state: ClusterState, now: datetime) -> int:
        """Only when there is something to finish is the market read: it is the dearest part of a run."""
        if not any(record.lease_until <= now for record in self.ledger.launches(connected.name)):
            return 0
        market = self.market.read(connected, state, self.ledger.claims(connected.name), now)
        return self.launcher.finish(connected.name, market.lookup)

    def _wake_provision(
        self, connected: ConnectedCluster, state: ClusterState, claims: tuple[NodeClaim, ...], now: datetime
    ) -> int:
        """One hint when pods wait that no node on its way was bought for; a node that is there takes no more."""
        coming = [claim for claim in claims if claim.state is not ClaimState.INITIALIZED]
        bought_for = {pod for claim in coming for pod in claim.nominated_pods}
        waiting = pending_pods(state.pods, connected.scheduler_names)
        missed = [p for p in waiting if p.key not in bought_for and _old_enough(p, now)]
        if missed:
            self.hints.send(connected.name, "provision", now)
        return len(missed)

    def _stale(self, name: str, sent: datetime | None) -> bool:
        last = self.ledger.last_run(name, "reconcile") if sent else None
        return last is not None and sent is not None and sent < last


def _old_enough(pod: Pod, now: datetime) -> bool:
    return now - pod.created >= MISSED_AFTER
