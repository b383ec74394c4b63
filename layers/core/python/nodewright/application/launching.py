"""Buying nodes: reserve, ask EC2, settle. Whatever dies in between, another run finishes the same launch.

The order is the safety (architecture §4, rule 2): nothing is bought that isn't reserved in the table,
the reservation holds the exact request, and EC2 buys once for one ClientToken.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nodewright.application.errors import RefusedError, UnavailableError
from nodewright.application.limits import LimitReachedError, limits_of
from nodewright.application.orders import Order, template_orders
from nodewright.application.ports import (
    Clock,
    Fleet,
    FleetAnswer,
    FleetError,
    FleetTemplate,
    Instance,
    Ledger,
    Observer,
    UnavailableOffering,
)
from nodewright.application.reservations import Reservation, decode_request, portions, reservation
from nodewright.domain import nodes
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.fleet_errors import Reaction, cooled_down, judge
from nodewright.domain.limits import LAUNCHES, Limits
from nodewright.domain.usage import WHOLE_CLUSTER, counted, settled

#: Looks a type up as a pool sees it: (pool, type name) → type, None when it isn't known any more.
TypeLookup = Callable[[str, str], InstanceType | None]

#: Pauses between tries of one throttled call within a run.
RETRY_PAUSES = (timedelta(milliseconds=500), timedelta(seconds=2), timedelta(seconds=4))

_DEAD = frozenset({"shutting-down", "terminated"})


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one order."""

    launched: int = 0
    wanted: int = 0
    errors: tuple[FleetError, ...] = ()
    unclear: bool = False
    """EC2 couldn't be asked; the launch is finished by a later run."""
    refused: str = ""
    limit: str = ""
    """The resource whose limit kept the rest from being reserved; nothing is wrong with what was launched."""
    nodes: tuple[NodeClaim, ...] = ()
    """Those that came, at the price they have."""

    @property
    def claims(self) -> tuple[str, ...]:
        """Of the nodes that came."""
        return tuple(claim.id for claim in self.nodes)

    @property
    def ran_away(self) -> bool:
        """Whether so much was launched within the hour that buying has to stop."""
        return self.limit == LAUNCHES

    @property
    def replan(self) -> bool:
        """Whether planning again without what cools down may place the rest."""
        return self._lacks("replan")

    @property
    def later(self) -> bool:
        """Whether another run soon may succeed: EC2 was throttled or had a hiccup."""
        return self.unclear or self._lacks("retry")

    def _lacks(self, reaction: Reaction) -> bool:
        """EC2 tells of what it tried in vain even where it found everything elsewhere."""
        return self.launched < self.wanted and any(judge(e.code).reaction == reaction for e in self.errors)


