"""Small worlds with answers worked out by hand (reference cases by number where there is one)."""

from dataclasses import replace

import pytest

from nodewright.domain.plans import Plan
from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling import Budget, solve
from nodewright.domain.taints import Toleration
from tests.builders import (
    USD,
    catalogue,
    daemon_set,
    instance_type,
    offering,
    options,
    pod,
    pods,
    pool,
    requirements,
    resources,
    room,
    snapshot,
    taint,
)

ON_DEMAND = ("karpenter.sh/capacity-type", "In", "on-demand")
ZONE = "topology.kubernetes.io/zone"
ARCH = "kubernetes.io/arch"
CPU = "karpenter.k8s.aws/instance-cpu"


def bought(plan: Plan) -> dict[tuple[str, str, str], int]:
    """(pool, cheapest type, capacity type) → nodes."""
    found: dict[tuple[str, str, str], int] = {}
    for launch in plan.launches:
        key = (launch.pool, launch.instance_types[0], launch.capacity_type)
        found[key] = found.get(key, 0) + len(launch.nodes)
    return found


def together(plan: Plan) -> set[frozenset[str]]:
    """Names of the pods that share each node."""
    return {frozenset(key.name for key in node) for launch in plan.launches for node in launch.nodes}


def test_nothing_pending_costs_nothing() -> None:
    assert solve(snapshot()) == Plan(bound=0)
    assert solve(snapshot(pools=[])) == Plan(bound=0)


def test_pods_that_fit_one_small_node_get_one_spot_node_in_any_zone() -> None:
    plan = solve(snapshot(pods(3, cpu="500m")))

    assert bought(plan) == {("default", "x.s", "spot"): 1}
    assert plan.launches[0].zones == ("a", "b", "c")
    assert plan.cost == 0.4 * USD
    assert plan.launches[0].requests == resources(cpu="1500m", memory="768Mi", pods=3)


def test_the_cheapest_mix_is_found() -> None:
    """7.8 cores: x.l for 1.6 as for two x.m; nine pods of 1900m need 9 × x.s for 3.6 or, two to an x.m, 4.0."""
    assert solve(snapshot(pods(9, cpu="1900m"))).cost == round(3.6 * USD)


def test_a_daemon_set_that_tolerates_a_tainted_pool_counts_there() -> None:
    """Case 2: 1700m + 300m do not fit x.s."""
    blue = Toleration("team", "Equal", "blue")
    tainted = options(pool("blue", ON_DEMAND, taints=(taint("team", "blue"),)))
    world = snapshot([pod(cpu="1700m", memory="1Gi", tolerates=[blue])], pools=[tainted], daemon_sets=[daemon_set()])

    assert bought(solve(world)) == {("blue", "x.m", "on-demand"): 1}


def test_a_daemon_set_that_does_not_tolerate_the_pool_does_not_count() -> None:
    blue = Toleration("team", "Equal", "blue")
    tainted = options(pool("blue", ON_DEMAND, taints=(taint("team", "blue"),)))
    shy = daemon_set(tolerates=())
    world = snapshot([pod(cpu="1700m", tolerates=[blue])], pools=[tainted], daemon_sets=[shy])

    assert bought(solve(world)) == {("blue", "x.s", "on-demand"): 1}


def test_a_daemon_set_for_one_type_counts_for_that_type_only() -> None:
    """Case 2, variant: the x.s agent makes x.s too small; x.m has no agent, so 3900m fit it."""
    agent = daemon_set(terms=[requirements(("node.kubernetes.io/instance-type", "In", "x.s"))])
    small, large = pod("small", cpu="1700m"), pod("large", cpu="3900m")

    assert bought(solve(snapshot([small], daemon_sets=[agent]))) == {("default", "x.m", "spot"): 1}
    assert bought(solve(snapshot([large], daemon_sets=[agent]))) == {("default", "x.m", "spot"): 1}


def test_a_daemon_set_that_waits_for_the_registered_label_counts() -> None:
    """Case 2, variant KC#2161."""
    agent = daemon_set(terms=[requirements(("karpenter.sh/registered", "In", "true"))])

    assert bought(solve(snapshot([pod(cpu="1700m")], daemon_sets=[agent]))) == {("default", "x.m", "spot"): 1}


