from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import pytest

from nodewright.adapters.assumed_aws import AssumedImages, AssumedNetworks, AssumedProfiles
from nodewright.application.node_class_resolution import NodeClassResolver, ResolvedNodeClass
from nodewright.application.plan import PlanManifests, Planned
from nodewright.application.ports import ClusterState, ManifestWarning
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.claims import NodeClaim
from nodewright.domain.limits import Limits
from nodewright.domain.nodeclasses import NodeClass, SelectorTerm
from nodewright.domain.nodes import Node
from nodewright.domain.overlays import NodeOverlay, PriceChange
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.pools import NodePool
from nodewright.domain.requirements import Requirement
from tests import builders
from tests.builders import NOW

ANY = (SelectorTerm(tags={"a": "b"}),)
CLASS = NodeClass("default", "AL2023", (SelectorTerm(alias="al2023@latest"),), ANY, ANY)
OF_POOL = {"karpenter.sh/nodepool": "default", "node.kubernetes.io/instance-type": "x.s"}


@dataclass(frozen=True)
class Sold:
    """The reference catalogue."""

    name: str = "here"
    zones: tuple[str, ...] = ("a", "b", "c")
    types: tuple[InstanceType, ...] = builders.catalogue()
    refusal: str = ""

    def instance_types(self, resolved: ResolvedNodeClass) -> tuple[InstanceType, ...]:
        assert resolved.zones == frozenset(self.zones)
        if self.refusal:
            raise ValueError(self.refusal)
        return self.types

    def remark(self, plan: Plan) -> tuple[ManifestWarning, ...]:
        return (ManifestWarning("catalogue", "", f"{len(plan.launches)} launches"),)


def planned(
    *pods: Pod,
    pools: Sequence[NodePool] = (builders.pool(),),
    classes: Sequence[NodeClass] = (CLASS,),
    nodes: Sequence[Node] = (),
    claims: Sequence[NodeClaim] = (),
    overlays: Sequence[NodeOverlay] = (),
    sold: Sold = Sold(),
) -> Planned:
    state = ClusterState(tuple(nodes), tuple(pods), tuple(pools), tuple(classes), (), overlays=tuple(overlays))
    resolver = NodeClassResolver(AssumedNetworks(sold.zones), AssumedImages(), AssumedProfiles(), "assumed")
    return PlanManifests(sold, resolver)(state, claims, "", NOW)


def told(of: Planned) -> list[str]:
    return [f"{warning.object} {warning.path}: {warning.message}" for warning in of.warnings]


def test_pods_are_planned_with_what_the_catalogue_sells() -> None:
    plan = planned(builders.pod()).plan
    assert [launch.instance_types[0] for launch in plan.launches] == ["x.s"]


def test_prices_are_those_of_node_overlays() -> None:
    large = builders.requirements(("node.kubernetes.io/instance-type", "In", "x.l"))
    unused = builders.requirements(("node.kubernetes.io/instance-type", "In", "y.l"))
    free = PriceChange(Fraction(0))
    outcome = planned(
        builders.pod(), overlays=[NodeOverlay("o", large, price=free), NodeOverlay("lost", unused, price=free)]
    )
    assert [(launch.instance_types, launch.price) for launch in outcome.plan.launches] == [(("x.l",), 0)]
    assert any(each.startswith("NodeOverlay/lost spec.requirements: ") for each in told(outcome))


def test_types_without_an_image_are_not_bought() -> None:
    on_arm = builders.instance_type("arm.s", arch="arm64", on_demand=0.1, spot=None)
    al2 = NodeClass("default", "Custom", (SelectorTerm(alias="bottlerocket@latest"),), ANY, ANY)
    neuron = builders.instance_type(
        "inf.s", arch="arm64", labels={"karpenter.k8s.aws/instance-accelerator-manufacturer": "aws"}
    )
    snapshot = planned(builders.pod(), sold=Sold(types=(on_arm, neuron)), classes=(al2,)).snapshot
    assert [each.name for each in snapshot.pools[0].instance_types] == ["arm.s"]


def test_nodes_of_a_pool_count_towards_its_limits() -> None:
    pool = builders.pool(limits=Limits({"cpu": 4000, "nodes": 1}))
    node = builders.node(labels={**OF_POOL, "kubernetes.io/hostname": "n"}, cpu="2")
    assert planned(pools=(pool,), nodes=(node,)).snapshot.pools[0].remaining == Limits({"cpu": 2000, "nodes": 0})