@dataclass(frozen=True, slots=True)
class Launcher:
    """Buys for one cluster."""

    ledger: Ledger
    fleet: Fleet
    observer: Observer
    clock: Clock
    new_id: Callable[[], str]
    lease: timedelta
    """The function's timeout: after it nobody is still working on a launch."""

    def buy(self, order: Order, epoch: int) -> tuple[Outcome, int]:
        """Launch all nodes of an order, as far as limits allow; returns what came and the epoch after it.

        ConflictError: another planner was first, nothing of the rest was bought.
        """
        templates, limits = self._templates(order), _limits(order)
        outcomes = []
        for contents in portions(order.launch.contents):
            reserved = reservation(self.new_id(), order, contents, templates, self.clock.now(), self.lease)
            try:
                self.ledger.reserve(order.buyer.cluster.name, epoch, reserved.record, reserved.claims, limits)
            except LimitReachedError as error:
                outcomes.append(self._stopped(order, len(contents), error))
                break
            epoch += 1
            outcomes.append(self._launch(order, reserved))
        return _together(outcomes), epoch

    def finish(self, cluster: str, lookup: TypeLookup) -> int:
        """Finish launches whose owner is surely dead; returns how many.

        One that EC2 can't be asked about keeps no other from being finished: UnavailableError comes last.
        """
        now = self.clock.now()
        finished = 0
        unclear: UnavailableError | None = None
        for record in self.ledger.launches(cluster):
            if record.lease_until > now:
                continue
            try:
                self._finish(cluster, record, lookup, now)
                finished += 1
            except UnavailableError as error:
                unclear = error
        if unclear is not None:
            raise unclear
        return finished

    def _templates(self, order: Order) -> tuple[FleetTemplate, ...]:
        return tuple(FleetTemplate(self.fleet.ensure_template(t.spec), t.overrides) for t in template_orders(order))

    def _stopped(self, order: Order, wanted: int, error: LimitReachedError) -> Outcome:
        """Nothing of it was stored; a launch that runs away is told as loud as can be."""
        cluster = order.buyer.cluster.name
        self.observer.problem(cluster, "limit", str(error))
        if error.resource == LAUNCHES:
            self.observer.braked(cluster, "launches-per-hour", str(error))
        return Outcome(wanted=wanted, refused=str(error), limit=error.resource)

    def _launch(self, order: Order, reserved: Reservation) -> Outcome:
        cluster = order.buyer.cluster.name
        try:
            answer = self._ask(reserved)
        except UnavailableError as error:
            self.ledger.hand_back_launch(cluster, reserved.record.id, self.clock.now())
            self.observer.problem(cluster, "launch", f"{reserved.record.id}: {error}; the next run finishes it")
            return Outcome(unclear=True)
        except RefusedError as error:
            self._settle(cluster, reserved.record.id, reserved.claims, (), lambda _, name: order.types.get(name))
            self.observer.problem(cluster, "launch", f"{reserved.record.id}: {error}")
            return Outcome(refused=str(error))
        # Cooling down is stored first: a run that dies here must not be followed by one that tries the same again.
        self._cool_down(answer.errors, order.types)
        came = self._settle(
            cluster, reserved.record.id, reserved.claims, answer.instances, lambda _, name: order.types.get(name)
        )
        self.observer.launched(cluster, order.pool.name, answer)
        return Outcome(len(answer.instances), reserved.request.capacity, answer.errors, nodes=came)

    def _ask(self, reserved: Reservation) -> FleetAnswer:
        """Ask with pauses between; the same token every time."""
        for pause in RETRY_PAUSES:
            try:
                return self.fleet.launch(reserved.request)
            except UnavailableError:
                self.clock.sleep(pause)
        return self.fleet.launch(reserved.request)

    def _finish(self, cluster: str, record: LaunchRecord, lookup: TypeLookup, now: datetime) -> None:
        answer = self._came_of(cluster, record, now)
        claims = [c for c in self.ledger.claims(cluster) if c.launch_id == record.id]
        self._cool_down(answer.errors, {})
        assigned = assign(claims, answer.instances, lookup)
        if not self.ledger.settle_launch(cluster, record.id, assigned):
            return  # another run finished it at the same time, and tells of it
        # A run that died half-way told nothing of what it stored.
        came = {claim.instance_id for claim in (*claims, *assigned)}
        told = replace(answer, instances=tuple(i for i in answer.instances if i.id in came))
        for pool in dict.fromkeys(claim.pool for claim in claims):
            self.observer.launched(cluster, pool, told)

    def _came_of(self, cluster: str, record: LaunchRecord, now: datetime) -> FleetAnswer:
        """What a launch brought. Up to its deadline it is asked for once more, with the same request."""
        tagged = self.fleet.launched(record.id)
        answer = FleetAnswer(())
        if now <= record.deadline:
            try:
                answer = self.fleet.launch(decode_request(record.request))
            except RefusedError as error:
                self.observer.problem(cluster, "launch", f"{record.id}: {error}")
        instances = {i.id: i for i in (*answer.instances, *tagged)}  # described says more than answered
        return replace(answer, instances=tuple(instances[i] for i in sorted(instances)))

    def _settle(
        self,
        cluster: str,
        launch_id: str,
        claims: Sequence[NodeClaim],
        instances: Sequence[Instance],
        lookup: TypeLookup,
    ) -> tuple[NodeClaim, ...]:
        """The claims that got an instance."""
        assigned = assign(claims, instances, lookup)
        self.ledger.settle_launch(cluster, launch_id, assigned)
        return tuple(claim for claim in assigned if claim.instance_id)

    def _cool_down(self, errors: Sequence[FleetError], types: Mapping[str, InstanceType]) -> None:
        now = self.clock.now()
        cooling = {
            pattern: (rule, error)
            for error in errors
            for rule in (judge(error.code),)
            for pattern in cooled_down(rule, error.instance_type, error.zone, error.capacity_type, types)
        }
        if cooling:
            self.ledger.mark_unavailable(
                [
                    UnavailableOffering(*pattern, f"{error.code}: {rule.meaning}", now + rule.cooldown)
                    for pattern, (rule, error) in cooling.items()
                ]
            )


