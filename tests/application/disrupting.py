"""A world whose nodes may go, with everything around disrupt: reconcile, retire, kube-scheduler, controllers."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import cast

from nodewright.adapters.memory import InMemoryClusters
from nodewright.adapters.memory.kube_scheduler import KubeScheduler
from nodewright.application.disrupt import Disrupt, Report
from nodewright.application.ports import Instance
from nodewright.application.retire import Retire
from nodewright.application.retirement_ports import RetireQueue
from nodewright.domain.claims import NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.pods import Owner, Pod
from nodewright.domain.pools import NodePool
from nodewright.domain.retirement import DISRUPTED, EXCLUDED, Retirement
from tests.application.killing import Fused
from tests.application.provisioning import CPU, world
from tests.application.world import CLUSTER, STACK, World
from tests.builders import pod, pool

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
DAY = 24 * HOUR
WEB = Owner("ReplicaSet", "web", "u")
TIMEOUT = timedelta(seconds=300)
LEASE = timedelta(seconds=30)


def small(**changes: object) -> NodePool:
    """Nodes of two cores, so that a web pod has one to itself; no budgets, and empty ones go at once."""
    defaults: dict[str, object] = {"budgets": (), "consolidate_after": timedelta()}
    return pool("default", (CPU, "In", "2"), **{**defaults, **changes})


def web(count: int = 1, name: str = "web", **changes: object) -> tuple[Pod, ...]:
    """Pods of a ReplicaSet: one that goes is made anew under another name."""
    made = {"cpu": "1500m", "owner": WEB, "termination_grace_seconds": 10, **changes}
    return tuple(pod(f"{name}-{number}", **made) for number in range(count))  # type: ignore[arg-type]


class Scene:
    """A world after its pods have got their nodes."""

    def __init__(self, *running: Pod, of: NodePool | None = None) -> None:
        self.world: World = world(*running, of=of or small())
        self.world.cluster.clock = self.world.clock
        self.queue = self.world.turns
        self.scheduler = KubeScheduler()
        self.replicas = len(running)
        self.born = 0
        self.world.provision()
        self.settle()
        self.world.hints.sent.clear()

    # ---- the functions ----

    def disrupt(self) -> Report:
        """One run, with all its time."""
        return self.run(None)

    def run(self, sent: datetime | None, left: timedelta = TIMEOUT) -> Report:
        """One run on a hint of that moment."""
        here, ports = self.world, self.world._ports()
        use = Disrupt(
            ports.ledger,
            ports.clusters,
            here.market_reader(ports.ledger),
            here.launcher(),
            cast(RetireQueue, Fused(self.queue, here.fuse)),
            here.observer,
            here.clock,
            STACK,
        )
        return use(CLUSTER, sent, here.clock.now() + left)

    def retire(self) -> None:
        """Every turn that is due."""
        here = self.world
        clusters = InMemoryClusters({CLUSTER: here.cluster})
        use = Retire(here.ledger, clusters, here.fleet, self.queue, here.hints, here.observer, here.clock, LEASE)
        while (turn := self.queue.take()) is not None:
            use(CLUSTER, turn.claim_id, turn.epoch)

    # ---- what goes on by itself ----

    def settle(self) -> None:
        """Nodes join, controllers and kube-scheduler do their part, reconcile looks."""
        here = self.world
        here.fuse.renew()
        here.join()
        here.reconcile()
        for _ in range(self.replicas - len(here.cluster.pods)):
            self.born += 1
            here.cluster.add(*(replace(each, created=here.clock.now()) for each in web(1, f"again-{self.born}")))
        scheduled = self.scheduler.schedule(here.cluster.nodes.values(), here.cluster.pods.values())
        for key, name in scheduled.bound.items():
            here.cluster.bind(key, name)
        for node in list(here.cluster.nodes.values()):
            if here.fleet.instances[node.instance_id or ""].state == "terminated":
                here.cluster.nodes[node.name] = replace(node, ready=False)
        here.reconcile()

    def live(self, duration: timedelta, *, disrupts: bool = True) -> None:
        """Minute by minute, with provision and disrupt when they are asked for, and retire at its turns."""
        here = self.world
        end = here.clock.now() + duration
        while here.clock.now() < end:
            for _ in range(12):
                here.later(timedelta(seconds=5))
                self.retire()
            self.settle()
            asked = {hint.duty for hint in here.hints.sent}
            here.hints.sent.clear()
            if "provision" in asked:
                here.provision(here.clock.now())
            if disrupts and "disrupt" in asked:
                self.disrupt()

    def when(self, call: str, then: Callable[[], object], *, of: object = None) -> None:
        """Something happens right after the first such call to the cluster."""
        target = of or self.world.cluster
        method = cast("Callable[..., object]", getattr(target, call))

        def once(*args: object, **kwargs: object) -> object:
            setattr(target, call, method)
            result = method(*args, **kwargs)
            then()
            return result

        setattr(target, call, once)

    def empty(self, *names: str) -> None:
        """These pods are deleted for good."""
        for key in [key for key in self.world.cluster.pods if not names or key.name in names]:
            del self.world.cluster.pods[key]
            self.replicas -= 1
        self.world.reconcile()

    # ---- what there is to see ----

    @property
    def leaving(self) -> list[NodeClaim]:
        return [claim for claim in self.world.claims if claim.retirement is not None]

    @property
    def retirement(self) -> Retirement:
        (claim,) = self.leaving
        assert claim.retirement is not None
        return claim.retirement

    @property
    def marked(self) -> list[str]:
        """Nodes with our taint or label."""
        nodes = self.world.cluster.nodes.values()
        return [node.name for node in nodes if DISRUPTED in node.taints or EXCLUDED in node.labels]

    @property
    def nodes(self) -> list[Node]:
        return [node for _, node in sorted(self.world.cluster.nodes.items())]

    @property
    def bought(self) -> list[Instance]:
        return list(self.world.fleet.instances.values())

    def node_of(self, name: str) -> str:
        (where,) = [p.node_name for p in self.world.cluster.pods.values() if p.key.name == name]
        return where

    def claim_of(self, node: str) -> NodeClaim:
        (found,) = [claim for claim in self.world.claims if claim.node_name == node]
        return found

    def assert_untouched(self) -> None:
        """No mark, and nobody leaves."""
        assert (self.marked, self.leaving) == ([], [])

    def assert_whole(self, nodes: int) -> None:
        """Every pod runs on a node of ours, every node has its claim, nothing is half done."""
        here = self.world
        self.assert_untouched()
        assert len(here.cluster.pods) == self.replicas
        assert {p.node_name for p in here.cluster.pods.values()} <= set(here.cluster.nodes)
        assert {claim.instance_id for claim in here.claims} == {instance.id for instance in here.running}
        assert {claim.node_name for claim in here.claims} == set(here.cluster.nodes)
        assert len(here.running) == nodes
        assert here.ledger.launches(CLUSTER) == ()
