"""What happens in a world before anything goes wrong in it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from nodewright.adapters.memory import Budget
from nodewright.adapters.memory.control_plane import Deployment
from nodewright.domain.buffer_status import RESOLVED, BufferReading, BufferStatus
from nodewright.domain.headroom import HEADROOM, CapacityBuffer
from nodewright.domain.limits import NODES, PRICE
from nodewright.domain.pods import PodKey
from nodewright.domain.pools import DisruptionBudget
from nodewright.domain.quantities import Resources
from tests.builders import daemon_set, pod, pool, requirements, resources

if TYPE_CHECKING:
    from tests.harness.world import World

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
CPU = "karpenter.k8s.aws/instance-cpu"
SIZES = ("250m", "800m", "1500m", "3", "6")
ROOM_FOR_ONE = {HEADROOM: "cpu=1500m,pods=1"}
SPOT_IS_OUT = ("m5.large", "m5.xlarge", "m6g.large", "c5.large")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A story; `lasts` is when its own events are over."""

    name: str
    play: Callable[["World"], None]
    lasts: timedelta = MINUTE
    may_wait: int = 0
    """Pods that limits or shortage keep from having a node."""
    nodes: int | None = None
    """How many are left in the end; None: that isn't what it is about."""
    spare: int = 0
    """Instances that a fault may cost beyond those of the undisturbed run, for the reason the scenario gives."""
    patience: timedelta = timedelta(minutes=30)
    """By when, after its own events, everything must be as it should be."""


def deployment(name: str, replicas: int, **of: object) -> Deployment:
    return Deployment(name, replicas, pod(name, labels={"app": name}, **of))  # type: ignore[arg-type]


def slow(name: str, replicas: int, **changes: object) -> Deployment:
    """Its controller makes a pod every second; each has a small node to itself."""
    made = {"every": SECOND, **changes}
    return replace(deployment(name, replicas, cpu="1500m", termination_grace_seconds=5), **made)  # type: ignore[arg-type]


def _from_zero(world: "World") -> None:
    world.cluster.add(pool())
    world.cluster.daemon_sets = (daemon_set("agent", cpu="100m"),)
    world.plane.deploy(deployment("web", 4, cpu="800m"))
    world.plane.deploy(deployment("large", 1, cpu="6"))


def _two_pools_with_limits(world: "World") -> None:
    """Twelve nodes of two cores would be wanted; the pools allow two and three."""
    small = (CPU, "In", "2")
    world.cluster.add(
        pool("first", small, weight=10, limits=resources(cpu=4)),
        pool("second", small, limits=Resources({NODES: 3})),
    )
    world.plane.deploy(deployment("web", 6, cpu="1500m"))


def _no_capacity(world: "World") -> None:
    world.cluster.add(pool("default", (CPU, "In", "2")))
    world.fleet.room = {(name, zone, "spot"): 0 for name in SPOT_IS_OUT for zone in ("us-east-1a", "us-east-1b")}
    world.plane.deploy(deployment("web", 3, cpu="1500m"))


def _two_planners(world: "World") -> None:
    """Others begin in the middle of a run, as after a visibility timeout that came too early."""
    _planners(world, None)


def _two_planners_one_limit(world: "World") -> None:
    """It is used up to the last core: whatever is planned twice exceeds it."""
    _planners(world, resources(cpu=6))


def _planners(world: "World", limits: Resources | None) -> None:
    world.cluster.add(pool("default", (CPU, "In", "2"), limits=limits))
    world.plane.deploy(deployment("web", 3, cpu="1500m"))
    for call in ("ledger.epoch", "ledger.claims", "fleet.ensure_template", "fleet.launch", "ledger.settle_launch"):
        world.once_before(call, partial(_provision, world))


def _provision(world: "World") -> None:
    world.invoke("provision", world.message('{"cluster": "prod", "urgent": true}'))


