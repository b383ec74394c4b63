"""`nodewright.dev/max-pods-at-risk` holds on nodes that are there, are coming or are bought, whatever plans them."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodewright.domain.nodes import CAPACITY_TYPE_LABEL, HOSTNAME_LABEL
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Owner, Pod, PodKey
from nodewright.domain.pods_at_risk import MAX_PODS_AT_RISK
from nodewright.domain.scheduling import Budget, solve
from nodewright.domain.scheduling.constraint_costs import ConstraintCost, constraint_costs
from nodewright.domain.scheduling.explaining import explain_node, explain_pod
from nodewright.domain.scheduling.explanations import NewNodeExplanation, NodeExplanation, OnNode
from nodewright.domain.scheduling.plan_views import PlanView
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from tests.builders import USD, options, pods, pool, resources, room, snapshot, spread, term
from tests.oracle import check, placeable
from tests.worlds import worlds

WEB, API = Owner("ReplicaSet", "web", "1"), Owner("ReplicaSet", "api", "2")
ON_DEMAND = (CAPACITY_TYPE_LABEL, "In", "on-demand")


def capping(value: str, name: str = "default", **others: Any) -> PoolOptions:
    return options(pool(name, ON_DEMAND, settings={MAX_PODS_AT_RISK: value}, **others))


def web(count: int, **others: Any) -> tuple[Pod, ...]:
    return pods(count, "web", **{"owner": WEB, "labels": {"app": "w"}, "cpu": "100m", **others})


def contents(plan: Plan) -> list[int]:
    assert not plan.unschedulable
    return sorted((len(node) for launch in plan.launches for node in launch.nodes), reverse=True)


@pytest.mark.parametrize("budget", [Budget(), Budget(columns=0)])
def test_a_share_of_the_replicas_goes_on_one_node(budget: Budget) -> None:
    plan = solve(snapshot(web(8), pools=[capping("25%")]), budget)
    assert contents(plan) == [2, 2, 2, 2]
    assert plan.bound == plan.cost == 4 * USD
    assert all(set(launch.requests) == {"cpu", "memory", "pods"} for launch in plan.launches)


def test_so_does_a_number() -> None:
    assert contents(solve(snapshot(web(8), pools=[capping("3")]))) == [3, 3, 2]


def test_each_owner_counts_for_itself_and_pods_without_one_not_at_all() -> None:
    api = pods(4, "api", owner=API, cpu="100m")
    alone = pods(5, "alone", cpu="100m")
    assert contents(solve(snapshot((*web(4), *api, *alone), pools=[capping("50%")]))) in ([7, 6], [8, 5], [9, 4])


def test_pods_that_are_there_count_among_the_replicas_and_on_their_node() -> None:
    """Two of eight, one of which is there: one more may come, the others need nodes."""
    there = replace(web(1)[0], node_name="n", phase="Running")
    near = room("n", pool="default", pods=(replace(there, key=there.key._replace(name="web-there")),))
    plan = solve(snapshot(web(7), rooms=[near], pools=[capping("25%")]))
    assert [len(each.pods) for each in plan.nominations] == [1]
    assert contents(plan) == [2, 2, 2]


def test_a_node_that_has_too_many_already_gets_no_more() -> None:
    crowd = tuple(replace(each, key=each.key._replace(name=f"there-{n}")) for n, each in enumerate(web(5)))
    plan = solve(snapshot(web(1), rooms=[room("n", pool="default", pods=crowd)], pools=[capping("2")]))
    assert (plan.nominations, contents(plan)) == ((), [1])


def test_pods_nominated_to_a_node_that_is_coming_stay_there() -> None:
    coming = room("claim", pool="default", initialized=False, nominated=tuple(each.key for each in web(2)))
    plan = solve(snapshot(web(4), rooms=[coming], pools=[capping("50%")]))
    assert [each.pods for each in plan.nominations] == [tuple(each.key for each in web(2))]
    assert contents(plan) == [2]


def test_nodes_of_other_pools_and_of_none_take_any_number() -> None:
    free = options(pool("free", ON_DEMAND, weight=10))
    assert contents(solve(snapshot(web(8), pools=[capping("25%"), free]))) == [8]
    plan = solve(snapshot(web(8), rooms=[room("own")], pools=[capping("25%")]))
    assert [len(each.pods) for each in plan.nominations] == [8]


@pytest.mark.parametrize(
    "rules",
    [
        {"spreads": (spread(),)},
        {"spreads": (spread(HOSTNAME_LABEL, max_skew=4),)},
        {"affinity": (term(),)},
        {"anti_affinity": (term(labels={"app": "other"}),)},
    ],
)
def test_it_holds_beside_rules_between_pods(rules: dict[str, object]) -> None:
    world = snapshot(web(8, **rules), pools=[capping("25%")])
    plan = solve(world)
    assert not plan.unschedulable
    assert check(world, plan) == []


def test_many_owners_are_planned_too() -> None:
    owners = [Owner("ReplicaSet", f"w{number}", f"{number}") for number in range(40)]
    waiting = [each for owner in owners for each in pods(4, owner.name, owner=owner, cpu="100m")]
    world = snapshot(waiting, pools=[capping("50%")])
    plan = solve(world)
    assert not plan.unschedulable
    assert check(world, plan) == []


def test_a_pod_that_waits_only_because_of_it_is_told_so() -> None:
    """They must be where a web is, and no more may be there."""
    there = replace(web(1)[0], key=PodKey("default", "there"), node_name="n")
    near = room("n", pool="default", labels={HOSTNAME_LABEL: "n"}, pods=(there,))
    (left,) = solve(
        snapshot(web(2, affinity=(term(HOSTNAME_LABEL),)), rooms=[near], pools=[capping("2")])
    ).unschedulable
    assert left.message.endswith(
        "; nodewright.dev/max-pods-at-risk allows its owner's pods 2 on a node of pool default"
    )


def test_what_it_costs_can_be_asked() -> None:
    world = snapshot(web(8), pools=[capping("25%")])
    assert constraint_costs(world, solve(world)).costs == (
        ConstraintCost("NodePool/default", "max-pods-at-risk 25%", 0, 3 * USD, 0),
    )


def test_explanations_name_it() -> None:
    crowd = tuple(replace(each, key=each.key._replace(name=f"there-{n}")) for n, each in enumerate(web(2)))
    near: Room = room("n", pool="default", pods=crowd)
    world = snapshot(web(1), rooms=[near], pools=[capping("1")])
    view = PlanView(world, solve(world))
    told = explain_pod(view, web(1)[0].key)
    assert not isinstance(told.outcome, OnNode)
    assert told.requests == resources(cpu="100m", memory="256Mi")
    assert "max-pods-at-risk" in told.nodes.fallen[0].detail
    there, new = explain_node(view, "n"), explain_node(view, "new-1")
    assert isinstance(there, NodeExplanation)
    assert isinstance(new, NewNodeExplanation)
    assert set(there.free) | set(new.allocatable) | set(new.launch.requests) == {"cpu", "memory", "pods"}


@st.composite
def capped_worlds(draw: st.DrawFn) -> Snapshot:
    """Pods by app as replicas, and pools that cap them."""
    world = draw(worlds())

    def owned(each: Pod) -> Pod:
        app = each.labels.get("app", "")
        return replace(each, owner=Owner("ReplicaSet", app, app)) if app and not each.is_daemon else each

    def room_of(each: Room) -> Room:
        return replace(each, pods=tuple(map(owned, each.pods)))

    def pool_of(each: PoolOptions) -> PoolOptions:
        value = draw(st.sampled_from(["", "1", "2", "34%", "50%"]))
        return replace(each, pool=replace(each.pool, settings={MAX_PODS_AT_RISK: value} if value else {}))

    return replace(
        world,
        pods=tuple(map(owned, world.pods)),
        rooms=tuple(map(room_of, world.rooms)),
        bystanders=tuple(map(room_of, world.bystanders)),
        pools=tuple(map(pool_of, world.pools)),
    )


@pytest.mark.property
@settings(deadline=None, max_examples=60, derandomize=True, database=None)
@given(capped_worlds())
def test_the_judge_finds_no_fault(world: Snapshot) -> None:
    plan = solve(world)
    assert check(world, plan) == []
    assert placeable(world, plan) == []
