"""The laws of the Fleet port: in memory, and on EC2 as the sandbox has it."""

from dataclasses import replace

import pytest

from nodewright.application.errors import RefusedError, UnavailableError
from nodewright.application.ports import FleetAnswer, FleetRequest
from tests.adapters.builders import STACK, fleet_request, fleet_tags
from tests.adapters.contracts.fleet_worlds import CHEAP, DEAR, World, memory_world, sandbox_world


@pytest.fixture(params=["memory", "ec2"])
def world(request: pytest.FixtureRequest) -> World:
    if request.param == "memory":
        return memory_world()
    return sandbox_world(request.getfixturevalue("sandbox"))


def asked(world: World, **changes: object) -> FleetRequest:
    return fleet_request(world.fleet.ensure_template(world.template), world.overrides, **changes)


def ids(answer: FleetAnswer) -> list[str]:
    return [instance.id for instance in answer.instances]


def test_the_same_content_is_the_same_template(world: World) -> None:
    name = world.fleet.ensure_template(world.template)
    assert name.startswith("nodewright/")
    assert world.fleet.ensure_template(world.template) == name
    assert world.fleet.ensure_template(replace(world.template, user_data="other")) != name


def test_user_data_that_is_too_long_is_refused_naming_the_class(world: World) -> None:
    with pytest.raises(RefusedError, match="EC2NodeClass/default: user data is"):
        world.fleet.ensure_template(replace(world.template, user_data="é" * 8193))


def test_a_launch_buys_what_it_asks_for_from_the_cheapest_offering(world: World) -> None:
    answer = world.fleet.launch(asked(world, capacity=3))
    assert answer.errors == ()
    assert len(set(ids(answer))) == 3
    assert {instance.instance_type for instance in answer.instances} == {CHEAP}
    assert {instance.capacity_type for instance in answer.instances} == {"on-demand"}
    offered = {(o.zone, o.image_id) for o in world.overrides}
    assert {(instance.zone, instance.image_id) for instance in answer.instances} <= offered


@pytest.mark.parametrize("capacity_type", ["on-demand", "spot"])
def test_prices_that_are_told_count_instead_of_ec2_s(world: World, capacity_type: str) -> None:
    """A node overlay made the dear one cheap."""
    told = tuple(replace(o, price=1_000_000 if o.instance_type == DEAR else 2_000_000) for o in world.overrides)
    name = world.fleet.ensure_template(world.template)
    answer = world.fleet.launch(fleet_request(name, told, capacity=2, capacity_type=capacity_type))
    assert {instance.instance_type for instance in answer.instances} == {DEAR}


def test_spot_is_spot(world: World) -> None:
    answer = world.fleet.launch(asked(world, capacity_type="spot"))
    assert [instance.capacity_type for instance in answer.instances] == ["spot"]


def test_what_was_bought_carries_the_tags_and_its_launch(world: World) -> None:
    (instance,) = world.fleet.launch(asked(world, launch_id="l7")).instances
    (found,) = world.fleet.launched("l7")
    assert found.id == instance.id
    assert {**fleet_tags(), "nodewright.dev/launch": "l7"}.items() <= found.tags.items()
    assert found.launched is not None
    assert found.private_dns_name


def test_asked_twice_it_buys_once(world: World) -> None:
    request = asked(world, capacity=2)
    first, second = world.fleet.launch(request), world.fleet.launch(request)
    assert ids(first) == ids(second)
    assert len(world.fleet.ours("prod")) == 2


def test_the_same_token_for_something_else_is_refused_and_buys_nothing(world: World) -> None:
    world.fleet.launch(asked(world))
    with pytest.raises(RefusedError, match="IdempotentParameterMismatch"):
        world.fleet.launch(asked(world, capacity=2))
    assert len(world.fleet.ours("prod")) == 1


def test_a_throttled_launch_bought_nothing_and_may_be_asked_again(world: World) -> None:
    world.throttle_next_launch()
    request = asked(world)
    with pytest.raises(UnavailableError, match="RequestLimitExceeded"):
        world.fleet.launch(request)
    assert world.fleet.launched("l1") == ()
    assert len(world.fleet.launch(request).instances) == 1


def test_a_lost_answer_is_found_again_by_the_same_request_and_by_the_launch_tag(world: World) -> None:
    world.lose_next_answer()
    request = asked(world, capacity=2)
    with pytest.raises(UnavailableError):
        world.fleet.launch(request)
    bought = world.fleet.launched("l1")
    assert len(bought) == 2
    assert ids(world.fleet.launch(request)) == [instance.id for instance in bought]
    assert len(world.fleet.ours("prod")) == 2


