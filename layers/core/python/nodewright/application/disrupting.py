"""Carrying out one command of a disruption method: taint, list again, and only then retire.

The order is the safety (architecture §8; cases.md 33). A run that dies after a taint leaves a mark without a
retirement, which is taken off again; one that dies after a launch leaves a node that the next run finds and
uses; one that dies after the retirement is stored leaves its turns to reconcile.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from nodewright.application.errors import ConflictError, NotFoundError, OutsideError, RefusedError, UnavailableError
from nodewright.application.launching import Launcher
from nodewright.application.marking import Marker
from nodewright.application.orders import Buyer
from nodewright.application.pool_options import Market
from nodewright.application.ports import Clock, Observer
from nodewright.application.retirement_ports import NodeLedger, RetireQueue, RetiringCluster
from nodewright.domain.claims import NodeClaim
from nodewright.domain.disruption.candidates import objecting
from nodewright.domain.disruption.method import Candidate, Command, Method
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.retiring import begin

#: A retirement that hasn't begun to drain by then is withdrawn: what it was decided on is long past.
#: A replacement has 15 minutes to become ready.
EXPIRES = timedelta(minutes=20)


class _DroppedError(Exception):
    """The command isn't carried out; its nodes serve on."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one command."""

    retired: tuple[NodeClaim, ...] = ()
    launched: int = 0
    dropped: str = ""
    """Why the rest, or all, serves on."""
    overtaken: bool = False
    """Another planner was first: what is known of the cluster is old."""


@dataclass(slots=True)
class Disrupting:
    """One command on one cluster."""

    ledger: NodeLedger
    cluster: RetiringCluster
    launcher: Launcher
    queue: RetireQueue
    observer: Observer
    clock: Clock
    buyer: Buyer

    def carry_out(self, method: Method, command: Command, market: Callable[[], Market], epoch: int) -> Outcome:
        """As far as it still holds; `market` is asked for only when something is to be bought.

        UnavailableError: the rest can't be done now, and the nodes serve on.
        """
        marked: list[Candidate] = []
        bought: list[str] = []
        try:
            fit, stay = self._mark(method, command, marked)
            epoch = self._buy(command, market, epoch, bought) if fit else epoch
            retired = self._start(command, fit, (*command.relocation.awaited, *bought), epoch)
        except (_DroppedError, ConflictError, RefusedError, NotFoundError) as error:
            self._undo(marked)
            return Outcome(launched=len(bought), dropped=str(error), overtaken=isinstance(error, ConflictError))
        except UnavailableError:
            self._undo(marked)
            raise
        left = {claim.id for claim in retired}
        self._undo([candidate for candidate in marked if candidate.claim.id not in left])
        self._wake(retired)
        return Outcome(retired, len(bought), "; ".join(stay))

    def _mark(self, method: Method, command: Command, marked: list[Candidate]) -> tuple[list[NodeClaim], list[str]]:
        """Taint all, then look at each again: claims that may retire, as they are stored now, and why others stay."""
        stay = [why for candidate in command.candidates if (why := self._taint(candidate, marked))]
        budgets = self.cluster.disruption_budgets()
        fit: list[NodeClaim] = []
        for candidate in marked:
            why = self._objection(method, candidate, budgets)
            claim = None if why else self._unclaimed(candidate)
            if claim is not None:
                fit.append(claim)
            elif why:
                stay.append(f"{candidate.node.name}: {why}")
        return fit, stay

    def _taint(self, candidate: Candidate, marked: list[Candidate]) -> str:
        """Why it can't be, if so. Noted before it is done: of one whose answer got lost the taint is taken off too."""
        marked.append(candidate)
        try:
            self._marker.mark(candidate.node.name, candidate.claim)
        except (NotFoundError, ConflictError, RefusedError) as error:
            marked.remove(candidate)
            return f"{candidate.node.name}: {error}"
        return ""

    def _objection(self, method: Method, planned: Candidate, budgets: tuple[PodDisruptionBudget, ...]) -> str:
        now, pods = self.clock.now(), self.cluster.pods_on(planned.node.name)
        return method.objection(planned, replace(planned, pods=pods, objections=objecting(pods, budgets, now)), now)

    def _unclaimed(self, candidate: Candidate) -> NodeClaim | None:
        """The claim as it is stored, unless it is gone or somebody else retires it already."""
        try:
            claim = self.ledger.claim(self._name, candidate.claim.id)
        except NotFoundError:
            return None
        return claim if claim.retirement is None else None

    def _buy(self, command: Command, market: Callable[[], Market], epoch: int, bought: list[str]) -> int:
        """Replacements, all of them; the epoch after it."""
        for launch in command.relocation.launches:
            outcome, epoch = self.launcher.buy(market().order(launch, self.buyer), epoch)
            bought += outcome.claims
            if len(outcome.claims) < len(launch.nodes):
                errors = "; ".join(sorted({error.code for error in outcome.errors}))
                raise _DroppedError(f"its replacement didn't come: {outcome.refused or errors or 'EC2 is not clear'}")
        return epoch

    def _start(
        self, command: Command, claims: Sequence[NodeClaim], replacements: tuple[str, ...], epoch: int
    ) -> tuple[NodeClaim, ...]:
        if not claims:
            return ()
        return self.ledger.start_retirements(self._name, list(self._retiring(command, claims, replacements)), epoch)

    def _retiring(
        self, command: Command, claims: Sequence[NodeClaim], replacements: tuple[str, ...]
    ) -> Iterator[NodeClaim]:
        now = self.clock.now()
        expires = now + EXPIRES if command.deadline is None else None
        for claim in claims:
            retiring = begin(
                claim, command.reason, now, deadline=command.deadline, expires=expires, replacements=replacements
            )
            if retiring is not None:
                yield retiring

    def _wake(self, retired: Sequence[NodeClaim]) -> None:
        """The first turns. One that can't be sent is found by reconcile."""
        for claim in retired:
            try:
                if claim.retirement is not None:
                    self.queue.send(self._name, claim.id, claim.retirement.epoch, timedelta())
            except OutsideError as error:
                self.observer.problem(self._name, "disrupt", f"{claim.node_name}: {error}; reconcile sends it on")

    def _undo(self, marked: Sequence[Candidate]) -> None:
        """Best effort: what stays is a stale mark."""
        for candidate in marked:
            try:
                self._marker.unmark(candidate.node.name, candidate.claim)
            except OutsideError as error:
                self.observer.problem(self._name, "disrupt", f"{candidate.node.name}: {error}; untainted later")

    @property
    def _marker(self) -> Marker:
        return Marker(self._name, self.ledger, self.cluster)

    @property
    def _name(self) -> str:
        return self.buyer.cluster.name