def test_a_daemon_set_for_one_zone_counts_in_that_zone_only() -> None:
    agent = daemon_set(terms=[requirements((ZONE, "In", "a"))])
    (launch,) = solve(snapshot([pod(cpu="1700m")], daemon_sets=[agent])).launches

    assert [(o.instance_type, o.zone) for o in launch.offerings] == [("x.s", "b"), ("x.s", "c")]


@pytest.mark.parametrize(
    ("entries", "types"),
    [
        (((CPU, "Gt", "8"), (CPU, "Lt", "24")), ["t.16"]),
        (((CPU, "Gte", "8"), (CPU, "Lte", "24")), ["t.8", "t.16", "t.24"]),
        (((CPU, "Gt", "16"),), ["t.24", "t.96"]),
    ],
)
def test_comparisons_are_numeric(entries: tuple[tuple[str, ...], ...], types: list[str]) -> None:
    """Case 13; equal prices, so that every type that will do is listed."""
    offered = [instance_type(f"t.{cores}", cpu=cores, on_demand=1.0, spot=None) for cores in (8, 16, 24, 96)]
    (launch,) = solve(snapshot([pod()], pools=[options(pool("default", *entries), offered)])).launches

    assert sorted(launch.instance_types) == sorted(types)


def test_bounds_that_exclude_each_other_leave_a_reason_that_names_the_key() -> None:
    impossible = options(pool("default", (CPU, "Gt", "24"), (CPU, "Lt", "8")))
    (left,) = solve(snapshot([pod()], pools=[impossible])).unschedulable

    assert left.reason == "NoInstanceType"
    assert CPU in left.message


FAST = options(pool("fast", weight=50, labels={"kind": "fast"}))
SLOW = options(pool("slow", weight=10, labels={"kind": "slow"}))
EITHER = (requirements(("kind", "In", "slow")), requirements(("kind", "In", "fast")))


def test_of_ored_terms_the_heaviest_pool_decides() -> None:
    """Case 15."""
    assert bought(solve(snapshot([pod(terms=EITHER)], pools=[SLOW, FAST]))) == {("fast", "x.s", "spot"): 1}


def test_a_pool_at_its_limit_gives_way_to_the_next() -> None:
    """Case 15."""
    full = replace(FAST, remaining=resources(cpu=1))

    assert bought(solve(snapshot([pod(terms=EITHER)], pools=[SLOW, full]))) == {("slow", "x.s", "spot"): 1}


def test_a_pool_that_is_being_deleted_buys_nothing() -> None:
    leaving = options(pool("leaving", weight=9, terminating=True))

    assert bought(solve(snapshot([pod()], pools=[leaving, options()]))) == {("default", "x.s", "spot"): 1}
    assert solve(snapshot([pod()], pools=[leaving])).unschedulable[0].reason == "NoPool"


def test_weight_beats_price() -> None:
    dear = options(pool("dear", ON_DEMAND, weight=1))

    assert bought(solve(snapshot([pod()], pools=[dear, options()]))) == {("dear", "x.s", "on-demand"): 1}


def test_of_equal_weights_the_cheapest_is_bought_from() -> None:
    dear = options(pool("a-dear", ON_DEMAND))

    assert bought(solve(snapshot([pod()], pools=[dear, options()]))) == {("default", "x.s", "spot"): 1}


def test_pods_pinned_to_different_zones_share_no_node_and_others_join_them() -> None:
    """1.9 cores a node: each zone's node has room for two pods of 900m."""
    zonal = [pod(zone, cpu="900m", selector={ZONE: zone}) for zone in "ab"]
    free = pods(2, "free", cpu="900m")
    plan = solve(snapshot([*zonal, *free]))

    assert plan.cost == 0.8 * USD
    assert {launch.zones for launch in plan.launches} == {("a",), ("b",)}
    assert all(len(pods) == 2 for pods in together(plan))


