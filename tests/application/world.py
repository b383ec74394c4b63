"""A small world in memory for the use cases: one cluster, six instance types in two zones, virtual time.

What happens outside is played by methods (`join`, `ready`); nothing happens by itself.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import count
from typing import cast

from nodewright.adapters.memory import (
    InMemoryCluster,
    InMemoryClusters,
    InMemoryFleet,
    InMemoryImages,
    InMemoryInstanceProfiles,
    InMemoryLedger,
    InMemoryNetworks,
    InMemoryRetireQueue,
    RecordedHints,
    RecordingObserver,
    SecurityGroup,
    VirtualClock,
)
from nodewright.application.launching import Launcher
from nodewright.application.node_class_resolution import NodeClassResolver
from nodewright.application.node_deletions import NodeDeletions
from nodewright.application.pool_options import Market, MarketReader
from nodewright.application.ports import Fleet, FleetRequest, Instance, Ledger, Price, Subnet
from nodewright.application.provision import Provision
from nodewright.application.provision import Report as ProvisionReport
from nodewright.application.reconcile import Reconcile
from nodewright.application.reconcile import Report as ReconcileReport
from nodewright.application.registering import Registrar
from nodewright.application.retirement_ports import NodeLedger, RetiringClusters
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.application.upkeep import Upkeep
from nodewright.domain.catalogue import CapacityType
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.clusters import ConnectedCluster, token_hash
from nodewright.domain.images import FAMILIES
from nodewright.domain.instance_facts import GpuFacts, InstanceFacts
from nodewright.domain.nodeclasses import NodeClass, SelectorTerm
from nodewright.domain.nodes import Node
from nodewright.domain.pods import PodKey
from nodewright.domain.taints import Taint
from sandbox.nodes.user_data import read
from tests import builders
from tests.application.killing import Fuse, Fused

NOW = builders.NOW
STACK = "nodewright-test"
CLUSTER = "prod"
TOKEN = "a token"
ZONES = ("us-east-1a", "us-east-1b")
LEASE = timedelta(seconds=90)
MINUTE = timedelta(minutes=1)

OfferingKey = tuple[str, str, CapacityType]

#: On-demand and spot, nanodollars per hour. Twice the size is a little more than twice as dear: of equal prices
#: plans take the fewer nodes, and most tests are about several.
PRICES = {
    "m5.large": (96_000_000, 40_000_000),
    "m5.xlarge": (193_000_000, 80_500_000),
    "m5.2xlarge": (387_000_000, 161_500_000),
    "c5.large": (85_000_000, 45_000_000),
    "m6g.large": (77_000_000, 35_000_000),
    "g5.xlarge": (1_006_000_000, 400_000_000),
}


def _machine(name: str, vcpus: int, memory_gib: int, **more: object) -> InstanceFacts:
    facts = InstanceFacts(name, "amd64", vcpus, memory_gib * 1024, network_interfaces=4, ipv4_per_interface=15)
    return replace(facts, **more)  # type: ignore[arg-type]


FACTS = (
    _machine("m5.large", 2, 8),
    _machine("m5.xlarge", 4, 16),
    _machine("m5.2xlarge", 8, 32),
    _machine("c5.large", 2, 4),
    _machine("m6g.large", 2, 8, arch="arm64"),
    _machine("g5.xlarge", 4, 16, gpus=(GpuFacts("A10G", "NVIDIA", 1, 22888),)),
)


def connected(**changes: object) -> ConnectedCluster:
    cluster = ConnectedCluster(
        name=CLUSTER,
        endpoint="https://k8s.example",
        certificate_authority="Q0E=",
        version="1.37",
        service_cidr="10.100.0.0/16",
        dns_ip="10.100.0.10",
        token_hashes=(token_hash(TOKEN),),
    )
    return replace(cluster, **changes)  # type: ignore[arg-type]


def node_class(name: str = "default", **changes: object) -> NodeClass:
    ours = (SelectorTerm(tags={"discovery": CLUSTER}),)
    base = NodeClass(name, "AL2023", (SelectorTerm(alias="al2023@latest"),), ours, ours)
    return replace(base, **changes)  # type: ignore[arg-type]


def parameters(version: str = "1.37") -> dict[str, str]:
    """SSM's public parameters of every family for one Kubernetes version."""
    names = [query.parameter for family in FAMILIES for query in family.queries(version, "latest")]
    return {name: f"ami-{index:08x}" for index, name in enumerate(dict.fromkeys(names))}


