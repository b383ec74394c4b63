"""The whole system in memory: a cluster that lives, EC2, queues, functions; virtual time, one loop of events."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache, partial
from itertools import count
from random import Random
from typing import get_args

from nodewright.adapters.memory import (
    InMemoryCluster,
    InMemoryImages,
    InMemoryInstanceProfiles,
    InMemoryLedger,
    InMemoryNetworks,
    RecordingObserver,
    SecurityGroup,
)
from nodewright.adapters.memory.control_plane import ControlPlane
from nodewright.adapters.memory.kube_scheduler import KubeScheduler
from nodewright.adapters.memory.machines import SHUTTING_DOWN, Birth, LivingFleet, Machines
from nodewright.adapters.memory.queues import FifoQueue, Message, QueuedHints, QueuedTurns, StandardQueue
from nodewright.adapters.memory.timeline import Timeline
from nodewright.application.ports import Duty, Instance, Subnet
from nodewright.domain.capacity import instance_type
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.nodes import NODE_POOL_LABEL, Node
from nodewright.domain.pods import Pod
from nodewright.domain.pools import NodePool
from nodewright.domain.taints import Taint
from sandbox.nodes.user_data import UnreadableUserDataError, read
from tests.application.world import CLUSTER, FACTS, NOW, PRICES, STACK, ZONES, connected, node_class, parameters, prices
from tests.harness.faults import Fault, Faults, Site
from tests.harness.functions import FUNCTIONS
from tests.harness.lambdas import Lambda
from tests.harness.watching import Watch
from tests.harness.weather import CALM, Weather, Winds

IMAGE = "amazon-eks-node-al2023"
MINUTE = timedelta(minutes=1)
#: When within its minute the tick comes.
TICK = timedelta(seconds=7)
#: From an event of Kubernetes to the webhook's call.
WEBHOOK = timedelta(milliseconds=10)
#: maxReceiveCount of the work queues (infra/events.py).
RECEIVES = 5
#: From EC2's notice to the end of a spot instance.
NOTICE = timedelta(minutes=2)
#: Runs piled up on each other's calls: a message beyond waits, as if Lambda were throttled.
DEEPEST = 6


@dataclass
class World:
    """Everything there is."""

    seed: int = 0
    weather: Weather = CALM
    given: Sequence[Fault] = ()
    sites: list[Site] = field(default_factory=list)
    """Every call that was made."""

    def __post_init__(self) -> None:
        self.timeline = Timeline(NOW)
        self.winds = Winds(self.weather, Random(f"winds {self.seed}"))
        self.faults = Faults(self.given, Random(f"faults {self.seed}"), self.weather.faults)
        self.ledger, self.observer = InMemoryLedger(), RecordingObserver()
        self.cluster = InMemoryCluster(clock=self.timeline)
        self.lambdas = Lambda(self, FUNCTIONS)
        self.hints = QueuedHints({duty: self._fifo(duty) for duty in get_args(Duty)})
        self.retire_queue, self.interrupt_queue = self._standard("retire"), self._standard("interrupt")
        self.turns = QueuedTurns(self.retire_queue)
        self.images = InMemoryImages(parameters())
        self.profiles = InMemoryInstanceProfiles({"nodes"})
        self.networks = _networks()
        self._ids: Iterator[int] = count()
        self._before: dict[str, list[Callable[[], None]]] = {}
        self.plane = self._plane()
        self.fleet = self._fleet()
        self.watch = Watch(self)
        self._types: dict[str, InstanceType] = {}
        self._prepare()

    # ---- what functions are given ----

    def latency(self) -> timedelta:
        return self.winds.latency()

    def skew(self) -> timedelta:
        return self.winds.skew()

    @property
    def most_skew(self) -> timedelta:
        """Between two clocks."""
        return timedelta(seconds=2 * self.weather.skew)

    def new_id(self) -> str:
        return f"launch-{next(self._ids):03d}"

    def effect(self, name: str, act: Callable[[], object]) -> object:
        """A call takes effect: whoever looks on looks then."""
        for action in self._before.pop(name, ()):
            action()
        result = act()
        if name.startswith("cluster."):
            self.plane.changed()
        self.watch.after(name)
        return result

    def once_before(self, name: str, action: Callable[[], None]) -> None:
        """Let it happen while a function is about to make its first call of this name."""
        self._before.setdefault(name, []).append(action)

    # ---- parts ----

    def _fifo(self, duty: Duty) -> FifoQueue:
        visibility = FUNCTIONS[duty].timeout + timedelta(seconds=10)
        return FifoQueue(self.timeline, lambda m: self.invoke(duty, m), visibility, lateness=self.winds.hint)

    def _standard(self, verb: str) -> StandardQueue:
        visibility = FUNCTIONS[verb].timeout + timedelta(seconds=10)
        return StandardQueue(self.timeline, lambda m: self.invoke(verb, m), visibility, RECEIVES, self.winds.work)

    def _plane(self) -> ControlPlane:
        return ControlPlane(
            self.cluster,
            self.timeline,
            KubeScheduler(Random(f"scheduler {self.seed}")),
            failed_scheduling=self._failed_scheduling,
            node_changed=self._node_changed,
        )

    def _fleet(self) -> LivingFleet:
        offers = {
            (name, zone, kind): price
            for name, both in PRICES.items()
            for zone in ZONES
            for kind, price in zip(("on-demand", "spot"), both, strict=True)
        }
        lag = timedelta(seconds=self.weather.describe_lag)
        fleet = LivingFleet(self.timeline, STACK, prices=offers, timeline=self.timeline, lag=lag)  # type: ignore[arg-type]
        luck = Random(f"machines {self.seed}")
        fleet.on_end.append(self._ended)
        Machines(fleet, self.plane, self.timeline, _birth, self.size, luck, self.weather.boot)
        return fleet

    def _prepare(self) -> None:
        self.ledger.put_cluster(connected())
        self.cluster.add(node_class())
        now, every = self.timeline.now(), prices()
        put = self.ledger.put_catalogue_part
        put("types", FACTS, now)
        put("offerings", {each.name: frozenset(ZONES) for each in FACTS}, now)
        put("prices", tuple(p for p in every if p.capacity_type == "on-demand"), now)
        put("spot", tuple(p for p in every if p.capacity_type == "spot"), now)
        put("images", self.images.parameters, now)
        self.timeline.after(TICK, self._tick)

    # ---- what happens by itself ----

    def invoke(self, verb: str, message: Message) -> bool:
        """Run a function; throttled where too many are at work."""
        return self.lambdas.busy < DEEPEST and self.lambdas.invoke(verb, message)

    def _tick(self) -> None:
        self.timeline.after(MINUTE, self._tick)
        self.invoke("tick", self.message("{}"))

    def _failed_scheduling(self, _pod: Pod) -> None:
        self._webhook("events")

    def _node_changed(self, node: Node) -> None:
        if NODE_POOL_LABEL in node.labels:
            self._webhook("nodes")

    def _webhook(self, resource: str) -> None:
        if self.winds.webhook_comes():
            review = {"apiVersion": "admission.k8s.io/v1", "request": {"uid": "u", "resource": {"resource": resource}}}
            self.timeline.after(WEBHOOK, lambda: self._notify(json.dumps(review)))

    def _notify(self, review: str) -> None:
        self.invoke("notify", self.message(review))

    def apply(self, pool: NodePool) -> None:
        """`kubectl apply`."""
        self.cluster.add(pool)
        self._webhook("nodepools")

    def interrupt(self, instance_id: str) -> None:
        """EC2 takes a spot instance back."""
        warning = {"instance-id": instance_id, "instance-action": "terminate"}
        self._event("EC2 Spot Instance Interruption Warning", warning)
        self.timeline.after(NOTICE, lambda: self.fleet.end(instance_id))

    def announce(self, instance_id: str, ahead: timedelta) -> None:
        """AWS Health says when the hardware under it ends; then it does."""
        start = self.timeline.now() + ahead
        detail = {
            "service": "EC2",
            "eventTypeCategory": "scheduledChange",
            "statusCode": "upcoming",
            "startTime": f"{start:%a, %d %b %Y %H:%M:%S GMT}",
            "affectedEntities": [{"entityValue": instance_id}],
        }
        self._event("AWS Health Event", detail, "aws.health")
        self.timeline.after(ahead, lambda: self.fleet.end(instance_id))

    def _ended(self, instance: Instance) -> None:
        kind = "EC2 Instance State-change Notification"
        self._event(kind, {"instance-id": instance.id, "state": "shutting-down"})
        terminated = partial(self._event, kind, {"instance-id": instance.id, "state": "terminated"})
        self.timeline.after(SHUTTING_DOWN, terminated)

    def _event(self, kind: str, detail: Mapping[str, object], source: str = "aws.ec2") -> None:
        """EventBridge: at least once."""
        event = {
            "version": "0",
            "id": f"event-{next(self._ids)}",
            "detail-type": kind,
            "source": source,
            "time": f"{self.timeline.now():%Y-%m-%dT%H:%M:%SZ}",
            "region": "us-east-1",
            "detail": detail,
        }
        self.interrupt_queue.send(CLUSTER, json.dumps(event))

    def message(self, body: str) -> Message:
        return Message(CLUSTER, body, self.timeline.now(), 1)

    def size(self, instance: Instance) -> InstanceType:
        """What a machine of its type has, by the model of capacity."""
        name = instance.instance_type
        if name not in self._types:
            facts = next(each for each in FACTS if each.name == name)
            made = instance_type(facts, node_class(), ())
            assert made is not None
            self._types[name] = made
        return self._types[name]

    # ---- what there is to see ----

    @property
    def alive(self) -> list[Instance]:
        """Instances that are paid for."""
        return [i for _, i in sorted(self.fleet.instances.items()) if i.state not in {"shutting-down", "terminated"}]

    @property
    def is_idle(self) -> bool:
        """Nobody is at work or will be, but for what is late."""
        work = self.retire_queue.under_way + self.interrupt_queue.under_way
        return not self.lambdas.busy and not work and all(q.is_empty for q in self.hints.queues.values())


@lru_cache(maxsize=256)
def _birth(user_data: str) -> Birth | None:
    try:
        joining = read(user_data, IMAGE)
    except UnreadableUserDataError:
        return None
    taints = tuple(Taint(t["key"], t.get("value", ""), t["effect"]) for t in joining.taints)  # type: ignore[arg-type]
    return Birth(joining.labels, taints)


def _networks() -> InMemoryNetworks:
    tags = {"discovery": CLUSTER}
    subnets = [Subnet(f"subnet-{zone[-1]}", zone, f"use1-az{zone[-1]}", 200) for zone in ZONES]
    return InMemoryNetworks([(subnet, tags) for subnet in subnets], [(SecurityGroup("sg-1", "nodes"), tags)])