def assign(claims: Sequence[NodeClaim], instances: Sequence[Instance], lookup: TypeLookup) -> tuple[NodeClaim, ...]:
    """Instances to claims, both in id order; a claim without one is gone. The dead make no node."""
    waiting = sorted((c for c in claims if not c.instance_id), key=lambda c: c.id)
    taken = {c.instance_id for c in claims if c.instance_id}
    alive = (i for i in instances if i.id not in taken and i.state not in _DEAD)
    came = iter(sorted(alive, key=lambda i: i.id))
    return tuple(_with_instance(claim, next(came, None), lookup) for claim in waiting)


def _with_instance(claim: NodeClaim, instance: Instance | None, lookup: TypeLookup) -> NodeClaim:
    if instance is None:
        return replace(claim, state=ClaimState.GONE)
    launched = replace(
        claim,
        state=ClaimState.LAUNCHED,
        instance_id=instance.id,
        image_id=instance.image_id,
        instance_type=instance.instance_type,
        zone=instance.zone,
        capacity_type=instance.capacity_type,
        labels=_known_labels(claim, instance),
    )
    instance_type = lookup(claim.pool, instance.instance_type)
    return launched if instance_type is None else _with_type(launched, instance_type)


def _known_labels(claim: NodeClaim, instance: Instance) -> dict[str, str]:
    return {
        **claim.labels,
        nodes.INSTANCE_TYPE_LABEL: instance.instance_type,
        nodes.ZONE_LABEL: instance.zone,
        nodes.CAPACITY_TYPE_LABEL: instance.capacity_type,
    }


def _with_type(claim: NodeClaim, instance_type: InstanceType) -> NodeClaim:
    """What came instead of the largest and smallest of what might have come."""
    prices = [
        o.price for o in instance_type.offerings if (o.zone, o.capacity_type) == (claim.zone, claim.capacity_type)
    ]
    known = replace(
        claim,
        price=prices[0] if prices else claim.price,
        labels={**instance_type.labels, **claim.labels},
        capacity=instance_type.capacity,
        allocatable=instance_type.allocatable,
    )
    return settled(known, counted(claim), prices[0] if prices else None)


def _limits(order: Order) -> dict[str, Limits]:
    cluster = order.buyer.cluster
    limits = limits_of(order.pool, cluster)
    whole = Limits({**limits[WHOLE_CLUSTER], LAUNCHES: cluster.launches_per_hour})
    return {**limits, WHOLE_CLUSTER: whole}


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    return Outcome(
        launched=sum(o.launched for o in outcomes),
        wanted=sum(o.wanted for o in outcomes),
        errors=tuple(e for o in outcomes for e in o.errors),
        unclear=any(o.unclear for o in outcomes),
        limit=next((o.limit for o in outcomes if o.limit), ""),
        refused="; ".join(dict.fromkeys(o.refused for o in outcomes if o.refused)),
        nodes=tuple(claim for o in outcomes for claim in o.nodes),
    )
