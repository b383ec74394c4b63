"""A cluster with one node that is to go, in virtual time: turns come by the queue, as often as they are sent."""

from datetime import datetime, timedelta
from typing import cast

from nodewright.adapters.memory import (
    InMemoryCluster,
    InMemoryClusters,
    InMemoryFleet,
    InMemoryLedger,
    InMemoryRetireQueue,
    RecordedHints,
    RecordingObserver,
    VirtualClock,
)
from nodewright.application.errors import UnavailableError
from nodewright.application.ports import Fleet, Hints, Instance
from nodewright.application.redriving import redrive
from nodewright.application.retire import Outcome, Retire
from nodewright.application.retirement_ports import NodeLedger, RetireQueue, RetiringClusters
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.retirement import DISRUPTED, EXCLUDED, Reason, Retirement, Step
from nodewright.domain.retiring import begin
from nodewright.domain.taints import Toleration
from tests.application.killing import Fuse, Fused, KilledError
from tests.application.world import CLUSTER, STACK, connected
from tests.builders import NOW, claim, node
from tests.domain.retirements import running

LEASE = timedelta(seconds=30)
#: The queue brings a message back whose run didn't end well.
VISIBILITY = timedelta(seconds=40)
KUBE_PROXY = running("kube-proxy", key=PodKey("kube-system", "kube-proxy"), tolerates=(Toleration(operator="Exists"),))


class Yard:
    """Claim c of instance i-n on node n, with these pods; another node has room for everything."""

    def __init__(self, *pods: Pod, **changes: object) -> None:
        self.clock = VirtualClock(NOW)
        self.ledger = InMemoryLedger()
        self.fleet = InMemoryFleet(self.clock, STACK)
        self.cluster = InMemoryCluster(clock=self.clock)
        self.queue = InMemoryRetireQueue(self.clock)
        self.observer = RecordingObserver()
        self.disrupt_hints = RecordedHints()
        self.fuse = Fuse(self.clock)
        self.failed = 0
        self.history: list[tuple[datetime, Outcome]] = []
        self.ledger.put_cluster(connected())
        joined: dict[str, object] = {"state": ClaimState.INITIALIZED, "instance_id": "i-n", "node_name": "n"}
        self.add(claim("c", **{**joined, **changes}))
        if self.claim.node_name:
            self.cluster.add(node("n"))
            self.cluster.finalized.add("n")
        self.cluster.add(KUBE_PROXY, *pods)

    def add(self, *claims: NodeClaim) -> None:
        """Claims with their instances, running."""
        epoch = self.ledger.epoch(CLUSTER)
        self.ledger.reserve(CLUSTER, epoch, LaunchRecord(f"l-{epoch}", (), "", NOW, NOW), claims)
        for each in claims:
            if each.instance_id:
                tags = {"nodewright.dev/stack": STACK}
                self.fleet.instances[each.instance_id] = Instance(
                    each.instance_id, "x.s", "a", "on-demand", "running", "ami", NOW, tags
                )

    # ---- what happens ----

    def retire(self, reason: Reason = "node-deleted", **settings: object) -> None:
        """The retirement begins, and its first message is on its way."""
        wanted = begin(self.claim, reason, self.clock.now(), **settings)  # type: ignore[arg-type]
        assert wanted is not None
        (stored,) = self.ledger.start_retirements(CLUSTER, [wanted], None)
        assert stored.retirement is not None
        self.queue.send(CLUSTER, "c", stored.retirement.epoch, timedelta())

    def use(self) -> Retire:
        return Retire(
            cast(NodeLedger, Fused(self.ledger, self.fuse)),
            cast(RetiringClusters, InMemoryClusters({CLUSTER: cast(InMemoryCluster, Fused(self.cluster, self.fuse))})),
            cast(Fleet, Fused(self.fleet, self.fuse)),
            cast(RetireQueue, Fused(self.queue, self.fuse)),
            cast(Hints, Fused(self.disrupt_hints, self.fuse)),
            self.observer,
            self.clock,
            LEASE,
        )

    def turn(self, epoch: int | None = None) -> Outcome:
        """One run of the function, out of the queue's order."""
        return self.use()(CLUSTER, "c", self.retirement.epoch if epoch is None else epoch)

    def run(self, until: datetime) -> None:
        """Every message is delivered when it is due; what a run that was killed had in hand comes back."""
        while (message := min(self.queue.waiting, default=None)) is not None and message.due <= until:
            self.clock.advance_to(message.due)
            self.queue.waiting.remove(message)
            try:
                outcome = self.use()(CLUSTER, message.claim_id, message.epoch)
            except (KilledError, UnavailableError):
                self.fuse.renew()
                self.failed += 1
                self.queue.waiting.append(message._replace(due=message.due + VISIBILITY))
            else:
                self.history.append((self.clock.now(), outcome))
        self.clock.advance_to(until)

    def run_for(self, duration: timedelta) -> None:
        self.run(self.clock.now() + duration)

    def run_with_reconcile(self, minutes: int) -> None:
        """Which looks once a minute whether a turn is overdue."""
        for _ in range(minutes):
            self.run_for(timedelta(minutes=1))
            self.redrive()

    def redrive(self) -> int:
        return redrive(self.queue, CLUSTER, self.ledger.claims(CLUSTER), self.clock.now())

    # ---- what there is to see ----

    @property
    def claim(self) -> NodeClaim:
        return self.ledger.claim(CLUSTER, "c")

    @property
    def retirement(self) -> Retirement:
        retirement = self.claim.retirement
        assert retirement is not None
        return retirement

    @property
    def step(self) -> Step:
        return self.retirement.step

    @property
    def node(self) -> Node:
        return self.cluster.nodes["n"]

    @property
    def is_marked(self) -> bool:
        marks = {DISRUPTED in self.node.taints, EXCLUDED in self.node.labels}
        assert len(marks) == 1, "taint and label are set and undone together"
        return marks.pop()

    @property
    def is_gone(self) -> bool:
        """The claim; then nothing of it may be left."""
        if any(each.id == "c" for each in self.ledger.claims(CLUSTER)):
            return False
        assert "n" not in self.cluster.nodes
        assert self.fleet.instances["i-n"].state == "terminated"
        return True

    @property
    def pods(self) -> list[str]:
        """On the node, but for kube-proxy, which stays to the end."""
        self.cluster.bury()
        on_it = (pod for pod in self.cluster.pods.values() if pod.node_name == "n" and pod.key != KUBE_PROXY.key)
        return sorted(pod.key.name for pod in on_it)

    def told(self) -> str:
        return "\n".join(note for *_, note in self.observer.retirements)

    def problems(self) -> str:
        return "\n".join(message for *_, message in self.observer.problems)
