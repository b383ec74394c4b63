"""The truth-keeper: what webhooks and crashes missed, found by looking (architecture §2).

Finishes launches whose owner died, takes joined nodes forward, sends retirements on, and wakes provision for pods
that wait.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.application.disruption_due import ask_disrupt
from nodewright.application.headroom import lacks_headroom
from nodewright.application.hints import await_second, turned_away
from nodewright.application.launching import Launcher
from nodewright.application.node_deletions import NodeDeletions
from nodewright.application.nominating import Each, nominate
from nodewright.application.orphans import Before
from nodewright.application.pod_events import record_pod_events
from nodewright.application.pool_options import MarketReader
from nodewright.application.ports import Clock, ClusterState, Hints, Ledger, Observer
from nodewright.application.reaching import reaching
from nodewright.application.recounting import recount
from nodewright.application.redriving import redrive
from nodewright.application.registering import Registrar, naming
from nodewright.application.retirement_ports import RetireQueue, RetiringCluster, RetiringClusters
from nodewright.application.setting_aside import SettingAside
from nodewright.application.upkeep import Upkeep
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim, is_leaving
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.nominations import is_late
from nodewright.domain.pods import Pod
from nodewright.domain.rooms import STARTUP_PATIENCE, displaced_pods, pending_pods

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
    redriven: int = 0
    """Retirements whose own message got lost."""
    deleted: int = 0
    """Retirements begun as somebody deleted a Node."""


@dataclass(frozen=True, slots=True)
class Reconcile:
    """The use case."""

    ledger: Ledger
    clusters: RetiringClusters
    market: MarketReader
    launcher: Launcher
    registrar: Registrar
    deletions: NodeDeletions
    upkeep: Upkeep
    queue: RetireQueue
    hints: Hints
    observer: Observer
    clock: Clock
    each: Each = map
    """How pods are told of their nodes: a thousand one after the other take too long."""

    def __call__(self, name: str, hint_sent: datetime | None) -> Report:
        """Reconcile one cluster. UnavailableError: worth another hint."""
        connected = self.ledger.cluster(name)
        away = turned_away(self.ledger, connected, "reconcile", hint_sent, self.clock.now())
        if away:
            return Report(away)
        await_second(hint_sent, self.clock)
        return self._reconcile(connected, self.clusters.open(connected))

    def _reconcile(self, connected: ConnectedCluster, cluster: RetiringCluster) -> Report:
        """What needs neither cluster nor EC2 comes first, then nodes that joined: EC2 may be throttled."""
        name, taken = connected.name, self.clock.now()
        before = Before.read(self.ledger, name)
        redriven = redrive(self.queue, name, before.claims, taken)
        state = self._read(connected, cluster)
        # First: as soon as a node is ready, pods that haven't been told take what they find there.
        nominate(name, cluster, state, before.claims, self.observer, taken, self.each)
        moved = self.registrar.advance(name, cluster, before.claims, state.nodes, naming(state.node_classes))
        deleted = self.deletions.follow(name, before.claims, state.nodes, taken)
        finished = self._finish(connected, state, before.launches, taken)
        self.upkeep.keep(name, cluster, before, state.nodes, taken)
        SettingAside(connected, self.ledger, cluster, self.observer).follow(state, before.claims, taken)
        claims = recount(name, self.ledger, self.observer)
        missed = self._wake_provision(connected, cluster, state, claims, taken)
        claims = record_pod_events(name, self.ledger, state, claims, taken)
        ask_disrupt(name, self.ledger, self.hints, state, claims, taken)
        self.ledger.set_last_run(name, "reconcile", taken)
        return Report("reconciled", finished, moved, missed, redriven, deleted)

    def _read(self, connected: ConnectedCluster, cluster: RetiringCluster) -> ClusterState:
        with reaching(connected.name, self.ledger, self.clock):
            state = cluster.read()
        if connected.unreachable_until is not None:
            self.ledger.mark_unreachable(connected.name, None)
        return state

    def _finish(
        self, connected: ConnectedCluster, state: ClusterState, launches: Sequence[LaunchRecord], now: datetime
    ) -> int:
        """Only when there is something to finish is the market read: it is the dearest part of a run."""
        if not any(record.lease_until <= now for record in launches):
            return 0
        market = self.market.read(connected, state, now)
        return self.launcher.finish(connected.name, market.lookup)

    def _wake_provision(
        self,
        connected: ConnectedCluster,
        cluster: RetiringCluster,
        state: ClusterState,
        claims: Sequence[NodeClaim],
        now: datetime,
    ) -> int:
        """One hint when pods wait, or have to leave, that no node on its way was bought for, or headroom is short.

        A node that has just become ready counts as on its way: the scheduler binds its pods any moment, up to its
        back-off of ten seconds later, and planned now they would only be given the same place. It tells of those that
        find no room there.
        """
        bought_for = {pod for claim in claims if _is_expected(claim, now) for pod in claim.nominated_pods}
        names = {node.name for node in state.nodes}
        waiting = (
            *pending_pods(state.pods, connected.scheduler_names, claims, names),
            *displaced_pods(state.pods, connected.scheduler_names, state.nodes, claims, now),
        )
        missed = [p for p in waiting if p.key not in bought_for and _old_enough(p, now)]
        if lacks_headroom(connected, self.ledger, cluster, self.observer, state, claims, now) or missed:
            self.hints.send(connected.name, "provision", now)
        return len(missed)


def _is_expected(claim: NodeClaim, now: datetime) -> bool:
    """Whether its pods are still to be bound. As the planner sees it, what starts for too long isn't waited for."""
    if claim.state is ClaimState.INITIALIZED:
        # Since when it is ready isn't recorded of one that is to leave.
        return claim.retirement is None and not is_late(claim, now)
    return now - claim.created <= STARTUP_PATIENCE and not is_leaving(claim, now)


def _old_enough(pod: Pod, now: datetime) -> bool:
    return now - pod.created >= MISSED_AFTER
