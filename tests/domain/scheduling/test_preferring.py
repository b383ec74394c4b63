"""Preferences are followed while they cost little, and never at a pod's expense."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodewright.domain.nodes import HOSTNAME_LABEL, ZONE_LABEL
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling import AT_ONCE, Budget, solve
from nodewright.domain.scheduling.preferring import preferring
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from nodewright.domain.taints import Toleration
from nodewright.domain.topology import NO_PREFERENCES, Preferences, PreferredNodes, Weighted
from tests.builders import (
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
    spread,
    taint,
    term,
)
from tests.oracle import check

W = {"app": "w"}
ON_DEMAND = ("karpenter.sh/capacity-type", "In", "on-demand")


def on_demand(*types: object, **overrides: object) -> PoolOptions:
    of = pool("default", ON_DEMAND, **overrides)
    return options(of, types or None)  # type: ignore[arg-type]


def priced(**zones: float) -> PoolOptions:
    """One type, x.s, at a price in each zone."""
    return on_demand(instance_type("x.s", offerings=[offering(zone, price=price) for zone, price in zones.items()]))


def nodes(weight: int, *entries: tuple[object, ...]) -> PreferredNodes:
    return PreferredNodes(weight, requirements(*entries))


def in_zone(weight: int, *zones: str) -> PreferredNodes:
    return nodes(weight, (ZONE_LABEL, "In", *zones))


def apart(weight: int, key: str = ZONE_LABEL, labels: dict[str, str] | None = None) -> Preferences:
    return Preferences(anti_affinity=(Weighted(weight, term(key, labels)),))


def near(weight: int, key: str = ZONE_LABEL, labels: dict[str, str] | None = None) -> Preferences:
    return Preferences(affinity=(Weighted(weight, term(key, labels)),))


def zones(plan: Plan) -> Counter[str]:
    """Pods by the zones that their nodes may come to."""
    return Counter("|".join(launch.zones) for launch in plan.launches for node in launch.nodes for _ in node)


def usd(plan: Plan) -> float:
    return plan.cost / 1e9


def zone_room(name: str, zone: str, **overrides: object) -> Room:
    labels = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", ZONE_LABEL: zone, HOSTNAME_LABEL: name}
    return room(name, **{"labels": labels, **overrides})  # type: ignore[arg-type]


def bound_pod(name: str, node: str) -> Pod:
    return pod(name, labels={"app": "db"}, node_name=node, phase="Running")


DB_IN_C = zone_room("n-c", "c", cpu=0, pods=(bound_pod("db", "n-c"),))
BESIDE_DB = near(100, labels={"app": "db"})


@pytest.mark.parametrize(("price", "zone"), [(1.1, "c"), (1.11, "a")])
def test_zone_preferences_may_cost_a_tenth_of_the_plan(price: float, zone: str) -> None:
    plan = solve(snapshot([pod(preferences=BESIDE_DB)], pools=[priced(a=1.0, c=price)], rooms=[DB_IN_C]))
    assert plan.launches[0].offerings[0].zone == zone


@pytest.mark.parametrize(("share", "zone"), [("0%", "a"), ("4.9%", "a"), ("5%", "c"), ("100%", "c")])
def test_a_pool_sets_what_they_may_cost(share: str, zone: str) -> None:
    sold = priced(a=1.0, c=1.05)
    chosen = replace(sold, pool=replace(sold.pool, settings={"nodewright.dev/preference-budget": share}))
    plan = solve(snapshot([pod(preferences=BESIDE_DB)], pools=[chosen], rooms=[DB_IN_C]))
    assert plan.launches[0].offerings[0].zone == zone


def test_of_several_pools_the_least_budget_holds() -> None:
    dear = priced(a=1.0, c=1.05)
    strict = pool("strict", ON_DEMAND, settings={"nodewright.dev/preference-budget": "1%"})
    plan = solve(snapshot([pod(preferences=BESIDE_DB)], pools=[dear, replace(dear, pool=strict)], rooms=[DB_IN_C]))
    assert plan.launches[0].offerings[0].zone == "a"


@pytest.mark.parametrize("weight", [1, 100])
def test_other_preferences_may_cost_nothing(weight: int) -> None:
    kinds = [instance_type("x.s", on_demand=1.0), instance_type("y.s", on_demand=1.01)]
    wish = Preferences((nodes(weight, ("karpenter.k8s.aws/instance-family", "In", "y")),))
    plan = solve(snapshot([pod(preferences=wish)], pools=[on_demand(*kinds)]))
    assert plan.launches[0].instance_types[0] == "x.s"


def test_other_preferences_are_kept_where_they_cost_nothing() -> None:
    kinds = [instance_type("x.s", on_demand=1.0), instance_type("y.s", on_demand=1.0)]
    wish = Preferences((nodes(1, ("karpenter.k8s.aws/instance-family", "In", "y")),))
    plan = solve(snapshot([pod(preferences=wish)], pools=[on_demand(*kinds)]))
    assert plan.launches[0].instance_types == ("y.s",)
    assert plan.relaxed == ()


def test_preferences_that_hold_together_are_added_up() -> None:
    wish = Preferences((in_zone(60, "a"), in_zone(40, "b"), in_zone(30, "b", "c")))
    plan = solve(snapshot([pod(preferences=wish)], pools=[on_demand()]))
    assert zones(plan) == {"b": 1}


def test_a_pod_that_nobody_counts_keeps_the_choice_between_zones_that_are_as_good() -> None:
    plan = solve(snapshot([pod(preferences=Preferences((in_zone(1, "a", "b"),)))], pools=[on_demand()]))
    assert plan.launches[0].zones == ("a", "b")


def test_of_what_costs_too_much_the_heavier_is_kept() -> None:
    """Each alone is within a tenth of 2, both are not."""
    kinds = [instance_type("x.s", offerings=[offering("a", price=1.0), offering("b", price=1.15)])]
    heavy = pod("heavy", cpu="1900m", preferences=Preferences((in_zone(20, "b"),)))
    light = pod("light", cpu="1900m", preferences=Preferences((in_zone(10, "b"),)))
    plan = solve(snapshot([light, heavy], pools=[on_demand(*kinds)]))
    (b,) = [launch for launch in plan.launches if launch.zones == ("b",)]
    assert b.nodes == ((PodKey("default", "heavy"),),)
    assert usd(plan) == pytest.approx(2.15)


def test_anti_affinity_over_zones_spreads_those_that_are_too_many() -> None:
    several = pods(6, cpu="1900m", labels=W, preferences=apart(10))
    plan = solve(snapshot(several, pools=[on_demand()]))
    assert zones(plan) == {"a": 2, "b": 2, "c": 2}
    (told,) = plan.relaxed
    assert (told.pods, told.example) == (6, PodKey("default", "p-0"))
    assert "anti-affinity over topology.kubernetes.io/zone" in told.preference


def test_a_heavy_zone_outweighs_light_anti_affinity() -> None:
    wish = replace(apart(1), nodes=(in_zone(100, "b"),))
    plan = solve(snapshot(pods(3, cpu="1900m", labels=W, preferences=wish), pools=[on_demand()]))
    assert zones(plan) == {"b": 3}


def test_a_soft_spread_counts_the_pods_that_are_there() -> None:
    there = zone_room("n-a", "a", cpu=0, pods=(replace(bound_pod("w", "n-a"), labels=W),))
    several = pods(2, cpu="1900m", labels=W, spreads=(spread(hard=False),))
    plan = solve(snapshot(several, rooms=[there], pools=[on_demand()]))
    assert zones(plan) == {"b": 1, "c": 1}


def test_pods_that_want_to_be_together_come_to_one_zone() -> None:
    several = pods(3, cpu="1900m", labels=W, preferences=near(1))
    plan = solve(snapshot(several, pools=[on_demand()]))
    assert len(zones(plan)) == 1
    assert all(len(launch.zones) == 1 for launch in plan.launches)


def test_who_is_followed_chooses_before_those_who_follow() -> None:
    leader = pod("leader", cpu="1900m", labels=W, preferences=Preferences((in_zone(1, "c"),)))
    follower = pod("follower", cpu="1900m", preferences=near(100))
    plan = solve(snapshot([follower, leader], pools=[on_demand()]))
    assert zones(plan) == {"c": 2}


def test_who_is_followed_without_a_wish_of_its_own_comes_to_one_zone_with_those_who_follow() -> None:
    leader, follower = pod("leader", cpu="1900m", labels=W), pod("follower", cpu="1900m", preferences=near(100))
    plan = solve(snapshot([follower, leader], pools=[on_demand()]))
    assert len(zones(plan)) == 1
    assert plan.relaxed == ()


def test_room_that_is_there_is_used_before_preferences_buy_a_node() -> None:
    plan = solve(snapshot([pod(preferences=Preferences((in_zone(100, "b"),)))], rooms=[zone_room("n-a", "a")]))
    assert plan.launches == ()
    (told,) = plan.relaxed
    assert "instead of 0" in told.reason


def test_among_rooms_the_preferred_one_is_taken() -> None:
    rooms = [zone_room("n-a", "a"), zone_room("n-b", "b")]
    plan = solve(snapshot([pod(preferences=Preferences((in_zone(1, "b"),)))], rooms=rooms))
    assert [each.node for each in plan.nominations] == ["n-b"]


def test_a_pod_stays_where_it_was_nominated_whatever_it_prefers() -> None:
    wish = pod(preferences=Preferences((in_zone(100, "b"),)))
    rooms = [zone_room("n-a", "a", nominated=(wish.key,)), zone_room("n-b", "b")]
    plan = solve(snapshot([wish], rooms=rooms))
    assert [each.node for each in plan.nominations] == ["n-a"]


def test_a_room_with_a_prefer_no_schedule_taint_is_filled_last() -> None:
    tainted = zone_room("a-first", "a", taints=(taint("busy", effect="PreferNoSchedule"),))
    plan = solve(snapshot([pod()], rooms=[tainted, zone_room("b-second", "a")]))
    assert [each.node for each in plan.nominations] == ["b-second"]
    alone = solve(snapshot([pod()], rooms=[tainted]))
    assert [each.node for each in alone.nominations] == ["a-first"]


def test_prefer_no_schedule_of_a_pool_ranks_for_those_who_do_not_tolerate_it() -> None:
    tainted = options(pool("a-tainted", ON_DEMAND, taints=(taint("t", effect="PreferNoSchedule"),)))
    clean = options(pool("b-clean", ON_DEMAND))
    minding, unminding = pod(cpu="1900m"), pod("q", cpu="1900m", tolerates=[Toleration("t", "Exists")])
    plan = solve(snapshot([minding, unminding], pools=[tainted, clean]))
    assert {launch.nodes[0][0].name: launch.pool for launch in plan.launches}["p"] == "b-clean"
    cheap = replace(tainted, instance_types=(instance_type("x.s", on_demand=0.9),))
    assert [launch.pool for launch in solve(snapshot([minding], pools=[cheap, clean])).launches] == ["a-tainted"]


def test_hosts_cost_nothing_and_equal_pods_change_places() -> None:
    kinds = on_demand(instance_type("x.s", cpu="4", memory="16Gi"))
    a = pods(4, "a", cpu="1", labels={"app": "a"}, preferences=apart(1, HOSTNAME_LABEL, {"app": "a"}))
    b = pods(4, "b", cpu="1", labels={"app": "b"}, spreads=(spread(HOSTNAME_LABEL, {"app": "b"}, hard=False),))
    plan = solve(snapshot([*a, *b], pools=[kinds]))
    placed = [Counter(key.name[0] for key in node) for launch in plan.launches for node in launch.nodes]
    assert placed == [{"a": 2, "b": 2}, {"a": 2, "b": 2}]
    assert usd(plan) == usd(solve(snapshot(_without_preferences([*a, *b]), pools=[kinds])))


def test_who_prefers_a_host_with_others_comes_to_them() -> None:
    there = bound_pod("db", "n-b")
    rooms = [zone_room("n-a", "a", cpu="500m"), zone_room("n-b", "b", cpu="500m", pods=(there,))]
    other = pod("a-other")
    follower = pod("follower", preferences=near(1, HOSTNAME_LABEL, {"app": "db"}))
    plan = solve(snapshot([other, follower], rooms=rooms))
    assert {each.node: each.pods[0].name for each in plan.nominations} == {"n-a": "a-other", "n-b": "follower"}


def test_hard_rules_stay_as_they_are() -> None:
    """Spread over zones, and preferred in one of them: it would break the spread."""
    several = pods(3, cpu="1900m", labels=W, spreads=(spread(),), preferences=Preferences((in_zone(100, "a"),)))
    given = snapshot(several, pools=[on_demand()])
    plan = solve(given)
    assert zones(plan) == {"a": 1, "b": 1, "c": 1}
    assert check(given, plan) == []
    (told,) = plan.relaxed
    assert (told.pods, told.reason) == (2, "a spread over the same label that must hold decides")


def test_a_soft_spread_goes_with_hard_anti_affinity_over_hosts() -> None:
    several = pods(6, cpu="100m", labels=W, anti_affinity=(term(HOSTNAME_LABEL),), spreads=(spread(hard=False),))
    given = snapshot(several, pools=[on_demand()])
    plan = solve(given)
    assert zones(plan) == {"a": 2, "b": 2, "c": 2}
    assert check(given, plan) == []


def test_what_nobody_can_meet_is_told() -> None:
    plan = solve(snapshot([pod(preferences=Preferences((nodes(7, ("example.com/x", "In", "y")),)))]))
    (told,) = plan.relaxed
    assert told.preference == "nodes with example.com/x In [y] (weight 7)"
    assert told.reason == "no node that is there or could be bought would do"


def test_what_is_too_dear_is_told_with_numbers() -> None:
    wish = Preferences((in_zone(1, "c"),))
    plan = solve(snapshot([pod(preferences=wish)], pools=[priced(a=1.0, c=1.4)]))
    (told,) = plan.relaxed
    assert told.reason == "keeping it, the plan would cost 1.40 instead of 1.00 USD/h, and it may cost 10 % more"


def test_limits_never_make_a_preference_leave_a_pod_waiting() -> None:
    kinds = (instance_type("x.m", cpu="4", memory="16Gi", vcpu=4), instance_type("x.s", cpu="2", memory="8Gi", vcpu=2))
    limited = replace(on_demand(*kinds), remaining=resources(cpu="4"))
    several = pods(2, cpu="1900m", labels=W, preferences=Preferences((nodes(1, (HOSTNAME_LABEL, "In", "other")),)))
    assert solve(snapshot(several, pools=[limited])).unschedulable == ()


def test_a_pool_may_ignore_preferences() -> None:
    sold = on_demand(settings={"nodewright.dev/preferences": "ignore"})
    several = _all_kinds_of_wishes()
    assert solve(snapshot(several, pools=[sold])) == solve(snapshot(_without_preferences(several), pools=[sold]))


def test_who_may_come_to_a_pool_that_ignores_preferences_has_none() -> None:
    ignoring = options(
        pool("ignoring", ON_DEMAND, settings={"nodewright.dev/preferences": "ignore"}, labels={"x": "y"})
    )
    wish = Preferences((in_zone(1, "c"),))
    elsewhere = pod(preferences=wish, selector={"karpenter.sh/nodepool": "default"})
    pools = [on_demand(), ignoring]
    assert zones(solve(snapshot([pod(preferences=wish)], pools=pools))) == {"a|b|c": 1}
    assert zones(solve(snapshot([elsewhere], pools=pools))) == {"c": 1}


def test_without_preferences_nothing_is_tried() -> None:
    asked: list[Budget] = []

    def planner(_: Snapshot, budget: Budget) -> Plan:
        asked.append(budget)
        return Plan()

    assert preferring(snapshot(pods(3)), Budget(), planner) == Plan()
    assert asked == [Budget()]


def test_an_urgent_plan_tries_preferences_of_a_sort_once() -> None:
    plans: list[Snapshot] = []

    def planner(asked: Snapshot, budget: Budget) -> Plan:
        plans.append(asked)
        return solve(replace(asked, pods=_without_preferences(asked.pods)), budget)

    several = [pod(f"p-{n}", cpu="1900m", preferences=Preferences((in_zone(n + 1, "c"),))) for n in range(8)]
    preferring(snapshot(several, pools=[priced(a=1.0, c=9.0)]), AT_ONCE, planner)
    assert len(plans) == 2


@pytest.mark.parametrize(("budget", "plans"), [(AT_ONCE, 1), (Budget(), 2)])
def test_many_pods_are_planned_once_and_their_nodes_then_bought_in_the_zones_they_like(
    budget: Budget, plans: int
) -> None:
    several = [
        pod(
            f"{app}-{n}",
            cpu=f"{500 + app}m",
            labels={"app": f"{app}"},
            spreads=(spread(labels={"app": f"{app}"}, hard=False),),
        )
        for app in range(120)
        for n in range(9)
    ]
    asked: list[Budget] = []

    def planner(given: Snapshot, within: Budget) -> Plan:
        asked.append(within)
        return solve(replace(given, pods=_without_preferences(given.pods)), within)

    world = snapshot(several, pools=[priced(a=1.0, b=1.0, c=1.0)])
    plan = preferring(world, budget, planner)
    assert [bool(each.contents) for each in asked] == [False] * plans + [True]
    assert plan.relaxed == ()
    assert plan.unschedulable == ()
    assert plan.cost * 100 <= solve(replace(world, pods=_without_preferences(world.pods)), budget).cost * 103


def test_other_preferences_are_kept_by_those_whose_nodes_cost_no_more_with_them() -> None:
    kinds = [
        instance_type("x.s", cpu=2, on_demand=1.0),
        instance_type("y.s", cpu=2, on_demand=1.0),
        instance_type("x.l", cpu=8, memory="32Gi", on_demand=4.0),
        instance_type("y.l", cpu=8, memory="32Gi", on_demand=4.1),
    ]
    wish = Preferences((nodes(1, ("karpenter.k8s.aws/instance-family", "In", "y")),))
    both = [pod("small", cpu="1900m", preferences=wish), pod("large", cpu="7900m", preferences=wish)]
    plan = solve(snapshot(both, pools=[on_demand(*kinds)]))
    assert {launch.nodes[0][0].name: launch.instance_types[0] for launch in plan.launches} == {
        "small": "y.s",
        "large": "x.l",
    }
    assert [(each.pods, each.example.name) for each in plan.relaxed] == [(1, "large")]


def test_a_plan_that_time_cuts_tries_nothing_more() -> None:
    cut = Plan(truncated=True)
    asked: list[Budget] = []

    def planner(_: Snapshot, budget: Budget) -> Plan:
        asked.append(budget)
        return cut

    assert preferring(snapshot([pod(preferences=apart(1))]), Budget(), planner) == cut
    assert asked == [AT_ONCE]


def test_where_time_is_over_before_the_plan_is_made_cheaper_the_quick_one_counts() -> None:
    plan = preferring(
        snapshot([pod(preferences=apart(1))]), Budget(), lambda _, asked: Plan(truncated=asked != AT_ONCE)
    )
    assert plan == Plan()


def _without_preferences(several: Sequence[Pod]) -> tuple[Pod, ...]:
    return tuple(
        replace(each, preferences=NO_PREFERENCES, spreads=tuple(s for s in each.spreads if s.hard)) for each in several
    )


def _all_kinds_of_wishes() -> tuple[Pod, ...]:
    return (
        *pods(3, "a", labels=W, preferences=apart(1)),
        *pods(3, "b", labels=W, preferences=apart(5, HOSTNAME_LABEL)),
        *pods(3, "c", preferences=near(9)),
        *pods(3, "d", labels=W, spreads=(spread(hard=False),)),
        *pods(3, "e", preferences=Preferences((in_zone(1, "b"), nodes(2, ("kubernetes.io/arch", "In", "arm64"))))),
    )


LABELS = st.sampled_from([{"app": "w"}, {"app": "v"}])
KEYS = st.sampled_from([ZONE_LABEL, HOSTNAME_LABEL, "karpenter.sh/capacity-type"])
WEIGHTS = st.integers(1, 100)
TERMS = st.builds(lambda weight, key, labels: Weighted(weight, term(key, labels)), WEIGHTS, KEYS, LABELS)
NODES = st.builds(
    nodes,
    WEIGHTS,
    st.sampled_from(
        [
            (ZONE_LABEL, "In", "a"),
            (ZONE_LABEL, "NotIn", "a"),
            ("karpenter.sh/capacity-type", "In", "on-demand"),
            ("karpenter.k8s.aws/instance-size", "In", "m"),
            ("example.com/nowhere", "Exists"),
        ]
    ),
)
SPREADS = st.builds(lambda key, labels, hard: spread(key, labels, hard=hard), KEYS, LABELS, st.booleans())


@st.composite
def wishing_pods(draw: st.DrawFn) -> tuple[Pod, ...]:
    groups = draw(st.integers(1, 4))
    made: list[Pod] = []
    for number in range(groups):
        wish = Preferences(
            tuple(draw(st.lists(NODES, max_size=2))),
            tuple(draw(st.lists(TERMS, max_size=1))),
            tuple(draw(st.lists(TERMS, max_size=2))),
        )
        made += pods(
            draw(st.integers(1, 5)),
            f"g{number}",
            cpu=draw(st.sampled_from(["200m", "900m", "1900m"])),
            labels=draw(LABELS),
            preferences=wish,
            spreads=tuple(draw(st.lists(SPREADS, max_size=1))),
        )
    return tuple(made)


ROOMS = st.lists(
    st.builds(
        lambda number, zone, cpu: zone_room(f"n-{number}", zone, cpu=cpu),
        st.integers(0, 99),
        st.sampled_from("abz"),
        st.sampled_from([0, 1, 4]),
    ),
    max_size=3,
    unique_by=lambda each: each.name,
)


def _untainted(sold: PoolOptions) -> PoolOptions:
    return replace(sold, pool=replace(sold.pool, taints=()))


POOLS = st.sampled_from(
    [
        (options(),),
        (replace(options(), remaining=resources(cpu="6")),),
        (options(pool("heavy", (ZONE_LABEL, "In", "a"), weight=10)), options()),
        (options(pool("heavy", taints=(taint("t", effect="PreferNoSchedule"),), weight=10)), options(pool("b"))),
    ]
)


@given(wishing_pods(), ROOMS, POOLS, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_preferences_never_leave_more_pods_nor_cost_more_than_a_tenth(
    several: tuple[Pod, ...], rooms: list[Room], pools: tuple[PoolOptions, ...], random: object
) -> None:
    given_world = snapshot(several, rooms=rooms, pools=pools)
    plan = solve(given_world)
    without = solve(replace(given_world, pods=_without_preferences(several), pools=tuple(map(_untainted, pools))))
    assert {each.pod for each in plan.unschedulable} <= {each.pod for each in without.unschedulable}
    assert plan.cost * 10 <= without.cost * 11
    assert plan.bound is None or plan.bound <= plan.cost
    assert check(given_world, plan) == []
    shuffled = list(several)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert solve(replace(given_world, pods=tuple(shuffled))) == plan


def test_pods_of_one_node_are_not_apart_whichever_zone_it_will_be_in() -> None:
    plan = solve(snapshot(pods(2, labels=W, preferences=apart(1)), pools=[priced(a=1.0, b=1.0)]))
    assert len(plan.launches) == 1
    (told,) = plan.relaxed
    assert told.pods == 2
    assert "instead of 1.00" in told.reason