def test_an_offering_that_runs_out_is_named_and_the_next_is_taken(world: World) -> None:
    for zone in {override.zone for override in world.overrides}:
        world.run_out(CHEAP, zone, "on-demand")
    answer = world.fleet.launch(asked(world))
    assert [instance.instance_type for instance in answer.instances] == [DEAR]
    assert {(e.code, e.instance_type, e.capacity_type) for e in answer.errors} == {
        ("InsufficientInstanceCapacity", CHEAP, "on-demand")
    }
    assert {(e.zone, e.subnet_id) for e in answer.errors} == {(o.zone, o.subnet_id) for o in world.overrides}


def test_partial_success_keeps_what_came(world: World) -> None:
    only = world.overrides[0]
    world.run_out(only.instance_type, only.zone, "on-demand", left=2)
    request = fleet_request(world.fleet.ensure_template(world.template), (only,), capacity=3)
    answer = world.fleet.launch(request)
    assert len(answer.instances) == 2
    assert [(e.code, e.instance_type, e.zone) for e in answer.errors] == [
        ("InsufficientInstanceCapacity", only.instance_type, only.zone)
    ]


def test_no_capacity_at_all_is_an_answer_without_instances(world: World) -> None:
    for override in world.overrides:
        world.run_out(override.instance_type, override.zone, "spot")
    answer = world.fleet.launch(asked(world, capacity_type="spot"))
    assert answer.instances == ()
    assert {(e.instance_type, e.zone, e.capacity_type) for e in answer.errors} == {
        (o.instance_type, o.zone, "spot") for o in world.overrides
    }


def test_a_template_that_is_gone_buys_nothing(world: World) -> None:
    request = fleet_request("nodewright/gone", world.overrides)
    try:
        answer = world.fleet.launch(request)
    except RefusedError:
        answer = FleetAnswer(())
    assert answer.instances == ()
    assert world.fleet.launched("l1") == ()


def test_reserved_capacity_is_refused_rather_than_bought_at_full_price(world: World) -> None:
    with pytest.raises(RefusedError, match="reserved"):
        world.fleet.launch(asked(world, capacity_type="reserved"))


def test_ours_are_those_of_the_cluster_that_are_not_terminated(world: World) -> None:
    kept, ended = world.fleet.launch(asked(world, capacity=2)).instances
    world.fleet.launch(asked(world, launch_id="l2", tags=fleet_tags("test")))
    world.fleet.launch(asked(world, launch_id="l3", tags={**fleet_tags(), "nodewright.dev/stack": f"{STACK}-2"}))
    world.fleet.terminate([ended.id])
    world.fleet.ours("prod")  # moto shows shutting-down once
    assert [instance.id for instance in world.fleet.ours("prod")] == [kept.id]
    assert [instance.id for instance in world.fleet.launched("l1")] == sorted([kept.id, ended.id])


def test_those_of_ours_are_found_among_any_instances_dead_ones_too(world: World) -> None:
    one, two = world.fleet.launch(asked(world, capacity=2)).instances
    world.fleet.terminate([two.id])
    strangers = ("i-0aaaaaaaaaaaaaaaa", "i-0bbbbbbbbbbbbbbbb")
    assert world.fleet.ours_among(strangers) == ()
    found = world.fleet.ours_among((strangers[0], two.id, one.id, strangers[1]))
    assert sorted(instance.id for instance in found) == sorted((one.id, two.id))
    assert all(instance.tags["nodewright.dev/stack"] == STACK for instance in found)


def test_an_instance_is_named(world: World) -> None:
    (instance,) = world.fleet.launch(asked(world)).instances
    world.fleet.name(instance.id, {"Name": "ip-1", "karpenter.sh/nodeclaim": "l1-00"})
    (found,) = world.fleet.ours("prod")
    assert (found.tags["Name"], found.tags["karpenter.sh/nodeclaim"]) == ("ip-1", "l1-00")
    assert found.tags["nodewright.dev/stack"] == STACK


def test_terminating_ends_what_is_there_whatever_else_is_named(world: World) -> None:
    bought = world.fleet.launch(asked(world, capacity=2)).instances
    world.fleet.terminate(["i-0123456789abcdef0", *(one.id for one in bought), "i-0123456789abcdef1"])
    world.fleet.terminate([one.id for one in bought])
    world.fleet.terminate([])
    assert {one.state for one in world.fleet.launched("l1")} <= {"shutting-down", "terminated"}
