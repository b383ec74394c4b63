from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.adapters.memory import InMemoryNetworks
from nodewright.application.errors import NotFoundError, UnavailableError
from nodewright.application.pool_options import Market, price_book
from nodewright.application.ports import ManifestWarning, Subnet, UnavailableOffering
from nodewright.domain.claims import LaunchRecord, NodeClaim
from nodewright.domain.limits import PRICE, Limits
from nodewright.domain.nodeclasses import SelectorTerm
from tests.application.world import CLUSTER, NOW, PRICES, ZONES, World, connected, node_class, prices
from tests.builders import USD, claim, pool, resources


def market(here: World | None = None) -> Market:
    return (here or World()).market()


def test_a_pool_can_buy_what_its_class_can_launch() -> None:
    found = market()
    (options,) = found.options
    assert [each.name for each in options.instance_types] == sorted(PRICES)
    large = found.lookup("default", "m5.large")
    assert large is not None
    assert {(o.zone, o.capacity_type, o.price) for o in large.offerings} == {
        (zone, kind, PRICES["m5.large"][index]) for zone in ZONES for index, kind in enumerate(("on-demand", "spot"))
    }
    assert {o.zone_id for o in large.offerings} == {"use1-aza", "use1-azb"}
    assert found.lookup("default", "unheard.of") is None
    assert found.warnings == ()


def test_what_cools_down_is_not_available_until_its_time() -> None:
    here = World()
    until = NOW + timedelta(minutes=3)
    here.ledger.mark_unavailable([UnavailableOffering("m5.large", "us-east-1a", "spot", "no room", until)])
    assert _unavailable(market(here)) == {("us-east-1a", "spot")}
    here.clock.advance_to(until)
    assert _unavailable(market(here)) == set()


def test_types_without_an_image_are_left_out() -> None:
    here = World()
    here.ledger.put_catalogue_part(
        "images", {name: image for name, image in here.images.parameters.items() if "arm64" not in name}, NOW
    )
    assert "m6g.large" not in market(here).types("default")


def test_only_zones_of_the_classes_subnets_are_offered() -> None:
    here = World()
    here.networks.tagged_subnets = here.networks.tagged_subnets[:1]
    large = market(here).types("default")["m5.large"]
    assert {offering.zone for offering in large.offerings} == {"us-east-1a"}


def holding(here: World, *claims: NodeClaim) -> World:
    """A world in which these claims are reserved."""
    here.ledger.reserve(CLUSTER, here.ledger.epoch(CLUSTER), LaunchRecord("l", (), "", NOW, NOW), claims)
    return here


def test_limits_have_what_is_in_use_or_reserved_taken_off() -> None:
    here = holding(World(), claim("a", capacity=resources(cpu="4")), claim("b", pool="other"))
    here.cluster.add(pool(limits=resources(cpu="10", nodes=5)))
    assert market(here).options[0].remaining == resources(cpu="6", nodes=4)


def test_a_limit_of_the_whole_cluster_is_left_to_every_pool() -> None:
    here = holding(World(), claim("a", price=USD), claim("b", pool="other", price=2 * USD))
    here.ledger.put_cluster(connected(limit_usd_per_hour=5 * USD))
    here.cluster.add(pool(limits=Limits({PRICE: 4 * USD})), pool("other"), pool("third", limits=Limits({PRICE: 1})))
    left = {options.pool.name: dict(options.remaining or {}) for options in market(here).options}
    assert left == {"default": {PRICE: 2 * USD}, "other": {PRICE: 2 * USD}, "third": {PRICE: 1}}


