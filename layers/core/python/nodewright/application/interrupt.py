"""AWS takes nodes from us, or says that it will.

An event is mapped to claims by its instances' owners; what it means is stored as their retirement, and only
then are provision, for places for their pods, and retire woken. Everything may be done again: AWS delivers
at least once and in no order, and a message that failed comes back (cases.md 23, 24, 26, 27).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from nodewright.application.errors import NotFoundError, OutsideError, UnavailableError
from nodewright.application.pool_settings import PoolSettings
from nodewright.application.ports import Clock, Fleet, Hints, Instance, Observer, UnavailableOffering
from nodewright.application.reservations import LAUNCH_TAG
from nodewright.application.retirement_ports import NodeLedger
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.domain.claims import NodeClaim, withdrawn
from nodewright.domain.interruption import Interruption, UnreadableEventError, read
from nodewright.domain.interruption.deciding import retiring
from nodewright.domain.interruption.lead import DEFAULT_LEAD, scheduled_event_lead

CLUSTER_TAG = "eks:eks-cluster-name"

#: How long an offering that EC2 takes instances back from is left alone, for every cluster of the region.
COOLDOWN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one event; for logs and tests."""

    outcome: str
    """handled | ignored | unreadable | stale."""
    retired: int = 0
    """Retirements begun or made more pressing."""
    known: int = 0
    """Instances of ours for which nothing was left to do."""
    foreign: int = 0


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The use case."""

    ledger: NodeLedger
    fleet: Fleet
    settings: PoolSettings
    starts: RetirementStarts
    hints: Hints
    observer: Observer
    clock: Clock

    def __call__(self, raw: object) -> Report:
        """Handle one EventBridge event. An OutsideError leaves something to be done: it must come again."""
        now = self.clock.now()
        try:
            told = read(raw, now)
        except UnreadableEventError as error:
            self.observer.problem("", "event", str(error))
            return Report("unreadable")
        if told is None:
            return Report("ignored")
        if told.is_stale(now):
            return Report("stale")
        return _Run(self, told, now).go()


@dataclass(slots=True)
class _Run:
    """One event. One instance's trouble doesn't keep the others from being handled."""

    use: Interrupt
    told: Interruption
    now: datetime
    retired: int = 0
    foreign: int = 0
    unknown: list[str] = field(default_factory=list)
    trouble: list[OutsideError] = field(default_factory=list)

    def go(self) -> Report:
        """Those with an owner first: they are in a hurry."""
        for instance_id in self.told.instance_ids:
            self._try(partial(self._one, instance_id))
        if self.unknown:
            self._strangers(self.unknown)
        if self.trouble:
            raise self.trouble[0]
        return Report("handled", self.retired, len(self.told.instance_ids) - self.retired - self.foreign, self.foreign)

    def _one(self, instance_id: str) -> None:
        owner = self.use.ledger.owner(instance_id)
        if owner is None:
            self.unknown.append(instance_id)
            return
        cluster, claim_id = owner
        try:
            self._ours(cluster, self.use.ledger.claim(cluster, claim_id))
        except NotFoundError:
            return  # its claim is gone: whatever came before this event was handled to the end

    def _ours(self, cluster: str, claim: NodeClaim) -> None:
        """The offering first: what is planned for the pods must not be bought there again."""
        if self.told.cools_down:
            self._try(partial(self._cool_down, claim))
        if self.told.withdraws:
            self._withdraw(cluster, claim)
        elif self.told.retires:
            self._retire(cluster, claim)

    def _try(self, duty: Callable[[], None]) -> None:
        """What fails makes the event come again, and keeps nothing else of it waiting until then."""
        try:
            duty()
        except OutsideError as error:
            self.trouble.append(error)

    def _retire(self, cluster: str, claim: NodeClaim) -> None:
        lead = self._lead(cluster, claim.pool) if self.told.scheduled else DEFAULT_LEAD
        stored, ours = self.use.starts.force(cluster, claim, lambda fresh: retiring(fresh, self.told, lead, self.now))
        if ours:
            self.retired += 1
            self.use.observer.interrupted(cluster, claim, self.told.reason)
        retirement = stored.retirement
        # Where it isn't ours, the run that stored it may have died before it woke anybody.
        if retirement is not None and retirement.withdrawable and retirement.reason == self.told.reason:
            self.use.starts.wake(cluster, stored, self.told.event_id)

    def _withdraw(self, cluster: str, claim: NodeClaim) -> None:
        """The node serves on. Reconcile takes off what was put on it already."""
        known = claim.retirement
        if known is not None and known.reason == self.told.reason and known.withdrawable:
            self.use.ledger.save_claim(cluster, withdrawn(claim))
            self.use.hints.send(cluster, "reconcile", self.now, dedup=self.told.event_id)

    def _cool_down(self, of: NodeClaim | Instance) -> None:
        until = self.told.noticed + COOLDOWN
        if of.capacity_type == "spot" and of.instance_type:
            offering = UnavailableOffering(of.instance_type, of.zone, "spot", self.told.reason, until)
            self.use.ledger.mark_unavailable([offering])

    def _lead(self, cluster: str, pool: str) -> timedelta:
        """Of a pool; the default where it can't be learnt, as the event is more than a day away or urgent."""
        try:
            return scheduled_event_lead(self.use.settings.of(cluster, pool))
        except (OutsideError, ValueError) as error:
            self.use.observer.problem(cluster, f"NodePool/{pool}", f"{error}; a day ahead is taken")
            return DEFAULT_LEAD

    def _strangers(self, instance_ids: Sequence[str]) -> None:
        """Instances nobody owns: other people's, or of a launch that is being settled at this moment."""
        try:
            ours = self._tagged(instance_ids)
            for instance_id in instance_ids:
                self._stranger(instance_id, ours.get(instance_id))
        except OutsideError as error:
            self.trouble.append(error)

    def _tagged(self, instance_ids: Sequence[str]) -> dict[str, Instance]:
        """By one look at their tags, where that is worth it."""
        over = self.told.deadline is not None and self.told.deadline < self.now
        if self.told.common or self.told.withdraws or over:
            return {}
        return {instance.id: instance for instance in self.use.fleet.ours_among(instance_ids)}

    def _stranger(self, instance_id: str, tagged: Instance | None) -> None:
        if tagged is None or not self._is_being_launched(tagged):
            self.foreign += 1
            self.use.observer.foreign_event(self.told.reason, instance_id)
            return
        if self.told.cools_down:
            self._cool_down(tagged)
        # Whoever launches it may have died; a provision run finishes what is left. The event's own hint is for later.
        self.use.hints.send(tagged.tags[CLUSTER_TAG], "provision", self.now)
        self.trouble.append(UnavailableError(f"instance {instance_id}: its launch isn't settled yet"))

    def _is_being_launched(self, instance: Instance) -> bool:
        cluster, launch_id = instance.tags.get(CLUSTER_TAG, ""), instance.tags.get(LAUNCH_TAG, "")
        return bool(cluster) and any(record.id == launch_id for record in self.use.ledger.launches(cluster))