def prices(names: Iterable[str] = PRICES) -> tuple[Price, ...]:
    return tuple(
        price
        for name in names
        for price in (
            Price(name, "on-demand", "", PRICES[name][0]),
            *(Price(name, "spot", zone, PRICES[name][1]) for zone in ZONES),
        )
    )


def _networks() -> InMemoryNetworks:
    tags = {"discovery": CLUSTER}
    subnets = [Subnet(f"subnet-{zone[-1]}", zone, f"use1-az{zone[-1]}", 200) for zone in ZONES]
    return InMemoryNetworks([(subnet, tags) for subnet in subnets], [(SecurityGroup("sg-1", "nodes"), tags)])


@dataclass
class World:
    """Everything there is; tests change it as they like."""

    clock: VirtualClock = field(default_factory=lambda: VirtualClock(NOW))
    ledger: InMemoryLedger = field(default_factory=InMemoryLedger)
    cluster: InMemoryCluster = field(default_factory=InMemoryCluster)
    networks: InMemoryNetworks = field(default_factory=_networks)
    images: InMemoryImages = field(default_factory=lambda: InMemoryImages(parameters()))
    profiles: InMemoryInstanceProfiles = field(default_factory=lambda: InMemoryInstanceProfiles({"nodes"}))
    hints: RecordedHints = field(default_factory=RecordedHints)
    observer: RecordingObserver = field(default_factory=RecordingObserver)
    turns: InMemoryRetireQueue = field(init=False)
    _ids: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        offers: dict[OfferingKey, int] = {}
        for name, (on_demand, spot) in PRICES.items():
            for zone in ZONES:
                offers |= {(name, zone, "on-demand"): on_demand, (name, zone, "spot"): spot}
        self.turns = InMemoryRetireQueue(self.clock)
        self.fuse = Fuse(self.clock)
        self.fleet = InMemoryFleet(self.clock, STACK, prices=offers)
        self.ledger.put_cluster(connected())
        self.cluster.add(builders.pool(), node_class())
        self.refresh()

    def refresh(self, facts: tuple[InstanceFacts, ...] = FACTS) -> None:
        """The region's catalogue, of these types."""
        put, now = self.ledger.put_catalogue_part, self.clock.now()
        every = prices(each.name for each in facts)
        put("types", facts, now)
        put("offerings", {each.name: frozenset(ZONES) for each in facts}, now)
        put("prices", tuple(p for p in every if p.capacity_type == "on-demand"), now)
        put("spot", tuple(p for p in every if p.capacity_type == "spot"), now)
        put("images", self.images.parameters, now)

    # ---- the use cases ----

    def provision(self, sent: datetime | None = None) -> ProvisionReport:
        """One run; urgent unless a hint's time is given."""
        ports = self._ports()
        use = Provision(
            ports.ledger,
            ports.clusters,
            self.market_reader(ports.ledger),
            self.launcher(),
            self.hints,
            self.observer,
            self.clock,
            STACK,
        )
        return use(CLUSTER, sent, self.clock.now() + LEASE)

    def reconcile(self, sent: datetime | None = None) -> ReconcileReport:
        ports = self._ports()
        starts = RetirementStarts(ports.ledger, self.hints, self.turns, self.clock)
        use = Reconcile(
            ports.ledger,
            ports.clusters,
            self.market_reader(ports.ledger),
            self.launcher(),
            Registrar(ports.ledger, ports.fleet, self.observer),
            NodeDeletions(starts),
            Upkeep(ports.ledger, ports.fleet, starts, self.observer),
            self.turns,
            self.hints,
            self.observer,
            self.clock,
        )
        return use(CLUSTER, sent)

    def launcher(self) -> Launcher:
        ports = self._ports()
        return Launcher(
            ports.ledger, ports.fleet, self.observer, self.clock, lambda: f"launch-{next(self._ids):03d}", LEASE
        )

    def resolver(self) -> NodeClassResolver:
        return NodeClassResolver(self.networks, self.images, self.profiles, "stack-profile")

    def market_reader(self, ledger: Ledger | None = None) -> MarketReader:
        return MarketReader(ledger or self.ledger, self.resolver())

    def market(self) -> Market:
        state = self.cluster.read()
        return self.market_reader().read(self.ledger.cluster(CLUSTER), state, self.clock.now())

    def _ports(self) -> "_Ports":
        opened = cast(InMemoryCluster, Fused(self.cluster, self.fuse))
        return _Ports(
            cast(NodeLedger, Fused(self.ledger, self.fuse)),
            cast(Fleet, Fused(self.fleet, self.fuse)),
            InMemoryClusters({CLUSTER: opened}),
        )

    def wait_and_provision(self) -> ProvisionReport:
        """Another run, when nobody can still be working on a launch."""
        self.fuse.renew()
        self.later(LEASE)
        return self.provision()

    # ---- what the world does ----

    def later(self, duration: timedelta) -> None:
        self.clock.advance_to(self.clock.now() + duration)

    def join(self, *, ready: bool = True) -> list[Node]:
        """Every running instance without a node becomes one, as its user data says."""
        there = {node.instance_id for node in self.cluster.nodes.values()}
        born = [self._node(i, ready=ready) for i in self.running if i.id not in there]
        self.cluster.add(*born)
        return born

    def bind_nominated(self) -> None:
        """kube-scheduler's part: waiting pods go to the node that was planned for them."""
        for claim in self.claims:
            for key in claim.nominated_pods:
                if claim.node_name and not self.cluster.pods[key].node_name:
                    self.cluster.bind(key, claim.node_name)

    def _node(self, instance: Instance, *, ready: bool) -> Node:
        joining = read(self.user_data(instance), "amazon-eks-node-al2023")
        claim_type = self.market().lookup(instance.tags["karpenter.sh/nodepool"], instance.instance_type)
        assert claim_type is not None
        own = {
            "node.kubernetes.io/instance-type": instance.instance_type,
            "topology.kubernetes.io/zone": instance.zone,
            "kubernetes.io/arch": claim_type.labels["kubernetes.io/arch"],
            "kubernetes.io/os": "linux",
        }
        return builders.node(
            instance.private_dns_name,
            provider_id=f"aws:///{instance.zone}/{instance.id}",
            labels={**joining.labels, **own},
            taints=tuple(Taint(t["key"], t.get("value", ""), t["effect"]) for t in joining.taints),  # type: ignore[arg-type]
            capacity=claim_type.capacity,
            allocatable=claim_type.allocatable,
            ready=ready,
            created=self.clock.now(),
        )

    def user_data(self, instance: Instance) -> str:
        """Of the launch template the instance came from."""
        request = self.request(instance)
        (name,) = {
            template.template_name
            for template in request.templates
            for override in template.overrides
            if (override.instance_type, override.zone) == (instance.instance_type, instance.zone)
        }
        return self.fleet.templates[name].user_data

    def request(self, instance: Instance) -> FleetRequest:
        return next(c for c in self.fleet.calls if c.launch_id == instance.tags["nodewright.dev/launch"])

    # ---- what there is to see ----

    @property
    def running(self) -> list[Instance]:
        return [i for _, i in sorted(self.fleet.instances.items()) if i.state == "running"]

    @property
    def claims(self) -> tuple[NodeClaim, ...]:
        return self.ledger.claims(CLUSTER)

    @property
    def planned_pods(self) -> list[PodKey]:
        """Pods that a claim was made for, once per claim."""
        return sorted(pod for claim in self.claims for pod in claim.nominated_pods)

    def assert_whole(self, pods: int) -> None:
        """Every pod has one node coming, every node one claim, and nothing is left half done."""
        assert len(self.planned_pods) == len(set(self.planned_pods)) == pods
        assert {claim.instance_id for claim in self.claims} == {instance.id for instance in self.running}
        assert {claim.state for claim in self.claims} <= {ClaimState.LAUNCHED, ClaimState.INITIALIZED}
        assert self.ledger.launches(CLUSTER) == ()

    def hinted(self, duty: str) -> int:
        return sum(hint.duty == duty for hint in self.hints.sent)

    def decided(self) -> str:
        """The last decision's details, to look for words in."""
        (last,) = self.ledger.decisions(CLUSTER, 1)
        return f"{last.summary} {last.details}"

    def problems(self) -> str:
        return "\n".join(message for _, _, message in self.observer.problems)


@dataclass(frozen=True)
class _Ports:
    ledger: NodeLedger
    fleet: Fleet
    clusters: RetiringClusters
