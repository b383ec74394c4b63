"""Where the judge would still have put a pod that a plan leaves."""

from collections.abc import Iterable
from dataclasses import replace

from nodewright.domain.limits import NODES, Limits
from nodewright.domain.plans import Plan
from nodewright.domain.requirements import Requirement
from nodewright.domain.snapshot import PoolOptions, Snapshot
from tests.builders import instance_type, offering, options, pod, pods, pool, requirements, snapshot, taint
from tests.oracle import could_place
from tests.oracles.plans import HOST, key, launch, node, plan, spread, term

LABELS = {"app": "web"}
NOTHING = options(remaining=Limits({NODES: 0}))


def place(world: Snapshot, of: Plan | None = None, name: str = "p") -> str:
    return could_place(world, of or plan(world), key(name)) or "nowhere"


def bought(*offered: PoolOptions, waiting: Iterable[object] = (pod(),)) -> str:
    return place(snapshot(waiting, pools=offered))  # type: ignore[arg-type]


def test_in_a_room() -> None:
    world = snapshot([pod()], rooms=[node("full", cpu="0"), node("n")], pools=[NOTHING])
    assert place(world) == "n"
    assert place(replace(world, rooms=world.rooms[:1])) == "nowhere"


def test_not_in_a_room_that_the_plan_filled() -> None:
    two = pods(2, cpu="1500m")
    world = snapshot(two, rooms=[node("n")], pools=[NOTHING])
    assert place(world, plan(world, rooms={"n": two[:1]}), "p-1") == "nowhere"


def test_on_a_node_of_the_plan() -> None:
    two = pods(2)
    world = snapshot(two, pools=[options(remaining=Limits({NODES: 1}))])
    assert place(world, plan(world, launch(world, two[:1])), "p-1") == "launch-0-node-0 as x.s in a"


def test_on_a_node_of_the_plan_whose_list_is_cut_to_what_holds_both() -> None:
    two = pods(2, cpu="1500m")
    world = snapshot(two, pools=[options(remaining=Limits({NODES: 1}))])
    made = plan(world, launch(world, two[:1], types=["x.s", "x.m"]))
    assert place(world, made, "p-1") == "launch-0-node-0 as x.m in a"
    small = plan(world, launch(world, two[:1], types=["x.s"]))
    assert place(world, small, "p-1") == "nowhere"


def test_on_one_of_several_equal_nodes() -> None:
    three = pods(3, cpu="900m")
    world = snapshot(three, pools=[options(remaining=Limits({NODES: 2}))])
    made = plan(world, launch(world, three[:1], three[1:2]))
    assert place(world, made, "p-2") == "launch-0-node-0 as x.s in a"


def test_on_a_new_node() -> None:
    assert bought(options()).startswith("a new node of default, spot x.s in a")


def test_nothing_is_bought_beyond_a_limit() -> None:
    two = pods(2, cpu="1500m")
    world = snapshot(two, pools=[options(remaining=Limits({"cpu": 5_000}))])
    held = plan(world, launch(world, two[:1], types=["x.s", "x.m"]))
    assert place(world, plan(world, launch(world, two[:1])), "p-1") != "nowhere"
    assert place(world, held, "p-1") == "launch-0-node-0 as x.m in a"
    assert bought(options(remaining=Limits({"cpu": 1_000}))) == "nowhere"


def test_nothing_is_bought_for_who_is_set_aside_but_rooms_take_it() -> None:
    world = replace(snapshot([pod()]), set_aside={key("p"): "in vain"})
    assert place(world) == "nowhere"
    assert place(replace(world, rooms=(node("n"),))) == "n"


def test_nor_for_who_has_problems() -> None:
    assert place(snapshot([pod(problems=("odd",))], rooms=[node("n")])) == "nowhere"


def test_a_pool_that_is_deleted_or_sold_out_sells_nothing() -> None:
    assert bought(options(pool(terminating=True))) == "nowhere"
    sold_out = instance_type(offerings=[offering(available=False)])
    assert bought(options(types=[sold_out])) == "nowhere"
    assert bought(options(types=[sold_out]), options(pool("other"))).startswith("a new node of other")


def test_a_taint_that_is_not_borne() -> None:
    assert bought(options(pool(taints=(taint("team"),)))) == "nowhere"


def test_min_values_hold() -> None:
    wish = Requirement.of("node.kubernetes.io/instance-type", "Exists", (), 2)
    assert bought(options(pool("default", wish))) != "nowhere"
    assert bought(options(pool("default", wish)), waiting=[pod(cpu="7")]) == "nowhere"


def test_an_accelerated_type_does_where_no_plain_one_does() -> None:
    world = snapshot([pod()], pools=[options(types=[instance_type("g.m", gpu=1)])])
    assert place(world) != "nowhere"


def test_a_label_that_the_pool_leaves_open_is_chosen() -> None:
    team = pool("default", ("team", "In", "blue", "red"))
    assert bought(options(team), waiting=[pod(selector={"team": "red"})]) != "nowhere"
    assert bought(options(team), waiting=[pod(terms=[requirements(("team", "NotIn", "red"))])]) != "nowhere"
    assert bought(options(team), waiting=[pod(selector={"team": "green"})]) == "nowhere"
    assert bought(options(team), waiting=[pod(terms=[requirements(("team", "DoesNotExist"))])]) == "nowhere"


def test_not_where_it_would_keep_another_pending() -> None:
    guard = pod(anti_affinity=(term(HOST),), labels={})
    web = pod("web", labels=LABELS)
    world = snapshot([guard, web], rooms=[node("n")], pools=[NOTHING])
    assert place(world, plan(world, rooms={"n": [web]})) == "nowhere"
    assert place(replace(world, rooms=(*world.rooms, node("m"))), plan(world, rooms={"n": [web]})) == "m"


def test_a_zone_of_its_own_for_a_pod_that_spreads() -> None:
    one = pod(labels=LABELS, spreads=(spread(),))
    there = [node("n-a", "a", pod("w-1", labels=LABELS)), node("n-b", "b", pod("w-2", labels=LABELS))]
    world = snapshot([one], rooms=there, pools=[options(remaining=Limits({"cpu": 8_000}))])
    assert "in c" in place(world), "zone c can be had, so a and b are to wait"
    assert place(replace(world, pools=(NOTHING,))) == "n-a", "where nothing can be had, c is no domain"


def test_a_zone_that_could_be_had_before_the_plan_took_the_rest_still_counts() -> None:
    one, big = pod(labels=LABELS, spreads=(spread(),)), pod("big", cpu="1900m")
    there = [node("n-a", "a", pod("w-1", labels=LABELS))]
    world = snapshot([one, big], rooms=there, pools=[options(remaining=Limits({NODES: 1}))])
    assert place(world, plan(world, launch(world, [big]))) == "nowhere"
    assert place(replace(world, pools=(NOTHING,))) == "n-a"