def _more_and_more(world: "World") -> None:
    """Pods come while the nodes of the first ones are being launched and are joining."""
    world.cluster.add(pool("default", (CPU, "In", "2", "4")))
    for number, seconds in enumerate((0, 2, 20, 40)):
        app = deployment(f"web-{number}", 2, cpu="800m")
        world.timeline.after(timedelta(seconds=seconds), partial(world.plane.deploy, app))


def _limit_raised(world: "World") -> None:
    """The pool may have one node, then two; the third pod has to wait."""
    tight = pool("default", (CPU, "In", "2"), limits=Resources({NODES: 1}))
    world.apply(tight)
    world.plane.deploy(deployment("web", 3, cpu="1500m"))
    world.timeline.after(90 * SECOND, lambda: world.apply(replace(tight, limits=Resources({NODES: 2}))))


def _node_deleted(world: "World") -> None:
    """`kubectl delete node`, of a node with pods."""
    world.cluster.add(pool("default", (CPU, "In", "2")))
    world.plane.deploy(deployment("web", 3, cpu="1500m", termination_grace_seconds=5))
    world.timeline.after(2 * MINUTE, lambda: world.plane.delete(min(world.cluster.nodes, default="")))


def _spot_interruption(world: "World") -> None:
    """A notice for one of three nodes; a budget lets its pods go one by one."""
    world.cluster.add(pool("default", (CPU, "In", "2")))
    world.cluster.budgets["web"] = Budget("default", "web", requirements(("app", "In", "web")), min_available=4)
    world.plane.deploy(deployment("web", 6, cpu="800m", termination_grace_seconds=10))
    world.timeline.after(2 * MINUTE, lambda: _first(world, world.interrupt))


def _announced_end(world: "World") -> None:
    """Hardware under one of three nodes ends in half an hour: enough for its pods to have another place first."""
    world.cluster.add(pool("default", (CPU, "In", "2")))
    world.plane.deploy(deployment("web", 3, cpu="1500m", termination_grace_seconds=10))
    world.timeline.after(2 * MINUTE, lambda: _first(world, lambda each: world.announce(each, 30 * MINUTE)))


def _instance_dies(world: "World") -> None:
    """Without a word of warning."""
    world.cluster.add(pool("default", (CPU, "In", "2")))
    world.plane.deploy(deployment("web", 3, cpu="1500m"))
    world.timeline.after(2 * MINUTE, lambda: _first(world, world.fleet.end))


def _first(world: "World", strike: Callable[[str], None]) -> None:
    """The first instance, if there is one already."""
    for instance in world.alive[:1]:
        strike(instance.id)


def _scaled_to_nothing(world: "World") -> None:
    world.cluster.add(pool("default", (CPU, "In", "2"), consolidate_after=timedelta(seconds=30), budgets=()))
    world.cluster.daemon_sets = (daemon_set("agent", cpu="100m"),)
    world.plane.deploy(deployment("web", 3, cpu="1500m", termination_grace_seconds=5))
    world.timeline.after(2 * MINUTE, lambda: world.plane.scale("web", 0))


def _expiry(world: "World") -> None:
    """One pool's two nodes expire, one after the other, as its budget wants it; then the pool's age limit is lifted."""
    one_by_one = (DisruptionBudget("1"),)
    aging = pool("default", (CPU, "In", "2"), expire_after=5 * MINUTE, budgets=one_by_one)
    world.cluster.add(aging)
    world.plane.deploy(deployment("web", 2, cpu="1500m", termination_grace_seconds=5))
    world.timeline.after(9 * MINUTE, lambda: world.apply(replace(aging, expire_after=None)))


def _pods_to_come(world: "World") -> None:
    """Six, one by one; nodes are bought for all of them with the first."""
    world.cluster.add(pool("default", (CPU, "In", "2"), consolidate_after=timedelta(), budgets=()))
    world.plane.deploy(slow("web", 6))


