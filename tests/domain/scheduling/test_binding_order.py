"""Plans hold in whatever order pods are bound: who may count on whom, and the verifier that says so."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from nodewright.domain.limits import NODES, Limits
from nodewright.domain.nodes import CAPACITY_TYPE_LABEL, HOSTNAME_LABEL, ZONE_LABEL
from nodewright.domain.plans import Nomination, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.scheduling import Budget, solve
from nodewright.domain.scheduling.budget import never
from nodewright.domain.scheduling.exploring import SpreadView, never_stuck
from nodewright.domain.scheduling.solving import proposed
from nodewright.domain.scheduling.verifying import unkept
from nodewright.domain.snapshot import Room, Snapshot
from nodewright.domain.taints import Toleration
from tests.builders import daemon_set, instance_type, options, pod, pods, room, snapshot, spread, taint, term
from tests.worlds import worlds

APP = {"app": "w"}


def nodes(*zones: str) -> list[Room]:
    """`n-a` in zone a …"""
    return [room(f"n-{zone}", cpu=8, labels={ZONE_LABEL: zone}) for zone in zones]


def placed(**names: str) -> Plan:
    """`n_a="p-0 p-1"`: these go to node n-a."""
    return Plan(
        nominations=tuple(
            Nomination(node.replace("_", "-"), tuple(PodKey("default", name) for name in some.split()))
            for node, some in names.items()
        )
    )


def names(broken: object) -> set[str]:
    assert isinstance(broken, dict)
    return {key.name for key in broken}


class TestVerifier:
    def test_an_even_split_of_pods_under_their_own_spread_holds(self) -> None:
        world = snapshot(pods(4, labels=APP, spreads=(spread(),)), rooms=nodes("a", "b"))

        assert unkept(world, placed(n_a="p-0 p-1", n_b="p-2 p-3")) == {}

    def test_an_uneven_split_does_not(self) -> None:
        world = snapshot(pods(3, labels=APP, spreads=(spread(),)), rooms=nodes("a", "b"))

        assert names(unkept(world, placed(n_a="p-0 p-1 p-2"))) == {"p-0", "p-1", "p-2"}

    def test_an_even_split_does_not_hold_where_others_are_counted_that_may_come_first(self) -> None:
        world = snapshot((*pods(2, labels=APP, spreads=(spread(),)), *pods(2, "q", labels=APP)), rooms=nodes("a", "b"))

        assert unkept(world, placed(n_a="p-0 q-0", n_b="p-1 q-1")) == {}
        assert names(unkept(world, placed(n_a="p-0 p-1 q-0", n_b="q-1"))) == {"p-0", "p-1"}

    def test_a_pod_may_wait_for_one_that_waits_for_nobody_but_not_in_a_circle(self) -> None:
        chain = snapshot([pod("p", affinity=(term(),)), pod("q", labels=APP)], rooms=nodes("a"))
        circle = snapshot(
            [
                pod("p", labels={"app": "x"}, affinity=(term(),)),
                pod("q", labels=APP, affinity=(term(labels={"app": "x"}),)),
            ],
            rooms=nodes("a"),
        )

        assert unkept(chain, placed(n_a="p q")) == {}
        assert names(unkept(circle, placed(n_a="p q"))) == {"p", "q"}

    def test_a_group_begins_only_where_all_that_it_selects_will_be(self) -> None:
        world = snapshot((*pods(2, labels=APP, affinity=(term(),)), pod("q", labels=APP)), rooms=nodes("a", "b"))

        assert unkept(world, placed(n_a="p-0 p-1 q")) == {}
        assert unkept(world, placed(n_a="p-0 q", n_b="p-1")) == {
            PodKey("default", "p-1"): f"pod affinity over {ZONE_LABEL}"
        }

    def test_pods_that_repel_each_other_are_both_told(self) -> None:
        world = snapshot([pod("p", anti_affinity=(term(),)), pod("q", labels=APP)], rooms=nodes("a"))

        assert names(unkept(world, placed(n_a="p q"))) == {"p", "q"}

    def test_a_daemon_sets_pod_counts_unless_a_bound_pods_anti_affinity_keeps_it_off(self) -> None:
        agent = replace(daemon_set(), key=PodKey("default", "agent"), labels=APP)
        full = room("n-b", labels={ZONE_LABEL: "b"}, pods=pods(2, "w", labels=APP), taints=(taint("old"),))
        one = pod("p", spreads=(spread(),), tolerations=(Toleration(operator="Exists"),))
        guard = pod("guard", anti_affinity=(term(),))
        free, guarded = (room("n-a", labels={ZONE_LABEL: "a"}, pods=there) for there in ((), (guard,)))

        for other, broken in ((free, set()), (guarded, {"p"})):
            world = snapshot([one], rooms=[other, full], daemon_sets=(replace(agent, tolerations=()),))
            assert names(unkept(world, placed(n_b="p"))) == broken


class TestCrosswise:
    def test_two_spreads_can_keep_each_others_pods_out_for_ever(self) -> None:
        """One in (a, spot) makes the others of a and of spot wait for b and on-demand, which wait for each other."""
        assert not never_stuck([1, 1, 1], [_view((0, 0, 1)), _view((0, 1, 0))])

    def test_with_one_pod_of_each_kind_there_is_always_one_that_may_come(self) -> None:
        assert never_stuck([1, 1, 1, 1], [_view((0, 0, 1, 1)), _view((0, 1, 0, 1))])

    def test_a_zone_is_none_before_its_first_node_is_there(self) -> None:
        """Both of one zone may come when it is the only one, and are in the way of two others then."""
        zones, kinds, counts = (0, 0, 1, 1, 2, 2), (0, 1, 0, 1, 0, 1), [0, 1, 0, 2, 2, 0]
        there = [_view(zones), _view(kinds)]
        assert never_stuck(counts, there)
        assert not never_stuck(counts, [replace(view, standing=~view.standing) for view in there])

    def test_a_pod_that_surely_comes_need_not_be_there_first(self) -> None:
        """One in the third zone that comes anyhow: were it there, nobody else of that zone might come too soon."""
        one = np.array([0, 0, 1])
        zones = replace(_view((1, 0, 2, 1)), most=one, least=one)
        kinds = replace(_view((1, 0, 0, 0)), max_skew=2)
        assert never_stuck([1, 1, 1, 1], [replace(zones, bound=one), kinds])
        assert not never_stuck([1, 1, 1, 1], [zones, kinds])

    def test_too_many_orders_are_not_gone_through(self) -> None:
        assert not never_stuck([1000, 1000], [_view((0, 1))])

    def test_a_pod_that_a_spread_counts_but_does_not_bind_may_be_in_the_way_of_one_that_it_binds(self) -> None:
        def both(*domains: int) -> bool:
            return never_stuck([1, 1], [replace(_view(domains), binds=(True, False))])

        assert both(0, 1)
        assert not both(0, 0)

    @pytest.mark.parametrize("count", [2, 3, 5, 7])
    def test_replicas_over_zones_and_capacity_types_are_all_planned(self, count: int) -> None:
        both = (spread(), spread(CAPACITY_TYPE_LABEL))

        plan = solve(snapshot(pods(count, cpu="100m", labels=APP, spreads=both)))

        assert plan.unschedulable == ()

    @pytest.mark.parametrize(("skews", "count"), [((1, 1), 8), ((1, 1), 12), ((2, 1), 24), ((1, 2), 18)])
    def test_more_are_planned_evenly_where_one_by_one_would_leave_some(
        self, skews: tuple[int, int], count: int
    ) -> None:
        plan = solve(snapshot(_crosswise(count, *skews)))

        assert plan.unschedulable == ()

    def test_three_in_every_zone_of_every_capacity_type_might_keep_each_other_out(self) -> None:
        """Three on-demand in a, and one on-demand and three spot in b and in c: nobody may come any more."""
        zones, kinds = (0, 0, 1, 1, 2, 2), (0, 1, 0, 1, 0, 1)
        assert never_stuck([2] * 6, [_view(zones), _view(kinds)])
        assert not never_stuck([3] * 6, [_view(zones), _view(kinds)])

        world = snapshot(_crosswise(18, 1, 1))
        first = solve(world)

        assert len(first.unschedulable) == 6
        assert unkept(world, first) == {}

    def test_where_limits_are_in_the_way_they_come_one_by_one(self) -> None:
        nodes = [options(types=[instance_type("x.s", zones="abc")], remaining=Limits({NODES: 5}))]
        plan = solve(snapshot(_crosswise(12, 1, 1), pools=nodes))

        assert len(plan.unschedulable) == 4

    def test_spreads_that_count_each_others_pods_need_not_leave_one(self) -> None:
        """One spread counts five pods of another, whose zones have two, two and one: the sixth may come whenever."""
        apart = spread(HOSTNAME_LABEL, labels={"app": "nobody"})
        lone = pod("lone", cpu="900m", labels=APP, spreads=(spread(labels=APP),))
        world = snapshot((lone, *pods(5, cpu="400m", labels=APP, spreads=(spread(labels=APP), apart))))

        plan = solve(world)

        assert plan.unschedulable == ()
        assert unkept(world, plan) == {}

    def test_pods_over_zones_and_nodes_fill_what_nodes_there_are(self) -> None:
        both = (spread(labels=APP), spread(HOSTNAME_LABEL, labels=APP))
        there = [room(name, cpu=1, labels={ZONE_LABEL: "a", HOSTNAME_LABEL: name}) for name in ("m", "n")]
        world = snapshot(pods(4, cpu="100m", labels=APP, spreads=both), rooms=there, pools=[])

        plan = solve(world)

        assert sorted(len(each.pods) for each in plan.nominations) == [2, 2]
        assert unkept(world, plan) == {}


@pytest.mark.property
@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(worlds())
def test_a_plan_needs_no_correction(world: Snapshot) -> None:
    plan = proposed(world, Budget(), never)

    assert unkept(world, plan) == {}
    assert "WaitsForOthers" not in {each.reason for each in solve(world).unschedulable}


def test_spreads_that_count_each_others_pods_are_planned_without_any_waiting_for_the_other() -> None:
    """Karpenter's benchmark: every pod carries a label of its own and is spread by another's."""
    labels = "abcdefg"
    mixed = [
        pod(
            f"{kind}-{number}",
            cpu="100m",
            labels={"my": labels[number % 7]},
            spreads=(spread(labels={"my": labels[number * 3 % 7]}),) if kind == "spread" else (),
        )
        for kind in ("plain", "spread")
        for number in range(84)
    ]

    plan = proposed(snapshot(mixed), Budget(), never)

    assert plan.unschedulable == ()
    assert unkept(snapshot(mixed), plan) == {}


def _crosswise(count: int, over_zones: int, over_capacity_types: int) -> tuple[Pod, ...]:
    both = (spread(max_skew=over_zones), spread(CAPACITY_TYPE_LABEL, max_skew=over_capacity_types))
    return pods(count, cpu="100m", labels=APP, spreads=both)


def _view(domain_of: tuple[int, ...]) -> SpreadView:
    """Of pods alone, maxSkew 1; there are nodes in two domains."""
    nobody = np.zeros(max(2, *(each + 1 for each in domain_of)), dtype=np.int64)
    every = (True,) * len(domain_of)
    return SpreadView(
        domain_of,
        binds=every,
        counted=every,
        most=nobody,
        least=nobody,
        bound=nobody,
        standing=nobody == 0,
        max_skew=1,
        enough_domains=True,
    )
