"""The functions as they are deployed, on ports whose every call can fail. Another one is a line in FUNCTIONS."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from nodewright.adapters.memory import InMemoryClusters
from nodewright.adapters.memory.queues import Message
from nodewright.application.disrupt import Disrupt
from nodewright.application.interrupt import Interrupt
from nodewright.application.launching import Launcher
from nodewright.application.node_class_resolution import NodeClassResolver
from nodewright.application.node_deletions import NodeDeletions
from nodewright.application.notify import Notify
from nodewright.application.pool_options import MarketReader
from nodewright.application.pool_settings import PoolSettings
from nodewright.application.ports import Fleet, Hints, Images, InstanceProfiles, Networks, Observer
from nodewright.application.provision import Provision
from nodewright.application.reconcile import Reconcile
from nodewright.application.registering import Registrar
from nodewright.application.retire import Retire
from nodewright.application.retirement_ports import NodeLedger, RetireQueue, RetiringClusters
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.application.tick import tick
from nodewright.application.upkeep import Upkeep
from nodewright.wiring.hinted import HintedFunction
from nodewright.wiring.interrupt import InterruptFunction
from nodewright.wiring.retire import RetireFunction
from nodewright.wiring.state import Base
from tests.application.world import CLUSTER, STACK, TOKEN
from tests.harness.lambdas import Function, Handler, Outside, Port, SkewedClock

if TYPE_CHECKING:
    from tests.harness.world import World


@dataclass(frozen=True)
class Container:
    """What one container's use cases are made of."""

    world: "World"
    outside: Outside
    clock: SkewedClock
    timeout: timedelta
    ledger: NodeLedger
    fleet: Fleet
    clusters: RetiringClusters
    hints: Hints
    queue: RetireQueue
    observer: Observer

    @classmethod
    def of(cls, world: "World", verb: str) -> "Container":
        outside = Outside(world, verb)
        cluster = Port(world.cluster, "cluster", outside)
        return cls(
            world=world,
            outside=outside,
            clock=SkewedClock(world.timeline, world.skew(), outside),
            timeout=FUNCTIONS[verb].timeout,
            ledger=cast(NodeLedger, Port(world.ledger, "ledger", outside)),
            queue=cast(RetireQueue, Port(world.turns, "queue", outside)),
            fleet=cast(Fleet, Port(world.fleet, "fleet", outside)),
            clusters=cast(RetiringClusters, InMemoryClusters({CLUSTER: cast("object", cluster)})),  # type: ignore[dict-item]
            hints=cast(Hints, Port(world.hints, "hints", outside)),
            observer=world.observer,
        )

    def port(self, port: object, name: str) -> Port:
        return Port(port, name, self.outside)

    @property
    def base(self) -> Base:
        """What wiring puts around a use case."""
        telemetry = SimpleNamespace(logger=SimpleNamespace(info=lambda *_, **__: None))
        return cast(
            Base,
            SimpleNamespace(
                telemetry=telemetry, observer=self.observer, clock=self.clock, ledger=self.ledger, hints=self.hints
            ),
        )

    @property
    def market(self) -> MarketReader:
        world = self.world
        resolver = NodeClassResolver(
            cast(Networks, self.port(world.networks, "networks")),
            cast(Images, self.port(world.images, "images")),
            cast(InstanceProfiles, self.port(world.profiles, "profiles")),
            "stack-profile",
        )
        return MarketReader(self.ledger, resolver)

    @property
    def launcher(self) -> Launcher:
        return Launcher(self.ledger, self.fleet, self.observer, self.clock, self.world.new_id, self.timeout)


def _notify(of: Container) -> Handler:
    use = Notify(of.ledger, of.hints, of.observer)

    def handle(message: Message) -> None:
        use(CLUSTER, TOKEN, message.body.encode(), of.clock.now())

    return handle


def _tick(of: Container) -> Handler:
    def handle(_message: Message) -> None:
        tick(of.ledger, of.hints, of.clock.now())

    return handle


def _provision(of: Container) -> Handler:
    use = Provision(of.ledger, of.clusters, of.market, of.launcher, of.hints, of.observer, of.clock, STACK)
    function = HintedFunction(use, of.base, "provision")

    def handle(message: Message) -> None:
        deadline = of.clock.now() + of.timeout
        function.on_hint(message.body, _milliseconds(message), lambda cluster, at: use(cluster, at, deadline))

    return handle


def _reconcile(of: Container) -> Handler:
    starts = RetirementStarts(of.ledger, of.hints, of.queue, of.clock)
    use = Reconcile(
        of.ledger,
        of.clusters,
        of.market,
        of.launcher,
        Registrar(of.ledger, of.fleet, of.observer),
        NodeDeletions(starts),
        Upkeep(of.ledger, of.fleet, starts, of.observer),
        of.queue,
        of.hints,
        of.observer,
        of.clock,
    )
    function = HintedFunction(use, of.base, "reconcile")

    def handle(message: Message) -> None:
        function.on_hint(message.body, _milliseconds(message), use)

    return handle


def _disrupt(of: Container) -> Handler:
    use = Disrupt(of.ledger, of.clusters, of.market, of.launcher, of.queue, of.observer, of.clock, STACK)
    function = HintedFunction(use, of.base, "disrupt")

    def handle(message: Message) -> None:
        deadline = of.clock.now() + of.timeout
        function.on_hint(message.body, _milliseconds(message), lambda cluster, at: use(cluster, at, deadline))

    return handle


def _retire(of: Container) -> Handler:
    use = Retire(of.ledger, of.clusters, of.fleet, of.queue, of.hints, of.observer, of.clock, of.timeout)
    function = RetireFunction(use, of.base)
    return lambda message: function.on_message(message.body)


def _interrupt(of: Container) -> Handler:
    settings = PoolSettings(of.ledger, of.clusters, of.clock)
    starts = RetirementStarts(of.ledger, of.hints, of.queue, of.clock)
    use = Interrupt(of.ledger, of.fleet, settings, starts, of.hints, of.observer, of.clock)
    function = InterruptFunction(use, of.base)
    return lambda message: function.on_message(message.body)


def _milliseconds(message: Message) -> int:
    return int(message.sent.timestamp() * 1000)


def _deployed(verb: str, seconds: int, build: Callable[[Container], Handler]) -> Function:
    def made(world: "World", _verb: str) -> tuple[Outside, Handler]:
        container = Container.of(world, verb)
        return container.outside, build(container)

    return Function(timedelta(seconds=seconds), made)


#: Timeouts are those of infra/functions.py.
FUNCTIONS = {
    "notify": _deployed("notify", 3, _notify),
    "tick": _deployed("tick", 10, _tick),
    "provision": _deployed("provision", 90, _provision),
    "reconcile": _deployed("reconcile", 60, _reconcile),
    "interrupt": _deployed("interrupt", 30, _interrupt),
    "retire": _deployed("retire", 30, _retire),
    "disrupt": _deployed("disrupt", 300, _disrupt),
}
