"""What a launch may become."""

from nodewright.domain.limits import Limits
from nodewright.domain.plans import Launch
from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import PoolOptions
from tests.builders import USD, instance_type, offering, options, pod, pods, pool, resources, snapshot

FAMILY = "karpenter.k8s.aws/instance-family"


def launch(offered: PoolOptions) -> Launch:
    (found,) = solve(snapshot([pod()], pools=[offered])).launches
    return found


def listed(of: Launch) -> list[tuple[str, str]]:
    return [(each.instance_type, each.zone) for each in of.offerings]


def test_it_lists_what_holds_the_load_cheapest_first_up_to_thirteen_tenths_of_the_planned_price() -> None:
    types = [
        instance_type(name, on_demand=price, spot=None, zones="a")
        for name, price in (("d.s", 1.31), ("c.s", 1.3), ("b.s", 1.0), ("a.s", 1.1))
    ]
    types.append(instance_type("small.s", cpu="400m", on_demand=0.1, spot=None))

    assert listed(launch(options(types=types))) == [("b.s", "a"), ("a.s", "a"), ("c.s", "a")]


def test_it_has_one_capacity_type() -> None:
    mixed = instance_type(on_demand=0.42, spot=0.4)
    found = launch(options(types=[mixed]))

    assert found.capacity_type == "spot"
    assert [each.price for each in found.offerings] == [round(0.4 * USD)] * 3


def test_spot_is_not_listed_above_the_cheapest_on_demand_of_the_same_load() -> None:
    cheap = instance_type("a.s", on_demand=1.05, spot=1.0)
    near = instance_type("b.s", on_demand=2.0, spot=1.1)

    assert launch(options(types=[cheap, near])).instance_types == ("a.s",)


def test_it_is_cut_to_sixty_types() -> None:
    types = [instance_type(f"t{n}.s", on_demand=1 + n / 1000, spot=None) for n in range(80)]

    assert launch(options(types=types)).instance_types == tuple(f"t{n}.s" for n in range(60))


def test_the_cut_keeps_breadth_of_families_sizes_and_zones_for_spot() -> None:
    """Eighty cheap ones of one family and zone would crowd out the others."""
    many = [instance_type(f"a.s{n}", offerings=[offering("a", "spot", 1 + n / 1000)]) for n in range(80)]
    others = [
        instance_type("b.s0", offerings=[offering("a", "spot", 1.2)]),
        instance_type("a.s1x", offerings=[offering("a", "spot", 1.21)]),
        instance_type("a.s2x", offerings=[offering("b", "spot", 1.22)]),
    ]
    found = launch(options(types=[*many, *others]))

    assert len(found.instance_types) == 60
    assert {"b.s0", "a.s2x"} <= set(found.instance_types)
    assert found.zones == ("a", "b")


def choosy(least: int) -> PoolOptions:
    families = (("a1.s", 1.0), ("a1.m", 1.1), ("b1.s", 1.2), ("b1.m", 1.3), ("c1.s", 2.0))
    types = [instance_type(name, on_demand=price, spot=None) for name, price in families]
    return options(pool("default", Requirement.of(FAMILY, "Exists", min_values=least)), types)


def test_min_values_list_the_cheapest_of_each_value_whatever_it_costs() -> None:
    """Case 16."""
    assert launch(choosy(3)).instance_types == ("a1.s", "a1.m", "b1.s", "b1.m", "c1.s")
    assert launch(choosy(2)).instance_types == ("a1.s", "a1.m", "b1.s", "b1.m")


def test_min_values_that_nothing_meets_are_a_reason_with_numbers() -> None:
    """Case 16: two of three families."""
    (left,) = solve(snapshot([pod()], pools=[choosy(4)])).unschedulable

    assert left.reason == "MinValuesNotMet"
    assert "3 of 4" in left.message


def test_nodes_are_not_packed_onto_types_that_leave_too_little_choice() -> None:
    """Sixteen cores only exist in one family, so two nodes of eight are bought."""
    sold = [("a.l", 8, 1.0), ("b.l", 8, 1.0), ("a.xl", 16, 1.5)]
    types = [instance_type(name, cpu=cpu, memory="32Gi", on_demand=price, spot=None) for name, cpu, price in sold]
    two = options(pool("default", Requirement.of(FAMILY, "Exists", min_values=2)), types)
    plan = solve(snapshot(pods(4, cpu="4"), pools=[two]))

    assert [len(each.nodes) for each in plan.launches] == [2]
    assert plan.launches[0].instance_types[:2] == ("a.l", "b.l")


def test_a_pod_with_too_little_choice_of_its_own_is_told_so() -> None:
    world = snapshot([pod(selector={FAMILY: "a1"})], pools=[choosy(2)])

    assert solve(world).unschedulable[0].reason == "MinValuesNotMet"


def test_gpu_types_are_not_listed_for_plain_loads() -> None:
    plain = instance_type("x.s", on_demand=1.0, spot=None)
    gpu = instance_type("g.s", gpu=1, on_demand=1.0, spot=None)
    metal = instance_type("x.metal", on_demand=1.0, spot=None)

    assert launch(options(types=[plain, gpu, metal])).instance_types == ("x.s",)


def test_a_list_holds_every_node_of_its_launch() -> None:
    (found,) = solve(snapshot(pods(2, cpu="1800m"), pools=[options(types=[instance_type()])])).launches

    assert len(found.nodes) == 2
    assert found.requests == resources(cpu="1800m", memory="256Mi", pods=1)


def test_limits_that_are_far_away_leave_a_list_as_it_is() -> None:
    """Without limits lists are made at once, with limits type by type."""
    many = [instance_type(f"a{n % 3}.s{n}", on_demand=2 + n / 500, spot=1 + n / 500) for n in range(90)]
    few = [instance_type(name, on_demand=price, spot=None) for name, price in (("a1.s", 1.0), ("b1.s", 1.2))]
    for offered in (options(types=many), options(types=many[:40]), options(types=few), choosy(3)):
        limited = options(offered.pool, offered.instance_types, remaining=Limits({"cpu": 10**9}))

        assert launch(limited).offerings == launch(offered).offerings


def test_limits_that_are_far_away_leave_a_full_list_with_min_values_as_it_is() -> None:
    """Families that only minValues bring are listed in every zone, though others filled the list."""
    many = [instance_type(f"a1.s{n}", on_demand=1 + n / 1000, spot=None) for n in range(90)]
    others = [instance_type(f"{family}1.s", on_demand=1.25, spot=None) for family in "bcd"]
    offered = options(pool("default", Requirement.of(FAMILY, "Exists", min_values=4)), [*many, *others])
    limited = options(offered.pool, offered.instance_types, remaining=Limits({"cpu": 10**9}))

    assert len(launch(offered).instance_types) == 60
    assert {("b1.s", "a"), ("b1.s", "b"), ("b1.s", "c")} <= set(listed(launch(offered)))
    assert launch(limited).offerings == launch(offered).offerings
