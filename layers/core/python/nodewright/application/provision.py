"""Pods that don't fit become nodes: read the cluster, plan, buy, say why.

Woken by a hint that says only "look at cluster X"; everything is read afresh, so a lost, doubled
or late hint does no harm (architecture §2).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright.application import deciding
from nodewright.application.adopting import adopt
from nodewright.application.buffer_telling import tell_buffers
from nodewright.application.bursts import await_burst
from nodewright.application.errors import ConflictError, RefusedError, UnavailableError
from nodewright.application.hints import turned_away
from nodewright.application.launching import Launcher, Outcome
from nodewright.application.looking_ahead import LookAhead
from nodewright.application.orders import Buyer, Order
from nodewright.application.pool_options import Market, MarketReader
from nodewright.application.ports import (
    Clock,
    Cluster,
    Clusters,
    ClusterState,
    Hints,
    Ledger,
    ManifestWarning,
    Observer,
)
from nodewright.application.reaching import reaching
from nodewright.application.setting_aside import without_aside
from nodewright.application.snapshots import snapshot_of, with_headroom
from nodewright.domain.buffer_status import UnitRoom, unit_rooms
from nodewright.domain.claims import NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.plans import Plan
from nodewright.domain.rooms import pending_pods
from nodewright.domain.scheduling import AT_ONCE, Budget, solve
from nodewright.domain.snapshot import Snapshot

#: How often one run plans again: after another planner was first, or capacity ran out somewhere.
CONFLICTS = 3
REPLANS = 8
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
        away = turned_away(self.ledger, connected, "provision", hint_sent, self.clock.now())
        if away:
            return Report(away)
        cluster = self.clusters.open(connected)
        with reaching(name, self.ledger, self.clock):
            await_burst(lambda: pending_pods(cluster.pending_pods(), connected.scheduler_names), self.clock, hint_sent)
        budget = AT_ONCE if hint_sent is None else Budget()
        return Run(self, connected, cluster, deadline, budget, foresees=hint_sent is not None).go()


@dataclass(slots=True)
class Run:
    """One run on one cluster: plans until everything that can be placed is, or time is up."""

    use: Provision
    connected: ConnectedCluster
    cluster: Cluster
    deadline: datetime
    budget: Budget
    foresees: bool = True
    """Whether room is bought for pods that aren't there, too: an urgent run has no time for that."""
    launched: int = 0
    limited: bool = False
    """A limit refused what the plan thought it had; that is planned once more with fresh usage, not for ever."""

    def go(self) -> Report:
        """Plan, buy, and plan again while that may place more."""
        conflicts, before = 0, Plan()
        for _ in range(REPLANS):
            try:
                plan, again = self._once()
            except ConflictError:
                conflicts += 1
                if conflicts > CONFLICTS:
                    raise UnavailableError("other planners were first each time") from None
                continue
            # The same launches once more would meet the same answer: the minute's sweep tries again.
            if not again or plan.launches == before.launches:
                return self._report(plan)
            if self._late():
                break
            before = plan
        self._hint()
        return Report("truncated", self.launched)

    def _once(self) -> tuple[Plan, bool]:
        """One plan, carried out; and whether planning again may place more."""
        use, name = self.use, self.connected.name
        taken = use.clock.now()
        epoch = use.ledger.epoch(name)
        with reaching(name, use.ledger, use.clock):
            state = self.cluster.read()
        claims, market = self._finished(state, taken)
        snapshot = snapshot_of(self.connected, state, claims, market.options, taken)
        snapshot = without_aside(snapshot, name, use.ledger, state.pods)
        snapshot, told = self._foreseen(snapshot, state)
        plan = solve(snapshot, self.budget, self._late)
        use.observer.planned(name, plan, len(snapshot.pods))
        outcomes = self._buy(plan, market, epoch)
        adopt(name, use.ledger, use.observer, claims, plan.nominations)
        decided = deciding.Decided(plan, snapshot, outcomes, (*market.warnings, *told))
        deciding.record(decided, name, use.ledger, self.cluster, use.observer)
        self._tell_buffers(plan, state, taken)
        use.ledger.set_last_run(name, "provision", taken)
        return plan, self._again(plan, outcomes)

    def _foreseen(self, snapshot: Snapshot, state: ClusterState) -> tuple[Snapshot, Sequence[ManifestWarning]]:
        """With pods that aren't there, and what was wrong in looking for them."""
        if not self.foresees:
            return snapshot, ()
        look = LookAhead(self.cluster, state)
        return with_headroom(look(snapshot), state), look.warnings

    def _tell_buffers(self, plan: Plan, state: ClusterState, now: datetime) -> None:
        """A plan that was cut, or had no time for headroom, knows nothing of it."""
        knows = self.foresees and not plan.truncated
        ready = {node.name for node in state.nodes if node.ready}
        rooms = unit_rooms(plan.headroom, ready) if knows else {}
        buffers = {each.key: rooms.get(each.key, UnitRoom()) for each in state.buffers} if knows else {}
        tell_buffers(self.connected.name, self.cluster, state, buffers, self.use.observer, now)

    def _again(self, plan: Plan, outcomes: Sequence[Outcome]) -> bool:
        """Whether another plan in this run may place more."""
        if any(o.ran_away for o in outcomes):
            return False
        limited, self.limited = self.limited, self.limited or any(o.limit for o in outcomes)
        newly_limited = self.limited and not limited
        return newly_limited or any(o.replan for o in outcomes) or (plan.truncated and bool(plan.launches))

    def _finished(self, state: ClusterState, now: datetime) -> tuple[tuple[NodeClaim, ...], Market]:
        """Claims and market once launches left half done are finished, which changes both."""
        use, name = self.use, self.connected.name
        claims = use.ledger.claims(name)
        market = use.market.read(self.connected, state, now)
        if use.launcher.finish(name, market.lookup):
            claims = use.ledger.claims(name)
            market = use.market.read(self.connected, state, now)
        return claims, market

    def _buy(self, plan: Plan, market: Market, epoch: int) -> list[Outcome]:
        buyer = Buyer(self.connected, self.use.stack_id)
        outcomes: list[Outcome] = []
        for launch in plan.launches:
            outcome, epoch = self._buy_one(market.order(launch, buyer), epoch)
            self.launched += outcome.launched
            outcomes.append(outcome)
            if outcome.ran_away:
                break
        if any(o.later for o in outcomes):
            self._hint()
        return outcomes

    def _buy_one(self, order: Order, epoch: int) -> tuple[Outcome, int]:
        """One refused or unclear launch doesn't keep the others from being bought."""
        try:
            return self.use.launcher.buy(order, epoch)
        except (RefusedError, UnavailableError) as error:
            self.use.observer.problem(self.connected.name, "launch", str(error))
            return Outcome(refused=str(error), unclear=isinstance(error, UnavailableError)), epoch

    def _hint(self) -> None:
        self.use.hints.send(self.connected.name, "provision", self.use.clock.now())

    def _late(self) -> bool:
        return self.use.clock.now() >= self.deadline - RESERVE

    def _report(self, plan: Plan) -> Report:
        placed = bool(plan.launches or plan.nominations or plan.unschedulable)
        return Report("planned" if placed else "nothing-pending", self.launched, len(plan.unschedulable))