def _pods_to_come_within_limits(world: "World") -> None:
    """There may be four nodes; two pods of another application, which come while the others are expected, want some."""
    world.cluster.add(pool("default", (CPU, "In", "2"), limits=Resources({NODES: 4})))
    world.plane.deploy(slow("web", 4))
    world.timeline.after(3 * SECOND, lambda: world.plane.deploy(deployment("other", 2, cpu="1500m")))


def _pods_that_never_come(world: "World") -> None:
    """A quota lets two of six be made; the other nodes are empty, and not bought again."""
    world.cluster.add(pool("default", (CPU, "In", "2"), consolidate_after=timedelta(), budgets=()))
    world.plane.deploy(slow("web", 6, quota=2))


def _headroom(world: "World") -> None:
    """Room for one pod is kept; a third pod takes it, and it is filled up again; then it is wanted no more."""
    keeping = pool("default", (CPU, "In", "2"), consolidate_after=timedelta(), budgets=(), settings=ROOM_FOR_ONE)
    world.cluster.add(keeping)
    world.plane.deploy(deployment("web", 2, cpu="1500m", termination_grace_seconds=5))
    world.timeline.after(5 * MINUTE, lambda: world.plane.scale("web", 3))
    world.timeline.after(10 * MINUTE, lambda: world.apply(replace(keeping, settings={})))


def _headroom_within_limits(world: "World") -> None:
    """There may be three nodes: the pods have them all, and nothing is kept."""
    full = Resources({NODES: 3})
    world.cluster.add(pool("default", (CPU, "In", "2"), limits=full, budgets=(), settings=ROOM_FOR_ONE))
    world.plane.deploy(deployment("web", 2, cpu="1500m"))
    world.timeline.after(3 * MINUTE, lambda: world.plane.scale("web", 4))


def drawn(seed: int) -> Scenario:
    """Whatever comes: applications come, grow, shrink and go, pools have limits or none, offerings end, nodes die."""
    return Scenario(
        f"drawn {seed}", lambda world: _Story(world, Random(f"story {seed}")).tell(), 12 * MINUTE, patience=2 * HOUR
    )


