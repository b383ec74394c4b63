"""Where a limit binds plans place as many pods as it permits, the important ones first, then for least."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.limits import NODES, Limits
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.scheduling import AT_ONCE, Budget, solve
from nodewright.domain.scheduling.permitted import Experience, permitted
from nodewright.domain.snapshot import PoolOptions, Snapshot
from tests.builders import USD, instance_type, offering, options, pod, pods, pool, snapshot, spread, term
from tests.oracle import check


def _type(name: str, cpu: int, price: float) -> InstanceType:
    offerings = [offering("a", price=price), offering("b", price=price + 0.01)]
    return instance_type(name, cpu=cpu, memory=f"{2 * cpu}Gi", offerings=offerings)


TYPES = (_type("x.s", 2, 0.10), _type("x.m", 4, 0.18), _type("x.l", 8, 0.40))
LABELS = {"app": "w"}


def limited(of: str = "default", weight: int = 0, nodes: int | None = None, cpu: int | None = None) -> PoolOptions:
    limits = {name: amount for name, amount in ((NODES, nodes), ("cpu", cpu)) if amount is not None}
    return options(pool(of, weight=weight), TYPES, Limits(limits))


def planned(waiting: Iterable[Pod], *offered: PoolOptions, budget: Budget = Budget()) -> Plan:  # noqa: B008
    world = snapshot(waiting, pools=offered)
    plan = solve(world, budget)
    assert check(world, plan) == []
    return plan


def types(plan: Plan) -> list[str]:
    return sorted(launch.offerings[0].instance_type for launch in plan.launches for _ in launch.nodes)


@pytest.mark.parametrize("budget", [Budget(), AT_ONCE])
def test_one_node_is_as_large_as_all_pods_need(budget: Budget) -> None:
    plan = planned(pods(7, cpu="1", memory="1Gi"), limited(nodes=1), budget=budget)
    assert plan.unschedulable == ()
    assert types(plan) == ["x.l"]
    assert plan.cost == 0.40 * USD


def test_so_it_is_for_pods_under_rules() -> None:
    plan = planned(pods(7, cpu="1", memory="1Gi", labels=LABELS, spreads=(spread(),)), limited(nodes=1))
    assert plan.unschedulable == ()
    assert types(plan) == ["x.l"]


def test_nodes_opened_for_pods_under_rules_grow_for_others() -> None:
    apart = pods(2, "w", cpu="500m", memory="1Gi", labels=LABELS, anti_affinity=(term("kubernetes.io/hostname"),))
    plan = planned([*apart, *pods(10, cpu="1", memory="1Gi")], limited(nodes=2))
    assert plan.unschedulable == ()


def test_two_nodes_are_no_larger_than_they_need_be() -> None:
    plan = planned(pods(7, cpu="1", memory="1Gi"), limited(nodes=2))
    assert plan.unschedulable == ()
    assert types(plan) == ["x.m", "x.m"]


def test_small_pods_come_first_where_not_all_can_be_placed() -> None:
    plan = planned([*pods(2, "large", cpu="3"), *pods(4, "small", cpu="1")], limited(cpu=4_000))
    assert {each.pod.name for each in plan.unschedulable} == {"large-0", "large-1"}


def test_but_important_ones_before_them() -> None:
    plan = planned([pod("large", cpu="3", priority=1), *pods(4, "small", cpu="1")], limited(cpu=4_000))
    assert len(plan.unschedulable) == 3
    assert "large" not in {each.pod.name for each in plan.unschedulable}


def test_a_lighter_pool_is_for_whoever_need_not_have_the_limited_one() -> None:
    bound = pods(4, "bound", cpu="2", selector={"karpenter.sh/nodepool": "one"})
    either = pods(4, "either", cpu="1")
    plan = planned([*either, *bound], limited("one", weight=9, nodes=1), options(pool("two"), TYPES))
    assert plan.unschedulable == ()


def test_what_several_pools_leave_is_used_up() -> None:
    plan = planned(pods(12, cpu="1", memory="1Gi"), limited("one", nodes=1), limited("two", weight=5, cpu=4_000))
    assert plan.unschedulable == ()


def test_nothing_is_planned_again_where_no_limit_binds() -> None:
    waiting = pods(7, cpu="1", memory="1Gi")
    assert planned(waiting, limited(cpu=100_000)) == planned(waiting, options(pool(), TYPES))


def test_a_limit_that_changes_nothing_is_not_searched_for() -> None:
    """It keeps the largest type out once the plan is made: asked is only what would be without it."""
    asked: list[Snapshot] = []

    def planner(world: Snapshot, budget: Budget) -> Plan:
        asked.append(world)
        return replace(solve(world, budget), bound=0)

    world = snapshot(pods(3, cpu="1", memory="1Gi"), pools=[limited(cpu=9_000)])
    plan = permitted(world, AT_ONCE, planner, Experience())

    assert plan.unschedulable == ()
    assert len(asked) == 2
    assert [each.remaining for each in asked[1].pools] == [None]
