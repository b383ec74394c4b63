"""Spot interruption notices, one alone and many at once: how soon each node is tainted, replaced and drained.

Everything shares this machine's cores, and the sandbox runs at most four of each function at once, so the
times are upper bounds.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks import fleets
from benchmarks.spread import spread
from benchmarks.tables import show
from sandbox.aws.instances import InstanceChange
from sandbox.world import World

# A Kubernetes object: JSON as it comes.
Object = dict[str, Any]

BOOT_SECONDS = 2.0
ALONE = 3
TAINT = "karpenter.sh/disrupted"
WATCH_SECONDS = 3000

TAINTED = "tainted"
BOUGHT = "replacement requested"
EVICTED = "first eviction"
# Architecture §13; it has no budget for evictions, which may wait for the replacement.
BUDGETS = {
    False: {TAINTED: "3", BOUGHT: "3", EVICTED: "-"},
    True: {TAINTED: "13", BOUGHT: "13", EVICTED: "-"},
}


@dataclass(frozen=True, slots=True)
class Victim:
    """A node with its pod."""

    node: str
    instance: str
    zone: str


@dataclass(slots=True)
class Seen:
    """When what happened, as watches and EC2's own announcements tell it."""

    tainted: dict[str, float] = field(default_factory=dict)
    evicted: dict[str, float] = field(default_factory=dict)
    """By the node of the pod that goes first."""
    bought: list[float] = field(default_factory=list)
    """Instances, in the order in which EC2 launched them: the moment within CreateFleet."""

    def clear(self) -> None:
        """Before the next notice."""
        self.tainted.clear()
        self.evicted.clear()
        self.bought.clear()


def main(notices: int) -> None:
    with World(boot_seconds=BOOT_SECONDS) as world:
        for function in ("interrupt", "retire", "provision", "reconcile"):
            world.lambdas.warm(function)
        begin = time.monotonic()
        fleets.launch(world, notices)
        print(f"{notices} spot nodes of one pod each run after {time.monotonic() - begin:.0f} s; instances boot in 2 s")
        with _watched(world) as seen:
            alone = [_interrupt(world, seen, _victims(world)[:1]) for _ in range(min(ALONE, notices))]
            _tell(f"{len(alone)} notices, each alone: the planner is idle", alone, behind=False)
            _tell(f"{notices} notices at once", [_interrupt(world, seen, _victims(world))], behind=True)


@dataclass(frozen=True, slots=True)
class Course:
    """Seconds from its notice, for each node; and what was bought. A node that went untainted has none for that."""

    notices: int
    seconds: dict[str, list[float]]
    fleets: int
    instances: int
    whole: float
    """Until all pods ran again, nowhere near the nodes that were taken."""


def _interrupt(world: World, seen: Seen, victims: Sequence[Victim]) -> Course:
    """The k-th instance bought covers the k-th notice: one node holds one pod, and none has room for another."""
    pods, fleets_before = fleets.running(world), world.aws.calls.count("ec2", "CreateFleet")
    seen.clear()
    put = {victim.node: _notice(world, victim) for victim in victims}
    fleets.until(lambda: put.keys() <= seen.evicted.keys(), "the first eviction on each node", 0.1)
    fleets.until(lambda: _gone(world, victims) and fleets.running(world) == pods, "all pods to run elsewhere", 1.0)
    whole = time.time() - min(put.values())
    return Course(
        notices=len(victims),
        seconds={
            TAINTED: [seen.tainted[node] - begin for node, begin in put.items() if node in seen.tainted],
            BOUGHT: [bought - begin for begin, bought in zip(put.values(), seen.bought, strict=False)],
            EVICTED: [seen.evicted[node] - begin for node, begin in put.items()],
        },
        fleets=world.aws.calls.count("ec2", "CreateFleet") - fleets_before,
        instances=len(seen.bought),
        whole=whole,
    )


def _notice(world: World, victim: Victim) -> float:
    detail = {"instance-id": victim.instance, "instance-action": "terminate"}
    arn = f"arn:aws:ec2:{victim.zone}:instance/{victim.instance}"
    begin = time.time()
    world.aws.events.put("aws.ec2", "EC2 Spot Instance Interruption Warning", detail, [arn])
    return begin


def _victims(world: World) -> list[Victim]:
    """Every node that holds a pod of ours and stays."""
    pods = world.control_plane.client.objects("v1", "Pod", "default")
    taken = {pod["spec"].get("nodeName") for pod in pods if "deletionTimestamp" not in pod["metadata"]}
    nodes = world.control_plane.client.objects("v1", "Node")
    return [_victim(node) for node in nodes if node["metadata"]["name"] in taken and not _is_tainted(node)]


def _victim(node: Object) -> Victim:
    zone, instance = node["spec"]["providerID"].split("/")[-2:]
    return Victim(node["metadata"]["name"], instance, zone)


def _is_tainted(node: Object) -> bool:
    return any(taint["key"] == TAINT for taint in node["spec"].get("taints") or ())


def _gone(world: World, victims: Sequence[Victim]) -> bool:
    left = {node["metadata"]["name"] for node in world.control_plane.client.objects("v1", "Node")}
    return left.isdisjoint(victim.node for victim in victims)


@contextmanager
def _watched(world: World) -> Iterator[Seen]:
    seen = Seen()

    def taint(node: Object) -> None:
        if _is_tainted(node):
            seen.tainted.setdefault(node["metadata"]["name"], time.time())

    def eviction(pod: Object) -> None:
        if "deletionTimestamp" in pod["metadata"] and "nodeName" in pod["spec"]:
            seen.evicted.setdefault(pod["spec"]["nodeName"], time.time())

    def launched(change: InstanceChange) -> None:
        if change.state == "pending":
            seen.bought.append(time.time())

    over = threading.Event()
    forget = world.aws.on_instance_change(launched)
    _watch(world, "Node", taint, over)
    _watch(world, "Pod", eviction, over)
    try:
        yield seen
    finally:
        over.set()
        forget()


def _watch(world: World, kind: str, look: Callable[[Object], None], over: threading.Event) -> None:
    """In a thread that ends with the control plane."""

    def run() -> None:
        try:
            for _, found in world.control_plane.client.watch("v1", kind, "default", seconds=WATCH_SECONDS):
                look(found)
        except Exception:
            if not over.is_set():
                raise

    threading.Thread(target=run, name=f"watch-{kind}", daemon=True).start()


def _tell(title: str, courses: Sequence[Course], *, behind: bool) -> None:
    print(f"\n{title}; seconds from each notice")
    columns = {what: [second for c in courses for second in c.seconds[what]] for what in BUDGETS[behind]}
    show(
        ("until", "p50", "p90", "max", "budget"),
        [(what, *spread(seconds, digits=2), BUDGETS[behind][what]) for what, seconds in columns.items() if seconds],
    )
    notices, instances = sum(c.notices for c in courses), sum(c.instances for c in courses)
    print(
        f"{notices} notices: {sum(c.fleets for c in courses)} CreateFleet calls bought {instances} instances;"
        f" {notices - len(columns[TAINTED])} nodes went untainted;"
        f" all pods ran elsewhere {max(c.whole for c in courses):.1f} s after the first notice"
    )