def test_a_pod_that_needs_on_demand_may_take_others_along() -> None:
    """1.0 for both on one on-demand node; apart 1.4."""
    plan = solve(snapshot([pod("steady", selector={"karpenter.sh/capacity-type": "on-demand"}), pod("any")]))

    assert together(plan) == {frozenset({"steady", "any"})}
    assert plan.cost == USD


def test_an_offering_that_cools_down_is_not_bought() -> None:
    sold = [offering("a", "spot", 0.4, available=False), offering("b", "spot", 0.5)]
    (launch,) = solve(snapshot([pod()], pools=[options(types=[instance_type(offerings=sold)])])).launches

    assert launch.zones == ("b",)


def test_taints_keep_pods_off_and_soft_taints_do_not() -> None:
    hard = options(pool("hard", taints=(taint("a", "1"),)))
    soft = options(pool("soft", taints=(taint("a", "1", "PreferNoSchedule"),)))

    assert bought(solve(snapshot([pod()], pools=[hard, soft]))) == {("soft", "x.s", "spot"): 1}


def test_startup_taints_do_not_keep_pods_off() -> None:
    starting = options(pool(startup_taints=(taint("cni", "wait"),)))

    assert len(solve(snapshot([pod()], pools=[starting])).launches) == 1


def test_values_a_pool_leaves_open_are_chosen_by_its_pods() -> None:
    shared = options(pool("default", ("team", "In", "red", "blue")))
    plan = solve(snapshot([pod(team, selector={"team": team}) for team in ("red", "blue")], pools=[shared]))

    assert together(plan) == {frozenset({"red"}), frozenset({"blue"})}
    assert [dict(launch.labels) for launch in plan.launches] == [{"team": "blue"}, {"team": "red"}]
    assert all(launch.selected_labels == ("team",) for launch in plan.launches)


def test_a_value_the_pool_does_not_offer_gets_no_node() -> None:
    shared = options(pool("default", ("team", "In", "red", "blue")))
    (left,) = solve(snapshot([pod(selector={"team": "green"})], pools=[shared])).unschedulable

    assert left.message == "pool default: none of 4 types satisfies team In [green]"


MIXED = (
    instance_type("amd.s", on_demand=1.0, spot=None),
    instance_type("arm.s", arch="arm64", on_demand=0.8, spot=None),
)


@pytest.mark.parametrize(
    ("asks", "settings", "expected"),
    [
        ({}, {}, "amd.s"),
        ({}, {"nodewright.dev/assume-arch": "any"}, "arm.s"),
        ({"terms": [requirements((ARCH, "In", "arm64", "amd64"))]}, {}, "arm.s"),
        ({"tolerates": [Toleration(ARCH, "Equal", "arm64")]}, {}, "arm.s"),
        ({"selector": {"kubernetes.io/os": "linux"}}, {}, "amd.s"),
    ],
)
def test_a_pod_that_says_nothing_of_architectures_gets_amd64(
    asks: dict[str, object], settings: dict[str, str], expected: str
) -> None:
    """Case 31."""
    mixed = options(pool(settings=settings), MIXED)
    (launch,) = solve(snapshot([pod(**asks)], pools=[mixed])).launches  # type: ignore[arg-type]

    assert launch.instance_types[0] == expected


def test_a_pool_that_only_has_arm64_is_used() -> None:
    assert bought(solve(snapshot([pod()], pools=[options(types=MIXED[1:])]))) == {("default", "arm.s", "on-demand"): 1}


def test_a_windows_pod_never_gets_a_linux_node() -> None:
    (left,) = solve(snapshot([pod(selector={"kubernetes.io/os": "windows"})])).unschedulable

    assert left.reason == "NoInstanceType"


def test_a_plain_pod_gets_no_gpu_node_while_a_plain_type_fits() -> None:
    """Case 32: even where the GPU type is the cheaper."""
    cheap_gpu = instance_type("g.m", cpu="3920m", memory="14Gi", gpu=1, on_demand=0.1, spot=0.05)
    offered = options(types=[instance_type("x.s"), cheap_gpu])

    assert bought(solve(snapshot([pod()], pools=[offered]))) == {("default", "x.s", "spot"): 1}
    assert bought(solve(snapshot([pod(cpu="3")], pools=[offered]))) == {("default", "g.m", "spot"): 1}


