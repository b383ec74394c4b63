from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.application.errors import ConflictError
from nodewright.application.launching import Outcome, assign
from nodewright.application.node_class_resolution import ResolvedNodeClass
from nodewright.application.orders import Buyer, Order
from nodewright.application.ports import FleetAnswer, FleetError, FleetRequest, Instance
from nodewright.application.reservations import (
    CLAIMS_PER_LAUNCH,
    LAUNCH_TIMEOUT,
    class_hash,
    decode_request,
    encode_request,
    portions,
    reservation,
)
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.claims import ClaimState
from nodewright.domain.limits import NODES, Limits
from nodewright.domain.plans import Content, Launch, LaunchOffering
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources
from tests.application.world import CLUSTER, LEASE, NOW, STACK, ZONES, World, connected, node_class
from tests.builders import USD, claim, instance_type, pool, resources

SMALL = instance_type("x.s", zones=ZONES)
MEDIUM = instance_type("x.m", cpu="3920m", memory="7Gi", on_demand=2.0, spot=0.8, zones=ZONES)
TYPES = {each.name: each for each in (SMALL, MEDIUM)}


def order(nodes: int = 2, *names: str, price: int = 1) -> Order:
    world = World()
    resolved: ResolvedNodeClass = world.resolver().resolve(node_class(), connected(), world.images.parameters)
    offerings = tuple(LaunchOffering(name, zone, price) for name in names or ("x.s", "x.m") for zone in ZONES)
    contents = tuple((PodKey("ns", f"p-{number}"),) for number in range(nodes))
    planned = Launch("default", "on-demand", offerings, price, resources(cpu="1", memory="1Gi"), contents)
    return Order(planned, pool(labels={"team": "a"}, hash="h"), resolved, TYPES, Buyer(connected(), STACK))


def bought(here: World, nodes: int = 2) -> Outcome:
    outcome, _ = here.launcher().buy(order(nodes), here.ledger.epoch(CLUSTER))
    return outcome


def instance(name: str = "i-1", **changes: object) -> Instance:
    made = Instance(name, "x.s", ZONES[0], "on-demand", "running", "ami-1", NOW)
    return replace(made, **changes)  # type: ignore[arg-type]


def lookup(_: str, name: str) -> InstanceType | None:
    return TYPES.get(name)


# ---- buying ----


def test_nothing_is_asked_of_ec2_before_it_is_reserved() -> None:
    here = World()
    original = here.fleet.launch

    def launch(request: FleetRequest) -> FleetAnswer:
        (record,) = here.ledger.launches(CLUSTER)
        assert decode_request(record.request) == request
        assert record.claim_ids == tuple(each.id for each in here.claims)
        return original(request)

    here.fleet.launch = launch  # type: ignore[method-assign]
    assert bought(here).launched == 2


def test_a_claim_knows_what_came() -> None:
    here = World()
    here.fleet.prices = {("x.m", ZONES[1], "on-demand"): -1}
    bought(here, 1)
    (came,) = here.claims
    assert (came.state, came.instance_type, came.zone) == (ClaimState.LAUNCHED, "x.m", ZONES[1])
    assert came.price == 2 * USD
    assert (came.capacity, came.allocatable) == (MEDIUM.capacity, MEDIUM.allocatable)
    assert came.labels["karpenter.k8s.aws/instance-size"] == "m"
    assert came.labels["topology.kubernetes.io/zone"] == ZONES[1]
    assert came.labels["team"] == "a"


def test_the_epoch_after_it_counts_each_reservation() -> None:
    here = World()
    outcome, epoch = here.launcher().buy(order(200), 0)
    assert (outcome.launched, outcome.wanted, epoch) == (200, 200, 3)
    assert here.ledger.epoch(CLUSTER) == 3
    assert [call.capacity for call in here.fleet.calls] == [96, 96, 8]


def test_what_a_limit_refuses_of_an_order_stops_it_and_keeps_what_was_bought() -> None:
    here = World()
    limited = order(200)
    limited = replace(limited, pool=replace(limited.pool, limits=Limits({NODES: 150})))
    outcome, epoch = here.launcher().buy(limited, 0)
    assert (outcome.launched, outcome.wanted, outcome.limit, epoch) == (96, 192, NODES, 1)
    assert "nodes 96 in use or reserved there is no room for nodes 96 more" in outcome.refused
    assert (outcome.later, outcome.replan, outcome.ran_away) == (False, False, False)
    assert here.ledger.epoch(CLUSTER) == 1
    assert outcome.refused in here.problems()


def test_another_planners_epoch_is_a_conflict_and_nothing_is_bought() -> None:
    here = World()
    with pytest.raises(ConflictError):
        here.launcher().buy(order(), 7)
    assert (here.fleet.calls, here.claims) == ([], ())


def test_what_a_quota_stops_cools_down_for_all_types_of_it() -> None:
    here = World()
    error = FleetError("VcpuLimitExceeded", "limit", "x.s", ZONES[0], capacity_type="on-demand")

    def launch(request: FleetRequest) -> FleetAnswer:
        assert request.capacity == 2
        return FleetAnswer((), (error,))

    here.fleet.launch = launch  # type: ignore[method-assign]
    outcome = bought(here)
    assert outcome.replan
    cooling = here.ledger.unavailable_offerings(NOW)
    assert {(o.instance_type, o.zone, o.capacity_type) for o in cooling} == {
        ("x.s", "*", "on-demand"),
        ("x.m", "*", "on-demand"),
    }
    assert "ask for more" in cooling[0].reason
    assert NOW + timedelta(minutes=3) < cooling[0].until < NOW + timedelta(minutes=3, seconds=1)