def test_a_pool_without_limits_has_none() -> None:
    assert market().options[0].remaining is None


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        (
            {"subnet_terms": (SelectorTerm(id="subnet-x"),)},
            ManifestWarning(
                "EC2NodeClass/bad", "spec.subnetSelectorTerms", "matches no subnet here; tag one or name its id"
            ),
        ),
        (
            {"ami_terms": (SelectorTerm(id="ami-x"),)},
            ManifestWarning(
                "EC2NodeClass/bad", "spec.amiSelectorTerms", "finds no image for Kubernetes 1.37; check its terms"
            ),
        ),
    ],
)
def test_a_class_that_cannot_launch_is_a_warning_and_its_pool_has_no_types(
    changes: dict[str, object], warning: ManifestWarning
) -> None:
    here = World()
    here.cluster.add(pool("broken", node_class="bad"), node_class("bad", **changes))
    found = market(here)
    assert found.warnings == (warning,)
    assert {o.pool.name: len(o.instance_types) for o in found.options} == {"broken": 0, "default": len(PRICES)}


def test_an_unreadable_kubelet_amount_is_a_warning() -> None:
    here = World()
    spoilt = node_class("bad")
    spoilt = replace(spoilt, kubelet=replace(spoilt.kubelet, kube_reserved={"cpu": "much"}))
    here.cluster.add(pool("broken", node_class="bad"), spoilt)
    (warning,) = market(here).warnings
    assert warning.object == "EC2NodeClass/bad"
    assert "much" in warning.message


def test_a_class_nobody_uses_may_be_half_written() -> None:
    here = World()
    here.cluster.add(node_class("unused", subnet_terms=(SelectorTerm(id="subnet-x"),)))
    assert market(here).warnings == ()


def test_a_missing_class_is_a_warning_that_names_those_there_are() -> None:
    here = World()
    here.cluster.add(pool("lost", node_class="absent"))
    (warning,) = market(here).warnings
    assert (warning.object, warning.path) == ("NodePool/lost", "spec.template.spec.nodeClassRef.name")
    assert warning.message == "no EC2NodeClass 'absent': create it, or name one there is (default)"


def test_a_class_being_deleted_is_a_warning() -> None:
    here = World()
    here.cluster.add(pool("lost", node_class="leaving"), node_class("leaving", terminating=True))
    found = market(here)
    assert found.types("lost") == {}
    assert found.warnings[0].message == "EC2NodeClass 'leaving' is being deleted: name another"


def test_a_pool_being_deleted_buys_nothing_more() -> None:
    here = World()
    here.cluster.add(pool("default", terminating=True))
    assert market(here).options == ()


def test_warnings_of_the_manifests_themselves_are_kept() -> None:
    here = World()
    here.cluster.warnings = (ManifestWarning("NodePool/default", "spec.replicas", "not honoured"),)
    assert market(here).warnings == here.cluster.warnings


class ThrottledNetworks(InMemoryNetworks):
    def subnets(self, terms: tuple[SelectorTerm, ...]) -> tuple[Subnet, ...]:
        raise UnavailableError(f"{len(terms)} terms: RequestLimitExceeded")


def test_a_throttle_is_not_taken_for_a_bad_class() -> None:
    with pytest.raises(UnavailableError):
        market(World(networks=ThrottledNetworks()))


class ForgetfulNetworks(InMemoryNetworks):
    def subnets(self, terms: tuple[SelectorTerm, ...]) -> tuple[Subnet, ...]:
        raise NotFoundError(f"{terms[0].id}: InvalidSubnetID.NotFound")


def test_a_thing_aws_does_not_find_is_a_warning() -> None:
    (warning,) = market(World(networks=ForgetfulNetworks())).warnings
    assert "InvalidSubnetID.NotFound" in warning.message


def test_prices_are_by_type_on_demand_and_by_type_and_zone_on_spot() -> None:
    book = price_book(prices(["m5.large"]))
    assert book.on_demand == {"m5.large": PRICES["m5.large"][0]}
    assert book.spot == {("m5.large", zone): PRICES["m5.large"][1] for zone in ZONES}


def _unavailable(found: Market) -> set[tuple[str, str]]:
    return {(o.zone, o.capacity_type) for o in found.types("default")["m5.large"].offerings if not o.available}