def test_a_gpu_pod_gets_a_gpu_node() -> None:
    assert bought(solve(snapshot([pod(requests=resources(gpu=1))]))) == {("default", "g.m", "spot"): 1}


def test_more_gpus_than_any_type_has_is_a_reason() -> None:
    """Case 32."""
    (left,) = solve(snapshot([pod(requests=resources(gpu=2))])).unschedulable

    assert left.reason == "NoInstanceType"
    assert "nvidia.com/gpu 1" in left.message


def test_an_unknown_resource_buys_nothing() -> None:
    """Case 32: example.com/fpga."""
    plan = solve(snapshot([pod(requests=resources(**{"example.com/fpga": 1}))]))

    assert plan.launches == ()
    assert "lacks example.com/fpga 1" in plan.unschedulable[0].message


def test_a_pod_with_problems_is_told_them_and_gets_nothing() -> None:
    plan = solve(snapshot([pod(problems=("spec.resourceClaims is not supported; remove it",))], rooms=[room()]))

    assert not plan.launches
    assert not plan.nominations
    assert plan.unschedulable[0].reason == "Unsupported"
    assert plan.unschedulable[0].message == "spec.resourceClaims is not supported; remove it"


def test_a_pod_slot_is_a_resource() -> None:
    tiny = instance_type(pod_slots=2)

    assert bought(solve(snapshot(pods(5, cpu="10m"), pools=[options(types=[tiny])]))) == {("default", "x.s", "spot"): 3}


def test_pods_that_ask_for_nothing_get_a_node_too() -> None:
    assert bought(solve(snapshot(pods(3, cpu=0, memory=0)))) == {("default", "x.s", "spot"): 1}


def test_the_bound_of_many_is_what_divided_pods_would_cost() -> None:
    """1,930m cost 0.4 on x.s; x.l's 7,910m for 1.6 are the best by cpu: 2,700 × 1,900m ≥ 1037.67."""
    plan = solve(snapshot(pods(2700, cpu="1900m", memory=0)), Budget(columns=0))

    assert plan.bound == 2700 * 1900 * 1_600_000_000 // 7910


def test_a_spent_budget_leaves_pods_for_the_next_plan_and_says_so() -> None:
    plan = solve(snapshot(pods(3)), Budget(patterns=0))

    assert plan.truncated
    assert plan.launches == ()
    assert {left.reason for left in plan.unschedulable} == {"NotPlannedYet"}


def test_an_expired_guard_cuts_the_plan() -> None:
    assert solve(snapshot(pods(3)), expired=lambda: True).truncated


def test_pods_of_high_priority_and_age_are_served_first_where_a_limit_bites() -> None:
    waiting = [pod("old", cpu="1500m"), pod("urgent", cpu="1500m", priority=10), pod("b-late", cpu="1500m")]
    plan = solve(snapshot(waiting, pools=[options(remaining=resources(nodes=1))], daemon_sets=[daemon_set(cpu="100m")]))

    assert "urgent" in {name for names in together(plan) for name in names}


def test_a_selector_on_the_pool_by_name_is_honoured() -> None:
    cheap, dear = options(pool("cheap")), options(pool("dear", ON_DEMAND))
    plan = solve(snapshot([pod(selector={"karpenter.sh/nodepool": "dear"})], pools=[cheap, dear]))

    assert bought(plan) == {("dear", "x.s", "on-demand"): 1}


def test_requirements_of_the_pool_narrow_its_types() -> None:
    only = options(pool("default", Requirement.of("karpenter.k8s.aws/instance-size", "NotIn", ["s"])))

    assert bought(solve(snapshot([pod()], pools=[only]))) == {("default", "x.m", "spot"): 1}


def test_equal_catalogues_of_two_pools_give_one_answer() -> None:
    """A tie is broken by name."""
    one, other = options(pool("b"), catalogue()), options(pool("a"), catalogue())

    assert bought(solve(snapshot([pod()], pools=[one, other]))) == {("a", "x.s", "spot"): 1}