def test_nodes_of_a_pool_cost_what_the_catalogue_says() -> None:
    usd = "nodewright.dev/usd-nanos-per-hour"
    pool = builders.pool(limits=Limits({usd: 5 * builders.USD}))
    place = {"topology.kubernetes.io/zone": "a", "karpenter.sh/capacity-type": "spot"}
    node = builders.node(labels={**OF_POOL, **place})
    assert planned(pools=(pool,), nodes=(node,)).snapshot.pools[0].remaining == Limits({usd: 46 * builders.USD // 10})


def test_node_claims_without_a_node_count_and_take_pods() -> None:
    pool = builders.pool(limits=Limits({"nodes": 3}))
    claims = [
        builders.claim("one", labels=OF_POOL, node_name="n"),
        builders.claim("two", labels=OF_POOL),
    ]
    found = planned(builders.pod(), pools=(pool,), nodes=(builders.node("n", labels=OF_POOL),), claims=claims)
    assert found.snapshot.pools[0].remaining == Limits({"nodes": 1})
    assert {room.name for room in found.snapshot.rooms} == {"n", "two"}


def test_a_pool_that_is_being_deleted_buys_nothing() -> None:
    assert planned(pools=(builders.pool(terminating=True),)).snapshot.pools == ()


def test_a_class_nothing_can_be_launched_from_is_told_and_its_pool_still_there() -> None:
    found = planned(builders.pod(), classes=(NodeClass("default", "AL2", ANY, ANY, ()),))
    assert any("spec.securityGroupSelectorTerms: matches no security group" in each for each in told(found))
    assert [options.instance_types for options in found.snapshot.pools] == [()]


def test_a_class_the_catalogue_cannot_make_is_told() -> None:
    found = planned(builders.pod(), sold=Sold(refusal="kubelet.kubeReserved: cpu: '1x' is not a quantity"))
    assert "EC2NodeClass/default spec: kubelet.kubeReserved: cpu: '1x' is not a quantity" in told(found)


def test_classes_that_no_pool_names_are_not_looked_at() -> None:
    unused = NodeClass("unused", "AL2", ANY, ANY, ())
    assert told(planned(classes=(CLASS, unused))) == ["catalogue : 0 launches"]


def test_pods_of_another_scheduler_are_told() -> None:
    found = planned(builders.pod(scheduler_name="volcano"))
    assert (found.snapshot.pods, found.plan.launches) == ((), ())
    assert "Pod/default/p spec.schedulerName: volcano is another scheduler's, so the pod is not planned" in told(found)


def test_pods_that_are_gated_are_told() -> None:
    found = planned(builders.pod(gated=True), builders.pod("bound", gated=True, node_name="n"))
    assert (found.snapshot.pods, found.plan.launches) == ((), ())
    (only,) = [each for each in told(found) if each.startswith("Pod/")]
    assert only.startswith("Pod/default/p spec.schedulingGates: its gates hold it back")


@pytest.mark.parametrize(("zones", "is_told"), [(("z", "y"), True), (("a", "z"), False)])
def test_a_pool_of_zones_that_are_not_here_is_told(zones: tuple[str, ...], is_told: bool) -> None:
    pool = builders.pool("default", ("topology.kubernetes.io/zone", "In", *zones))
    expected = "its zones (y, z) are none of here (a, b, c); choose another --region or --catalogue"
    assert any(expected in each for each in told(planned(pools=(pool,)))) is is_told


def test_the_catalogue_may_remark_on_the_plan() -> None:
    assert told(planned(builders.pod()))[-1] == "catalogue : 1 launches"


def test_less_choice_than_a_pool_would_like_is_told() -> None:
    wish = Requirement.of("karpenter.k8s.aws/instance-family", "Exists", (), 3)
    best_effort = {"nodewright.dev/min-values-policy": "BestEffort"}
    found = planned(builders.pod(), pools=(builders.pool("default", wish, settings=best_effort),))
    assert len(found.plan.launches) == 1
    assert any("instance-family: 2 of 3 values hold a node of it" in each for each in told(found))
