"""A pool's limits are never passed, whatever type EC2 picks from the list."""

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.limits import PRICE, Limits
from nodewright.domain.nodes import HOSTNAME_LABEL, ZONE_LABEL
from nodewright.domain.plans import Plan
from nodewright.domain.scheduling import solve
from tests.builders import USD, instance_type, offering, options, pod, pods, pool, resources, snapshot, spread


def nodes(plan: Plan) -> int:
    return sum(len(launch.nodes) for launch in plan.launches)


def test_types_beyond_what_remains_are_dropped() -> None:
    plan = solve(snapshot(pods(4, cpu="900m"), pools=[options(remaining=resources(cpu=4))]))

    assert {name for launch in plan.launches for name in launch.instance_types} <= {"x.s", "x.m"}
    assert plan.unschedulable == ()


def test_what_does_not_fit_the_limit_waits_with_numbers() -> None:
    plan = solve(snapshot(pods(3, cpu="1500m"), pools=[options(remaining=resources(cpu=4))]))

    assert nodes(plan) == 1
    assert plan.unschedulable[0].reason == "LimitReached"
    assert "cpu 0 left, x.s takes 2" in plan.unschedulable[0].message


def test_nodes_are_counted() -> None:
    plan = solve(snapshot(pods(9, cpu="1500m"), pools=[options(remaining=resources(nodes=1))]))

    assert nodes(plan) == 1
    assert "nodes 0 left" in plan.unschedulable[0].message


def test_a_limit_of_zero_buys_nothing() -> None:
    none = options(remaining=Limits({"cpu": 0}))

    assert solve(snapshot([pod()], pools=[none])).unschedulable[0].reason == "LimitReached"


def test_a_limit_that_is_used_up_or_passed_buys_nothing() -> None:
    used = options(pool(limits=resources(cpu=4)), remaining=Limits({"cpu": 4000}) - resources(cpu=5))

    assert solve(snapshot([pod()], pools=[used])).launches == ()


def test_a_limit_beyond_all_counting_limits_nothing() -> None:
    assert nodes(solve(snapshot([pod()], pools=[options(remaining=Limits({"cpu": 10**33}))]))) == 1


def test_a_resource_that_is_not_limited_is_unlimited() -> None:
    assert nodes(solve(snapshot([pod()], pools=[options(remaining=resources(memory="100Gi"))]))) == 1


def priced(*prices: tuple[str, float]) -> InstanceType:
    """x.s, on demand only, at a price for each zone."""
    return instance_type("x.s", offerings=[offering(zone, "on-demand", price) for zone, price in prices])


def test_what_nodes_cost_is_limited() -> None:
    types = [instance_type("x.s", on_demand=1.0, spot=None)]
    plan = solve(snapshot(pods(4, cpu="1500m"), pools=[options(types=types, remaining=Limits({PRICE: 5 * USD // 2}))]))

    assert nodes(plan) == 2
    assert "USD per hour 0.50 left, x.s takes 1.00" in plan.unschedulable[0].message


def test_of_one_type_only_the_zones_that_money_allows_are_listed() -> None:
    types = [priced(("a", 1.0), ("b", 1.2), ("c", 1.3))]
    tight, wide = (options(types=types, remaining=Limits({PRICE: usd * USD // 10})) for usd in (25, 26))

    assert solve(snapshot(pods(2, cpu="1500m"), pools=[tight])).launches[0].zones == ("a", "b")
    assert solve(snapshot(pods(2, cpu="1500m"), pools=[wide])).launches[0].zones == ("a", "b", "c")


def test_what_the_dearest_zone_may_cost_is_not_spent_on_another_node() -> None:
    """The list of the first shape takes the dearer zone's price, so the second shape doesn't get it."""
    types = [priced(("a", 1.0), ("b", 1.2))]
    waiting = [pod("small", cpu="1000m"), pod("large", cpu="1900m")]
    plan = solve(snapshot(waiting, pools=[options(types=types, remaining=Limits({PRICE: 22 * USD // 10}))]))

    dearest = sum(max(each.price for each in launch.offerings) * len(launch.nodes) for launch in plan.launches)
    assert nodes(plan) == 2
    assert dearest <= 22 * USD // 10


def test_larger_types_leave_the_list_before_nodes_leave_the_plan() -> None:
    """Two nodes of two cores use up the four that remain, so the larger type at the same price is not listed."""
    types = [instance_type("a.s", cpu=2, on_demand=1.0, spot=None)]
    types.append(instance_type("b.s", cpu="1900m", vcpu=3, on_demand=1.1, spot=None))
    tight, wide = (options(types=types, remaining=resources(cpu=cpu)) for cpu in (4, 6))

    assert [each.instance_types for each in solve(snapshot(pods(2, cpu="1500m"), pools=[tight])).launches] == [("a.s",)]
    assert solve(snapshot(pods(2, cpu="1500m"), pools=[wide])).launches[0].instance_types == ("a.s", "b.s")


def test_a_limit_chooses_the_type_that_takes_less_of_it() -> None:
    """The cheap type brings 64Gi of which one is used; the limit leaves 10Gi."""
    types = [
        instance_type("fat.s", memory="64Gi", on_demand=0.5, spot=None),
        instance_type("slim.s", memory="4Gi", on_demand=1.0, spot=None),
    ]
    plan = solve(snapshot(pods(2, cpu="1500m"), pools=[options(types=types, remaining=resources(memory="10Gi"))]))

    assert [launch.instance_types for launch in plan.launches] == [("slim.s",)]
    assert nodes(plan) == 2


def test_the_bound_holds_where_limits_make_pods_spill_to_a_lighter_and_cheaper_pool() -> None:
    heavy = options(pool("heavy", weight=10), [instance_type(on_demand=3.0, spot=None)], remaining=resources(nodes=1))
    light = options(pool("light"), [instance_type(on_demand=1.0, spot=None)])
    plan = solve(snapshot(pods(3, cpu="1500m"), pools=[heavy, light]))

    assert {launch.pool: len(launch.nodes) for launch in plan.launches} == {"heavy": 1, "light": 2}
    assert plan.bound is not None
    assert plan.bound <= 3 * 1_000_000_000


def test_nodes_of_the_last_of_a_limit_come_in_no_zone_that_keeps_pods_of_a_spread_out() -> None:
    """That spread counts every node, wherever its own pods may be; with the limit used up nothing more is bought."""
    asked, apart = {"app": "w"}, {"app": "apart"}
    everywhere = spread(labels=asked, honors_affinity=False)
    spread_out = pods(2, "s", cpu="900m", labels=asked, selector={ZONE_LABEL: "a"}, spreads=(everywhere,))
    alone = pods(2, "f", cpu="1900m", labels=apart, spreads=(spread(HOSTNAME_LABEL, apart),))
    here = snapshot((*spread_out, *alone), pools=[options(types=[instance_type()], remaining=resources(nodes=3))])

    plan = solve(here)

    assert not plan.unschedulable
    assert {launch.zones for launch in plan.launches} == {("a",)}


def test_what_is_proven_holds_where_limits_put_more_on_a_node_than_a_spread_over_nodes_would() -> None:
    apart = pods(6, cpu="100m", labels={"app": "w"}, spreads=(spread(HOSTNAME_LABEL),))
    plan = solve(snapshot(apart, pools=[options(types=[instance_type()], remaining=resources(nodes=3))]))

    assert nodes(plan) == 3
    assert plan.bound is not None
    assert plan.bound <= plan.cost
