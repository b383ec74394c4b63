"""Pods that don't fit become nodes: read the cluster, plan, buy, say why.

Woken by a hint that says only "look at cluster X"; everything is read afresh, so a lost, doubled
or late hint does no harm (architecture §2).
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.application import deciding
from nodewright.application.bursts import await_burst
from nodewright.application.errors import ConflictError, RefusedError, UnavailableError
from nodewright.application.launching import Launcher, Outcome
from nodewright.application.orders import Buyer, Order
from nodewright.application.pool_options import Market, MarketReader
from nodewright.application.ports import Clock, Cluster, Clusters, ClusterState, Hints, Ledger, Observer
from nodewright.domain.claims import NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.plans import Launch, Plan
from nodewright.domain.rooms import pending_pods, rooms
from nodewright.domain.scheduling import Budget, solve
from nodewright.domain.snapshot import Snapshot

#: How often one run plans again: after another planner was first, or capacity ran out somewhere.
CONFLICTS = 3
REPLANS = 8
#: How long a cluster that doesn't answer is left alone.
UNREACHABLE = timedelta(seconds=60)
#: Kept free at the end of a run for storing what was done.
RESERVE = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did; for logs and tests."""

    outcome: str
    """planned | nothing-pending | stale-hint | paused | unreachable | truncated."""
    launched: int = 0
    unschedulable: int = 0


@dataclass(frozen=True, slots=True)
class Provision:
    """The use case."""

    ledger: Ledger
    clusters: Clusters
    market: MarketReader
    launcher: Launcher
    hints: Hints
    observer: Observer
    clock: Clock
    stack_id: str

    def __call__(self, name: str, hint_sent: datetime | None, deadline: datetime) -> Report:
        """Provision one cluster; `hint_sent` None is urgent. UnavailableError: worth another hint."""
        connected = self.ledger.cluster(name)
        if connected.paused:
            return Report("paused")
        if connected.unreachable(self.clock.now()):
            return Report("unreachable")
        if self._stale(name, hint_sent):
            return Report("stale-hint")
        cluster = self.clusters.open(connected)
        try:
            await_burst(lambda: pending_pods(cluster.pending_pods(), connected.scheduler_names), self.clock, hint_sent)
        except UnavailableError:
            self.ledger.mark_unreachable(name, self.clock.now() + UNREACHABLE)
            raise
        return Run(self, connected, cluster, deadline).go()

    def _stale(self, name: str, sent: datetime | None) -> bool:
        last = self.ledger.last_run(name, "provision") if sent else None
        return last is not None and sent is not None and sent < last


@dataclass(slots=True)
class Run:
    """One run on one cluster: plans until everything that can be placed is, or time is up."""

    use: Provision
    connected: ConnectedCluster
    cluster: Cluster
    deadline: datetime
    launched: int = 0

    def go(self) -> Report:
        """Plan, buy, and plan again while that may place more."""
        conflicts = 0
        for _ in range(REPLANS):
            try:
                plan, again = self._once()
            except ConflictError:
                conflicts += 1
                if conflicts > CONFLICTS:
                    raise UnavailableError("other planners were first each time") from None
                continue
            if not again or self._late():
                return self._report(plan)
        self.use.hints.send(self.connected.name, "provision", self.use.clock.now())
        return Report("truncated", self.launched)

    def _once(self) -> tuple[Plan, bool]:
        use, name = self.use, self.connected.name
        taken = use.clock.now()
        epoch = use.ledger.epoch(name)
        state = self.cluster.read()
        claims = use.ledger.claims(name)
        market = use.market.read(self.connected, state, claims, taken)
        if use.launcher.finish(name, market.lookup):
            claims = use.ledger.claims(name)
        snapshot = self._snapshot(state, claims, market, taken)
        plan = solve(snapshot, Budget(), self._late)
        use.observer.planned(name, plan, len(snapshot.pods))
        outcomes = self._buy(plan, market, epoch)
        decided = deciding.Decided(plan, snapshot, outcomes, market.warnings)
        deciding.record(decided, name, use.ledger, self.cluster, use.observer)
        use.ledger.set_last_run(name, "provision", taken)
        return plan, any(o.replan for o in outcomes)

    def _snapshot(self, state: ClusterState, claims: tuple[NodeClaim, ...], market: Market, now: datetime) -> Snapshot:
        pods = pending_pods(state.pods, self.connected.scheduler_names)
        return Snapshot(
            now=now,
            pods=pods,
            rooms=rooms(state.nodes, claims, state.pods, state.daemon_sets, now),
            pools=market.options,
            daemon_sets=state.daemon_sets,
        )

    def _buy(self, plan: Plan, market: Market, epoch: int) -> list[Outcome]:
        buyer = Buyer(self.connected, self.use.stack_id)
        outcomes: list[Outcome] = []
        for launch in plan.launches:
            outcome, epoch = self._buy_one(_order(launch, market, buyer), epoch)
            self.launched += outcome.launched
            outcomes.append(outcome)
        if any(o.unclear for o in outcomes):
            self.use.hints.send(self.connected.name, "provision", self.use.clock.now())
        return outcomes

    def _buy_one(self, order: Order, epoch: int) -> tuple[Outcome, int]:
        """One refused or unclear launch doesn't keep the others from being bought."""
        try:
            return self.use.launcher.buy(order, epoch)
        except RefusedError as error:
            self.use.observer.problem(self.connected.name, "launch", str(error))
            return Outcome(refused=str(error)), epoch

    def _late(self) -> bool:
        return self.use.clock.now() >= self.deadline - RESERVE

    def _report(self, plan: Plan) -> Report:
        placed = bool(plan.launches or plan.nominations or plan.unschedulable)
        return Report("planned" if placed else "nothing-pending", self.launched, len(plan.unschedulable))


def _order(launch: Launch, market: Market, buyer: Buyer) -> Order:
    pool = market.pool(launch.pool)
    return Order(launch, pool, market.classes[pool.node_class], market.types(pool.name), buyer)
