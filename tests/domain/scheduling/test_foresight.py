"""Pods that aren't there: after all that are, on what those leave."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from nodewright.domain.nodes import ZONE_LABEL
from nodewright.domain.pods import Pod, PodKey, StandsFor
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import Snapshot
from tests.builders import (
    EXISTS,
    instance_type,
    options,
    pod,
    pods,
    pool,
    resources,
    room,
    snapshot,
    spread,
    taint,
    term,
)
from tests.domain.scheduling.checker import faults
from tests.oracle import check

APP = {"app": "w"}


def standing(kind: StandsFor, of: Iterable[Pod]) -> tuple[Pod, ...]:
    return tuple(replace(each, stands_for=kind) for each in of)


def world(*real: Pod, expected: Iterable[Pod] = (), headroom: Iterable[Pod] = (), **more: object) -> Snapshot:
    made = snapshot(real, **more)  # type: ignore[arg-type]
    return replace(made, expected=standing("expected", expected), headroom=standing("headroom", headroom))


def test_expected_pods_are_bought_for_with_the_real_ones() -> None:
    here = world(*pods(1, "web", cpu="900m"), expected=pods(3, "web-expected", cpu="900m"))
    plan = solve(here)
    assert [key.name for launch in plan.launches for node in launch.nodes for key in node] == ["web-0"]
    assert sum(map(len, (node for launch in plan.launches for node in launch.expected))) == 3
    assert (plan.expected.bought, plan.expected.placed, plan.expected.left) == (3, 0, ())
    assert plan.cost == sum(launch.price * len(launch.nodes) for launch in plan.launches)
    assert plan.expected.cost == plan.cost - solve(replace(here, expected=())).cost
    assert check(here, plan) == []


def test_they_fill_the_nodes_of_real_ones_first() -> None:
    plan = solve(world(pod("web-0", cpu="900m"), expected=[pod("web-expected-0", cpu="900m")]))
    (launch,) = plan.launches
    assert [tuple(key.name for key in part) for part in launch.contents[0]] == [("web-0",), ("web-expected-0",), ()]
    assert launch.requests == resources(cpu="1800m", memory="512Mi", pods=2)
    assert plan.expected.cost == 0


def test_they_are_never_nominated_nor_among_those_that_wait() -> None:
    plan = solve(world(expected=[pod("e"), pod("giant", cpu="500")], rooms=[room("n")]))
    assert (plan.nominations, plan.unschedulable, plan.launches) == ((), (), ())
    assert [(each.node, each.pods[0].name) for each in plan.expected.nominations] == [("n", "e")]
    assert [(each.pod.name, each.reason) for each in plan.expected.left] == [("giant", "NoInstanceType")]


def test_real_pods_have_the_room_that_is_there() -> None:
    here = world(pod("real", cpu="1500m"), expected=[pod("e", cpu="1500m")], rooms=[room("n", cpu=2)])
    plan = solve(here)
    assert [(each.node, each.pods[0].name) for each in plan.nominations] == [("n", "real")]
    assert plan.expected.bought == 1


def test_real_pods_have_the_limit() -> None:
    here = world(
        pod("real", cpu="1800m"), expected=pods(3, "e", cpu="900m"), pools=[options(remaining=resources(cpu=2))]
    )
    plan = solve(here)
    assert [key.name for launch in plan.launches for node in launch.nodes for key in node] == ["real"]
    assert [each.reason for each in plan.expected.left] == ["LimitReached"] * 3
    assert check(here, plan) == []


def test_what_is_left_of_a_limit_waits_for_the_real_pod_that_it_is_too_little_for() -> None:
    limited = [options(remaining=resources(cpu=2))]
    here = world(pod("real", cpu="3"), expected=[pod("e", cpu="500m")], headroom=[pod("h", cpu="500m")], pools=limited)
    plan = solve(here)
    assert [each.reason for each in plan.unschedulable] == ["LimitReached"]
    assert plan.launches == ()
    assert [each.reason for each in (*plan.expected.left, *plan.headroom.left)] == ["LimitReached"] * 2


def test_a_pool_without_limits_still_sells_to_them() -> None:
    here = world(pod("real", cpu="500"), expected=[pod("e", cpu="500m")])
    assert solve(here).expected.bought == 1


def test_headroom_comes_after_the_expected() -> None:
    limited = [options(remaining=resources(cpu=2))]
    here = world(expected=[pod("e", cpu="1800m")], headroom=[pod("h", cpu="1800m")], pools=limited)
    plan = solve(here)
    assert (plan.expected.bought, plan.headroom.bought, len(plan.headroom.left)) == (1, 0, 1)


def test_headroom_is_bought_only_where_there_is_no_room() -> None:
    here = world(pod("real", cpu="500m"), headroom=pods(2, "h", cpu="500m"))
    plan = solve(here)
    (launch,) = plan.launches
    assert (len(launch.nodes), launch.headroom[0] != (), plan.headroom.cost) == (1, True, 0)
    again = solve(world(headroom=pods(2, "h", cpu="500m"), rooms=[room("n")]))
    assert (again.launches, again.headroom.placed) == ((), 2)


def test_nodes_bought_for_headroom_alone_have_no_pods() -> None:
    plan = solve(world(headroom=pods(2, "h", cpu="1500m")))
    assert [node for launch in plan.launches for node in launch.nodes] == [()]
    assert plan.headroom.cost == plan.cost > 0


def test_rules_between_pods_hold_for_those_to_come() -> None:
    labels = {"app": "w"}
    rules = (spread(labels=labels),)
    real = pods(2, "web", labels=labels, spreads=rules, cpu="1500m")
    here = world(*real, expected=pods(4, "web-expected", labels=labels, spreads=rules, cpu="1500m"))
    plan = solve(here)
    zones: dict[str, int] = {}
    for launch in plan.launches:
        (zone,) = launch.zones
        zones[zone] = zones.get(zone, 0) + sum(len(each.pods + each.expected) for each in launch.contents)
    assert sorted(zones.values()) == [2, 2, 2]
    assert check(here, plan) == []


class TestNodesThatMayComeInOneZoneOrAnother:
    """Bought for a real pod without rules; what comes later has to hold wherever they come."""

    def test_they_may_be_an_empty_domain_of_a_spread(self) -> None:
        everywhere = spread(honors_affinity=False)
        first, second = pods(2, "w", cpu="1", labels=APP, spreads=(everywhere,), selector={ZONE_LABEL: "a"})
        here = world(pod("real"), expected=[first], headroom=[second])

        plan = solve(here)

        assert [each.pod for each in plan.headroom.left] == [second.key]
        assert check(here, plan) == []

    def test_their_pods_may_be_in_the_way_of_anti_affinity_over_zones(self) -> None:
        lonely = pod("lonely", cpu="1900m", anti_affinity=(term(labels=APP),))
        here = world(pod("real", cpu="1", labels=APP), expected=[lonely])

        plan = solve(here)

        assert [each.pod for each in plan.expected.left] == [lonely.key]
        assert check(here, plan) == []


class TestNodesInZonesThatSpreadsDontKnow:
    """nodeTaintsPolicy Ignore, the default, counts nodes that its pods can't go to."""

    web = pods(4, "web", labels=APP, spreads=(spread(),))
    unit = pod("gpu", cpu="1", selector={"karpenter.sh/nodepool": "gpu"}, tolerates=EXISTS)
    gpu = options(pool("gpu", (ZONE_LABEL, "In", "a"), taints=(taint("gpu"),), weight=1))
    pools = (options(pool("web", (ZONE_LABEL, "In", "b"))), gpu)

    @pytest.mark.parametrize("kind", ["expected", "headroom"])
    def test_none_is_bought_that_would_keep_a_pod_from_its_place(self, kind: str) -> None:
        here = world(*self.web, **{kind: [self.unit]}, pools=self.pools)
        plan = solve(here)
        assert {offering.zone for launch in plan.launches for offering in launch.offerings} == {"b"}
        assert check(here, plan) == []
        (left,) = plan.expected.left + plan.headroom.left
        assert (left.pod, left.reason) == (self.unit.key, "WaitsForOthers")
        assert "once they are bound" in left.message

    def test_nor_is_one_that_might_come_there(self) -> None:
        anywhere = options(pool("gpu", taints=(taint("gpu"),)))
        here = world(*self.web, headroom=[self.unit], pools=(self.pools[0], anywhere))
        plan = solve(here)
        assert check(here, plan) == []
        assert [each.reason for each in plan.headroom.left] == ["WaitsForOthers"]

    def test_nor_is_one_of_which_only_the_dearer_type_would_be_counted(self) -> None:
        kinds = [instance_type("x.m", spot=None), instance_type("y.m", on_demand=1.2, spot=None)]
        family = {"karpenter.k8s.aws/instance-family": "y"}
        web = pods(4, "web", labels=APP, spreads=(spread(),), selector=family)
        pools = [options(each.pool, kinds) for each in self.pools]
        here = world(*web, headroom=[self.unit], pools=pools)
        plan = solve(here)
        assert check(here, plan) == []
        assert [each.reason for each in plan.headroom.left] == ["WaitsForOthers"]

    def test_room_that_is_there_is_used_all_the_same(self) -> None:
        there = room("there", labels={ZONE_LABEL: "b", "karpenter.sh/nodepool": "gpu"}, cpu="1", taints=(taint("gpu"),))
        here = world(
            *self.web, headroom=[self.unit, replace(self.unit, key=PodKey("default", "other"))], pools=self.pools
        )
        here = replace(here, rooms=(there,))
        plan = solve(here)
        assert [each.node for each in plan.headroom.nominations] == ["there"]
        assert check(here, plan) == []

    def test_without_them_it_is_bought(self) -> None:
        plan = solve(world(headroom=[self.unit], pools=self.pools))
        assert [launch.pool for launch in plan.launches] == ["gpu"]


def test_a_plan_that_was_cut_has_no_room_for_them() -> None:
    here = world(*pods(3), expected=pods(3, "e"))
    plan = solve(here, expired=lambda: True)
    assert plan.truncated
    assert len(plan.expected) == 0


def test_without_them_nothing_is_different() -> None:
    waiting = pods(5)
    assert solve(world(*waiting)) == solve(snapshot(waiting))
    assert faults(snapshot(waiting), solve(world(*waiting))) == []


def test_what_is_proven_holds_of_plans_that_buy_for_all_at_once() -> None:
    kinds = [
        instance_type("x.s", cpu="2", spot=None, on_demand=1.0),
        instance_type("x.l", cpu="4", memory="8Gi", spot=None, on_demand=1.5),
    ]
    here = world(*pods(2, "web", cpu="1"), expected=pods(2, "expected", cpu="1"), pools=[options(types=kinds)])
    at_once = solve(replace(here, pods=(*here.pods, *here.expected), expected=()))
    plan = solve(here)
    assert plan.bound is not None
    assert plan.bound <= at_once.cost < plan.cost
