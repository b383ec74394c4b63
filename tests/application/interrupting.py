"""A world whose pods run on spot nodes of ours, and AWS's events about them, delivered as SQS does."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from nodewright.adapters.memory import InMemoryRetireQueue
from nodewright.application.errors import ConflictError, OutsideError, UnavailableError
from nodewright.application.hints import is_overtaken
from nodewright.application.interrupt import Interrupt, Report
from nodewright.application.pool_settings import PoolSettings
from nodewright.application.ports import Hints, Instance
from nodewright.application.retirement_ports import RetireQueue
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.pods import Owner, Pod
from nodewright.domain.pools import NodePool
from nodewright.domain.retirement import Reason, Retirement, Step
from nodewright.domain.retiring import begin
from tests.application.killing import Fused, KilledError
from tests.application.provisioning import SMALL, world
from tests.application.world import CLUSTER, World, connected
from tests.builders import claim, pod
from tests.events.samples import Json, of

WEB = Owner("ReplicaSet", "web", "u")


def web(count: int, name: str = "web") -> tuple[Pod, ...]:
    """Pods that have a small node each."""
    return tuple(pod(f"{name}-{number}", cpu="1500m", owner=WEB) for number in range(count))


class Scene:
    """A world after its pods have got their nodes."""

    def __init__(self, running: Sequence[Pod], pool: NodePool = SMALL) -> None:
        self.world: World = world(*running, of=pool)
        self.queue = InMemoryRetireQueue(self.world.clock)
        self.world.provision()
        self.settle()
        self.world.hints.sent.clear()
        self.before = self.world.running

    # ---- what AWS and the function do ----

    def event(self, name: str, about: Instance | str, event_id: str = "", **detail: Json) -> Json:
        """Sent now."""
        instance_id = about if isinstance(about, str) else about.id
        fields = {field.replace("_", "-"): value for field, value in detail.items()}
        return of(name, instance_id, event_id, fields, time=self.world.clock.now().isoformat())

    def tell(self, raw: object) -> Report:
        """One delivery of one event."""
        return self.use()(raw)

    def deliver(self, *events: Json) -> None:
        """Each until it is handled, as the queue does; in between time goes by."""
        for raw in events:
            for _ in range(5):
                try:
                    self.tell(raw)
                    break
                except (OutsideError, KilledError):
                    self.world.fuse.renew()
        self.world.fuse.renew()

    def use(self) -> Interrupt:
        here, ports, clock = self.world, self.world._ports(), self.world.clock
        ledger = ports.ledger
        hints = cast(Hints, Fused(here.hints, here.fuse))
        queue = cast(RetireQueue, Fused(self.queue, here.fuse))
        return Interrupt(
            ledger,
            ports.fleet,
            PoolSettings(ledger, ports.clusters, clock),
            RetirementStarts(ledger, hints, queue, clock),
            hints,
            here.observer,
            clock,
        )

    # ---- what others do about it ----

    def plan(self) -> int:
        """Carry out the hints at provision, as its function does; how many runs that took."""
        runs = 0
        waiting, self.world.hints.sent = self.world.hints.sent, []
        for hint in waiting:
            overtaken = hint.urgent and is_overtaken(self.world.ledger, CLUSTER, "provision", hint.at)
            if hint.duty == "provision" and not overtaken:
                self.world.provision(None if hint.urgent else hint.at)
                runs += 1
        return runs

    def settle(self) -> None:
        """Nodes join, and kube-scheduler binds what waits to them."""
        self.world.fuse.renew()
        self.world.join()
        self.world.reconcile()
        self.world.bind_nominated()

    def drain(self, node: str) -> None:
        """Its pods go, and their ReplicaSet makes others."""
        for key, there in list(self.world.cluster.pods.items()):
            if there.node_name == node:
                del self.world.cluster.pods[key]
                self.world.cluster.add(pod(f"{key.name}-again", cpu="1500m", owner=WEB))

    def move_on(self, instance: Instance, step: Step) -> None:
        """What retire does in the end."""
        claim = self.claim_of(instance)
        assert claim.retirement is not None
        self.world.ledger.save_claim(CLUSTER, replace(claim, retirement=replace(claim.retirement, step=step)))
        self.world.fleet.terminate([instance.id])

    def forget(self, instance: Instance) -> None:
        """And after that."""
        self.world.ledger.save_claim(CLUSTER, replace(self.claim_of(instance), state=ClaimState.GONE))

    def launch_unsettled(self, *waiting: Pod) -> None:
        """A provision run that dies right after EC2 bought."""
        self.world.cluster.add(*waiting)
        calls = Scene((*web(1),)).calls_until("InMemoryFleet.launch", *waiting)
        self.world.fuse.renew(calls)
        with suppress(KilledError):
            self.world.provision()
        self.world.fuse.renew()

    def calls_until(self, call: str, *waiting: Pod) -> int:
        self.world.cluster.add(*waiting)
        self.world.fuse.renew()
        self.world.provision()
        return self.world.fuse.made.index(call) + 1

    def in_other_cluster(self, name: str) -> str:
        """An instance of a cluster of the same install."""
        ledger, now = self.world.ledger, self.world.clock.now()
        ledger.put_cluster(connected(name=name))
        made = claim("other-00", launch_id="other", state=ClaimState.RESERVED)
        ledger.reserve(name, 0, LaunchRecord("other", (made.id,), "", now, now), [made])
        ledger.settle_launch(name, "other", [replace(made, state=ClaimState.LAUNCHED, instance_id="i-0beta")])
        return "i-0beta"

    def set_pool(self, annotation: str, value: str) -> None:
        self.world.cluster.add(replace(self.world.cluster.pools["default"], settings={annotation: value}))

    def contend(self, times: int) -> None:
        """Somebody else changes the claim just before, so often."""
        start = self.world.ledger.start_retirements
        left = iter(range(times))

        def contested(*args: Any) -> tuple[NodeClaim, ...]:
            if next(left, None) is not None:
                raise ConflictError("somebody else was first")
            return start(*args)

        setattr(self.world.ledger, "start_retirements", contested)  # noqa: B010  a method, for mypy

    def overtake(self, rival: Callable[[], object]) -> None:
        """Somebody else comes between reading and storing, once."""
        start = self.world.ledger.start_retirements
        left = iter((rival,))

        def overtaken(*args: Any) -> tuple[NodeClaim, ...]:
            next(left, lambda: None)()
            return start(*args)

        setattr(self.world.ledger, "start_retirements", overtaken)  # noqa: B010  a method, for mypy

    def retire(self, instance: Instance, reason: Reason, deadline: datetime | None = None) -> None:
        """Stored, and then its run dies."""
        retiring = begin(self.claim_of(instance), reason, self.world.clock.now(), deadline=deadline)
        assert retiring is not None
        self.world.ledger.start_retirements(CLUSTER, [retiring], None)

    def throttle_owner_of(self, instance: Instance) -> None:
        """Once."""
        owner, left = self.world.ledger.owner, iter(range(1))

        def throttled(instance_id: str) -> tuple[str, str] | None:
            if instance_id == instance.id and next(left, None) is not None:
                raise UnavailableError("throttled")
            return owner(instance_id)

        setattr(self.world.ledger, "owner", throttled)  # noqa: B010  a method, for mypy

    # ---- what there is to see ----

    def claim_of(self, instance: Instance) -> NodeClaim:
        (found,) = [claim for claim in self.world.claims if claim.instance_id == instance.id]
        return found

    def retirement(self, instance: Instance) -> Retirement | None:
        return self.claim_of(instance).retirement

    def reason(self, instance: Instance) -> str:
        found = self.retirement(instance)
        return found.reason if found else ""

    @property
    def replacements(self) -> int:
        """Instances bought since the pods ran."""
        return len(self.world.fleet.instances) - len(self.before)

    def asked(self, call: str) -> int:
        return self.world.fuse.made.count(call)

    def cooling(self) -> set[tuple[str, str, str]]:
        found = self.world.ledger.unavailable_offerings(self.world.clock.now())
        return {(each.instance_type, each.zone, each.capacity_type) for each in found}


def offering(instance: Instance) -> tuple[str, str, str]:
    return instance.instance_type, instance.zone, instance.capacity_type
