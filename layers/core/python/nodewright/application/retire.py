"""One turn of one node's way out (architecture §2, §4, §8).

A message says "it is this retirement's turn". Whose conditional write moves `next_at` on has the turn:
it looks, does one step and stores where things stand; then, and only then, one message goes out for the
next turn. A run that dies anywhere leaves `next_at` behind: the queue brings its message back, and
reconcile sends another. A message that comes early, late or twice finds no turn and is dropped.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from nodewright.application.errors import ConflictError, NotFoundError, OutsideError, UnavailableError
from nodewright.application.ports import Clock, DecisionRecord, Fleet, Hints, Observer
from nodewright.application.reaching import reaching
from nodewright.application.retirement_actions import Actor
from nodewright.application.retirement_ports import NodeLedger, RetireQueue, RetiringClusters
from nodewright.application.retirement_view import Viewer
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.retirement import Retirement, Step
from nodewright.domain.retirement_turns import Turn
from nodewright.domain.retiring import decide, hold, needs_cluster

Outcome = Literal["dropped", "waits", "withdrawn", "gone"]


@dataclass(frozen=True, slots=True)
class Retire:
    """The use case."""

    ledger: NodeLedger
    clusters: RetiringClusters
    fleet: Fleet
    queue: RetireQueue
    hints: Hints
    observer: Observer
    clock: Clock
    lease: timedelta
    """The function's timeout: after it nobody else is at work on this turn."""

    def __call__(self, name: str, claim_id: str, epoch: int) -> Outcome:
        """Take one turn. UnavailableError: nothing was lost, the message must come again."""
        connected = self.ledger.cluster(name)
        now = self.clock.now()
        try:
            claim: NodeClaim | None = self.ledger.take_turn(name, claim_id, epoch, now, now + self.lease)
        except (ConflictError, NotFoundError):
            return "dropped"
        while claim is not None:
            before = claim
            claim = self._step(connected, before)
            if claim is None or claim.state is ClaimState.GONE or claim.retirement is None:
                return self._ended(name, before, claim)
            wait = claim.retirement.next_at - self.clock.now()
            if wait > timedelta() or claim.retirement.step is _step_of(before):
                self.queue.send(name, claim_id, epoch, max(wait, timedelta()))
                return "waits"
        return "dropped"

    def _ended(self, name: str, before: NodeClaim, claim: NodeClaim | None) -> Outcome:
        """A node that we chose to end gives its budget back: the next may go, so disrupt looks at once."""
        if claim is None:
            return "dropped"
        if claim.state is not ClaimState.GONE:
            return "withdrawn"
        if _retirement(before).voluntary:
            self.hints.send(name, "disrupt", self.clock.now())
        return "gone"

    def _step(self, connected: ConnectedCluster, claim: NodeClaim) -> NodeClaim | None:
        """The claim as stored after it; None when somebody else changed the retirement meanwhile."""
        retirement = _retirement(claim)
        try:
            turn = self._turn(connected, claim, retirement)
        except OutsideError as error:
            self.observer.problem(connected.name, "retire", f"{_subject(claim)}, {retirement.step}: {error}; again")
            turn = Turn(hold(retirement, self.clock.now()), note=str(error))
        stored = self._store(connected.name, claim, _after(claim, turn))
        if stored is not None:
            self._tell(connected.name, claim, stored, turn)
        return stored

    def _turn(self, connected: ConnectedCluster, claim: NodeClaim, retirement: Retirement) -> Turn:
        """Look, decide, act. Where a pod was granted leave, the turn's happier end counts."""
        now = self.clock.now()
        if connected.unreachable(now) and not retirement.urgent and needs_cluster(retirement, now):
            raise UnavailableError(f"cluster {connected.name} didn't answer and is left alone for a minute")
        cluster = self.clusters.open(connected)
        with reaching(connected.name, self.ledger, self.clock):
            view = Viewer(connected.name, self.ledger, self.fleet).look(cluster, claim, retirement, now)
            turn = decide(view, now)
            granted = Actor(self.fleet, cluster).act(view, turn.actions, now)
        return replace(turn, retirement=turn.moved) if granted and turn.moved else turn

    def _store(self, cluster: str, before: NodeClaim, after: NodeClaim) -> NodeClaim | None:
        """A registration or a nomination may have changed the claim meanwhile: its retirement is still ours to move."""
        try:
            return self.ledger.save_claim(cluster, after)
        except ConflictError:
            pass
        try:
            fresh = self.ledger.claim(cluster, before.id)
            if fresh.retirement != before.retirement:
                return None
            state = after.state if after.state is ClaimState.GONE else fresh.state
            return self.ledger.save_claim(cluster, replace(fresh, retirement=after.retirement, state=state))
        except (ConflictError, NotFoundError):
            return None

    def _tell(self, cluster: str, before: NodeClaim, after: NodeClaim, turn: Turn) -> None:
        """Every change of step is told; what merely goes on is not."""
        retirement = _retirement(before)
        if after.state is ClaimState.GONE:
            self.observer.retiring(cluster, before, retirement, "gone")
        elif after.retirement is None:
            self.observer.retiring(cluster, before, retirement, f"withdrawn: {turn.note}")
            self.ledger.record_decision(cluster, _withdrawal(before, retirement, turn.note, self.clock.now()))
        elif after.retirement.step is not retirement.step or retirement.attempts == 0:
            self.observer.retiring(cluster, before, after.retirement, turn.note)


def _step_of(claim: NodeClaim) -> Step | None:
    return claim.retirement.step if claim.retirement else None


def _retirement(claim: NodeClaim) -> Retirement:
    if claim.retirement is None:
        raise ConflictError(f"claim {claim.id} is not retiring")
    return claim.retirement


def _after(claim: NodeClaim, turn: Turn) -> NodeClaim:
    if turn.gone:
        return replace(claim, state=ClaimState.GONE)
    return replace(claim, retirement=turn.retirement)


def _subject(claim: NodeClaim) -> str:
    return claim.node_name or claim.instance_id or claim.id


def _withdrawal(claim: NodeClaim, retirement: Retirement, why: str, now: datetime) -> DecisionRecord:
    return DecisionRecord(
        id=f"{claim.id}-{retirement.epoch}",
        time=now,
        kind="retire",
        summary=f"{_subject(claim)} stays: {retirement.reason}, but {why}",
        details={"claim": claim.id, "pool": claim.pool, "node": claim.node_name, "reason": retirement.reason},
    )