@dataclass(frozen=True, slots=True)
class _Story:
    world: "World"
    chance: Random

    def tell(self) -> None:
        self._pools()
        self._shortage()
        for number in range(self.chance.randint(1, 4)):
            self._application(f"app-{number}")
        strikes = (self._interruption, self._death, self._deletion, self._silence, self._announcement)
        for _ in range(self.chance.randrange(4)):
            self._at_some_time(self.chance.choice(strikes))
        if self.chance.random() < 0.3:
            self._slow_controller()
        if self.chance.random() < 0.3:
            self._headroom()

    def _slow_controller(self) -> None:
        """Some are refused by a quota in the end."""
        every = timedelta(seconds=self.chance.choice([0.2, 1, 5, 20]))
        quota = self.chance.choice([None, None, 2])
        app = slow("slow", self.chance.randint(3, 8), every=every, quota=quota)
        self._at_some_time(lambda: self.world.plane.deploy(app))

    def _headroom(self) -> None:
        """Of the pool without limits, from some time on."""
        said = {HEADROOM: self.chance.choice(["cpu=1500m,pods=1", "cpu=3", "50%"])}
        keeping = replace(self.world.cluster.pools["second"], settings=said)
        self._at_some_time(lambda: self.world.apply(keeping))
        self._at_some_time(self._buffer)

    def _buffer(self) -> None:
        buffer = CapacityBuffer(PodKey("default", "spare"), pod("unit", cpu="1500m"), replicas=1)
        wanted = BufferStatus(replicas=1)
        reading = BufferReading(buffer.key, 1, "1", RESOLVED, "as read", wanted, BufferStatus())
        self.world.cluster.buffers, self.world.cluster.buffer_readings = (buffer,), {buffer.key: reading}

    def _pools(self) -> None:
        money = Resources({PRICE: 300_000_000})
        limits = self.chance.choice([None, None, money, resources(cpu=8), resources(cpu=24, memory="96Gi")])
        cores = self.chance.choice([("2",), ("2", "4"), ("4", "8")])
        expire_after = self.chance.choice([None, None, 4 * MINUTE])
        empty_after = timedelta(seconds=self.chance.choice([0, 30, 120]))
        first = pool("first", (CPU, "In", *cores), weight=10, limits=limits, consolidate_after=empty_after)
        budgets = (DisruptionBudget(self.chance.choice(["1", "50%"])),)
        self.world.cluster.add(replace(first, expire_after=expire_after, budgets=budgets), pool("second"))
        self.world.timeline.after(11 * MINUTE, lambda: self.world.apply(first))
        if self.chance.random() < 0.3:
            self.world.cluster.daemon_sets = (daemon_set("agent", cpu="100m"),)

    def _shortage(self) -> None:
        short = self.chance.sample(sorted(self.world.fleet.prices), self.chance.randrange(8))
        self.world.fleet.room = {offering: self.chance.randrange(2) for offering in short}

    def _application(self, name: str) -> None:
        grace = self.chance.choice([0, 5, 30])
        app = deployment(name, 0, cpu=self.chance.choice(SIZES), termination_grace_seconds=grace)
        guarded = self.chance.random() < 0.3
        if guarded:
            self.world.cluster.budgets[name] = Budget("default", name, requirements(("app", "In", name)), 1)
        for _ in range(self.chance.randint(1, 3)):
            sized = replace(app, replicas=self.chance.randint(1 + guarded, 6))
            self._at_some_time(partial(self.world.plane.deploy, sized))

    def _at_some_time(self, action: Callable[[], None]) -> None:
        self.world.timeline.after(timedelta(seconds=self.chance.uniform(0, 600)), action)

    def _interruption(self) -> None:
        self._strike(self.world.interrupt)

    def _death(self) -> None:
        self._strike(self.world.fleet.end)

    def _announcement(self) -> None:
        self._strike(lambda each: self.world.announce(each, timedelta(seconds=self.chance.uniform(0, 1200))))

    def _strike(self, how: Callable[[str], None]) -> None:
        if self.world.alive:
            how(self.chance.choice(self.world.alive).id)

    def _deletion(self) -> None:
        """`kubectl delete node`."""
        if self.world.cluster.nodes:
            self.world.plane.delete(self.chance.choice(sorted(self.world.cluster.nodes)))

    def _silence(self) -> None:
        """The API server answers nobody for a while."""
        self.world.cluster.reachable = False
        self.world.timeline.after(timedelta(seconds=self.chance.uniform(5, 90)), self._answer)

    def _answer(self) -> None:
        self.world.cluster.reachable = True


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("from zero", _from_zero),
        Scenario("two pools with limits", _two_pools_with_limits, may_wait=1),
        Scenario("no capacity, then on-demand", _no_capacity),
        Scenario("two planners", _two_planners),
        Scenario("two planners, one limit", _two_planners_one_limit),
        Scenario("more and more", _more_and_more),
        Scenario("limit raised", _limit_raised, lasts=2 * MINUTE, may_wait=1),
        Scenario("node deleted by hand", _node_deleted, lasts=3 * MINUTE),
        Scenario("spot interruption", _spot_interruption, lasts=5 * MINUTE),
        Scenario("an announced end", _announced_end, lasts=5 * MINUTE),
        Scenario("an instance dies", _instance_dies, lasts=3 * MINUTE),
        Scenario("scaled to nothing", _scaled_to_nothing, lasts=4 * MINUTE),
        Scenario("expiry", _expiry, lasts=12 * MINUTE),
        Scenario("pods to come", _pods_to_come, nodes=6),
        Scenario("pods to come, within limits", _pods_to_come_within_limits, may_wait=2, nodes=4),
        Scenario("pods that never come", _pods_that_never_come, lasts=4 * MINUTE, nodes=2),
        Scenario("headroom", _headroom, lasts=11 * MINUTE, nodes=3),
        Scenario("headroom, within limits", _headroom_within_limits, lasts=6 * MINUTE, may_wait=1, nodes=3),
    )
}