@pytest.mark.parametrize(
    ("outcome", "replan", "later"),
    [
        (Outcome(), False, False),
        (Outcome(2, 2, (FleetError("InsufficientInstanceCapacity", ""),)), False, False),
        (Outcome(1, 2, (FleetError("InsufficientInstanceCapacity", ""),)), True, False),
        (Outcome(1, 2, (FleetError("RequestLimitExceeded", ""),)), False, True),
        (Outcome(2, 2, (FleetError("RequestLimitExceeded", ""),)), False, False),
        (Outcome(0, 2, (FleetError("UnheardOf", ""),)), False, False),
        (Outcome(unclear=True), False, True),
        (Outcome(refused="no"), False, False),
    ],
)
def test_what_to_do_next_depends_on_what_is_lacking(outcome: Outcome, replan: bool, later: bool) -> None:
    assert (outcome.replan, outcome.later) == (replan, later)


# ---- reserving ----


def test_a_claim_holds_the_largest_capacity_and_the_smallest_room_until_the_type_is_known() -> None:
    reserved = reservation("l", order(), order().launch.contents, (), NOW, LEASE)
    (first, second) = reserved.claims
    assert (first.id, second.id) == ("l-00", "l-01")
    assert first.capacity == MEDIUM.capacity
    assert first.allocatable == SMALL.allocatable
    assert (first.nominated_pods, second.nominated_pods) == ((PodKey("ns", "p-0"),), (PodKey("ns", "p-1"),))
    assert (first.state, first.pool_hash) == (ClaimState.RESERVED, "h")
    assert first.labels["karpenter.k8s.aws/instance-family"] == "x"
    assert "karpenter.k8s.aws/instance-size" not in first.labels


def test_a_launch_is_its_owners_for_the_lease_and_anybodys_until_the_deadline() -> None:
    record = reservation("l", order(), order().launch.contents, (), NOW, LEASE).record
    assert (record.lease_until, record.deadline) == (NOW + LEASE, NOW + LAUNCH_TIMEOUT)


def test_a_request_comes_back_as_it_was_stored_byte_for_byte() -> None:
    here = World()
    bought(here)
    (request,) = here.fleet.calls
    assert decode_request(encode_request(request)) == request
    assert encode_request(decode_request(encode_request(request))) == encode_request(request)
    assert request.tags["nodewright.dev/launch"] == request.launch_id


def test_claims_are_in_id_order_in_portions_one_transaction_can_take() -> None:
    contents = [Content((PodKey("ns", str(number)),)) for number in range(200)]
    assert [len(part) for part in portions(contents)] == [CLAIMS_PER_LAUNCH, CLAIMS_PER_LAUNCH, 8]
    assert [content for part in portions(contents) for content in part] == contents
    ids = [each.id for each in reservation("l", order(), contents[:96], (), NOW, LEASE).claims]
    assert ids == sorted(ids)


def test_a_class_hash_tells_classes_apart_and_not_the_order_of_tags() -> None:
    one, other = node_class(tags={"a": "1", "b": "2"}), node_class(tags={"b": "2", "a": "1"})
    assert class_hash(one) == class_hash(other)
    assert class_hash(one) != class_hash(node_class(tags={"a": "1"}))


def test_moving_a_class_to_the_newer_kind_changes_no_hash() -> None:
    assert class_hash(node_class(source="AWSNodeTemplate/default")) == class_hash(node_class())


# ---- instances to claims ----


def test_instances_go_to_claims_in_id_order_and_claims_without_one_are_gone() -> None:
    waiting = [claim(f"c-{n}", state=ClaimState.RESERVED, zone="", instance_type="") for n in (2, 0, 1)]
    settled = assign(waiting, [instance("i-b"), instance("i-a")], lookup)
    assert [(each.id, each.instance_id, each.state) for each in settled] == [
        ("c-0", "i-a", ClaimState.LAUNCHED),
        ("c-1", "i-b", ClaimState.LAUNCHED),
        ("c-2", "", ClaimState.GONE),
    ]


def test_an_instance_that_has_its_claim_is_not_given_away_again() -> None:
    claims = [claim("c-0", instance_id="i-a"), claim("c-1", state=ClaimState.RESERVED)]
    (settled,) = assign(claims, [instance("i-a"), instance("i-b")], lookup)
    assert (settled.id, settled.instance_id) == ("c-1", "i-b")


@pytest.mark.parametrize("state", ["shutting-down", "terminated"])
def test_the_dead_make_no_node(state: str) -> None:
    (settled,) = assign([claim("c-0", state=ClaimState.RESERVED)], [instance(state=state)], lookup)
    assert (settled.state, settled.instance_id) == (ClaimState.GONE, "")


def test_of_a_type_nobody_knows_any_more_the_plan_stands() -> None:
    planned = claim("c-0", state=ClaimState.RESERVED, price=7, allocatable=resources(cpu="1"))
    (settled,) = assign([planned], [instance(instance_type="old.type")], lookup)
    assert (settled.price, settled.allocatable) == (7, resources(cpu="1"))
    assert settled.labels["node.kubernetes.io/instance-type"] == "old.type"
    assert settled.capacity != Resources()
