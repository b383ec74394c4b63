"""Nodes go although nothing is wrong with them: expired, empty (architecture §2, §8).

Woken by a hint that says only "look at cluster X". A run looks, carries out what the first method with something
to do proposes, and looks again, until nobody proposes anything that wasn't tried, or time is up.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from nodewright.application.disrupting import Disrupting, Outcome
from nodewright.application.disruption_records import Records
from nodewright.application.disruption_view import View
from nodewright.application.hints import await_second, turned_away
from nodewright.application.launching import Launcher
from nodewright.application.marking import Marker
from nodewright.application.orders import Buyer
from nodewright.application.pool_options import MarketReader
from nodewright.application.ports import Clock, Observer
from nodewright.application.reaching import reaching
from nodewright.application.retirement_ports import NodeLedger, RetireQueue, RetiringCluster, RetiringClusters
from nodewright.application.setting_aside import without_aside
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.disruption import METHODS
from nodewright.domain.disruption.method import Blocked, Command, Method
from nodewright.domain.stale_taints import stale_marks

#: Kept free at the end of a run for what was begun: a launch, and storing it.
RESERVE = timedelta(seconds=60)
#: Node names in one line of a log.
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Report:
    """What one run did; for logs and tests."""

    outcome: str
    """looked | overtaken | stale-hint | paused | unreachable."""
    retired: int = 0
    """Retirements begun."""
    launched: int = 0
    """Replacements bought for them."""
    blocked: int = 0
    """Nodes that are due and stay."""
    untainted: int = 0
    """Marks that a run which died had left."""


@dataclass(frozen=True, slots=True)
class Disrupt:
    """The use case."""

    ledger: NodeLedger
    clusters: RetiringClusters
    market: MarketReader
    launcher: Launcher
    queue: RetireQueue
    observer: Observer
    clock: Clock
    stack_id: str

    def __call__(self, name: str, hint_sent: datetime | None, deadline: datetime) -> Report:
        """Disrupt one cluster; what could not be done now is asked for again by reconcile."""
        connected = self.ledger.cluster(name)
        away = turned_away(self.ledger, connected, "disrupt", hint_sent, self.clock.now())
        if away:
            return Report(away)
        await_second(hint_sent, self.clock)
        with reaching(name, self.ledger, self.clock):
            return _Run(self, connected, self.clusters.open(connected), deadline).go()


@dataclass(slots=True)
class _Run:
    """One run on one cluster."""

    use: Disrupt
    connected: ConnectedCluster
    cluster: RetiringCluster
    deadline: datetime
    tried: set[str] = field(default_factory=set)
    """Claims of commands: whatever became of it, a run tries each once."""
    blocked: dict[str, Blocked] = field(default_factory=dict)
    report: Report = field(default_factory=lambda: Report("looked"))

    def go(self) -> Report:
        """Pass by pass."""
        while not self._late() and self._pass():
            pass
        blocked = tuple(self.blocked.values())
        Records(self._name, self.use.ledger, self.cluster, self.use.observer).keep(blocked, self.use.clock.now())
        return replace(self.report, blocked=len(blocked))

    def _pass(self) -> bool:
        """Look, and carry out the first command. Whether another pass may find more."""
        view = self._look()
        if not self.tried:
            self._untaint(view)
        method, command = self._proposed(view)
        if method is None or command is None:
            return False
        self.tried |= {candidate.claim.id for candidate in command.candidates}
        outcome = self._disrupting.carry_out(method, command, lambda: view.market, view.epoch)
        self._tell(command, outcome)
        return not outcome.overtaken

    def _look(self) -> View:
        """The epoch first: what is decided on this must not be if another planner came between."""
        use, taken = self.use, self.use.clock.now()
        epoch = use.ledger.epoch(self._name)
        state = self.cluster.read()
        budgets = self.cluster.disruption_budgets()
        # Before anything is tainted: reconcile takes no mark off while a run that looked lately may be at work.
        use.ledger.set_last_run(self._name, "disrupt", taken)
        return View(
            connected=self.connected,
            epoch=epoch,
            taken=taken,
            state=state,
            claims=use.ledger.claims(self._name),
            budgets=budgets,
            read_market=lambda: use.market.read(self.connected, state, taken),
            without_aside=lambda snapshot: without_aside(snapshot, self._name, use.ledger, state.pods),
            late=self._late,
        )

    def _proposed(self, view: View) -> tuple[Method | None, Command | None]:
        situation = view.situation(self.tried)
        for method in METHODS:
            proposal = method.propose(situation)
            self.blocked |= {each.candidate.claim.id: each for each in proposal.blocked}
            if proposal.command is not None:
                return method, proposal.command
        return None, None

    def _untaint(self, view: View) -> None:
        """Marks that a run which died had left: this one is the only one that is at work."""
        marker = Marker(self._name, self.use.ledger, self.cluster)
        stale = stale_marks(view.state.nodes, view.claims)
        for node, claim in stale:
            marker.unmark(node.name, claim)
        self.report = replace(self.report, untainted=len(stale))

    def _tell(self, command: Command, outcome: Outcome) -> None:
        observer, report = self.use.observer, self.report
        if outcome.retired:
            observer.disrupted(self._name, command.reason, outcome.retired, outcome.launched)
        if outcome.dropped:
            nodes = ", ".join(candidate.node.name for candidate in command.candidates[:SHOWN])
            observer.disruption_dropped(self._name, command.reason, nodes, outcome.dropped)
        self.report = replace(
            report,
            outcome="overtaken" if outcome.overtaken else report.outcome,
            retired=report.retired + len(outcome.retired),
            launched=report.launched + outcome.launched,
        )

    @property
    def _disrupting(self) -> Disrupting:
        use = self.use
        buyer = Buyer(self.connected, use.stack_id)
        return Disrupting(use.ledger, self.cluster, use.launcher, use.queue, use.observer, use.clock, buyer)

    @property
    def _name(self) -> str:
        return self.connected.name

    def _late(self) -> bool:
        return self.use.clock.now() >= self.deadline - RESERVE
