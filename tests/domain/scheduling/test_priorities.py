"""Who comes first where not all can come."""

from dataclasses import replace

from nodewright.domain.plans import Nomination, Plan, Unschedulable
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling import solve
from nodewright.domain.scheduling.priorities import higher_first
from nodewright.domain.snapshot import Snapshot
from tests import builders
from tests.builders import pod, pods, room, snapshot, term
from tests.domain.scheduling.checker import faults


def test_a_higher_priority_gets_the_last_node_that_limits_allow() -> None:
    small = pod("important", cpu="1", priority=100)
    large = pod("batch", cpu="1800m", priority=0)
    world = snapshot((large, small), pools=[builders.options(remaining=builders.resources(cpu=2))])

    plan = solve(world)

    assert [launch.nodes for launch in plan.launches] == [((small.key,),)]
    assert [(each.pod, each.reason) for each in plan.unschedulable] == [(large.key, "LimitReached")]
    assert faults(world, plan) == []


def test_a_higher_priority_gets_the_room_there_is() -> None:
    small = pod("important", cpu="1", priority=100)
    large = pod("batch", cpu="1800m", priority=0)

    plan = solve(snapshot((large, small), rooms=[room("n", cpu=2)], pools=()))

    assert [(each.node, each.pods) for each in plan.nominations] == [("n", (small.key,))]


def test_lower_priorities_fill_what_higher_ones_leave_on_new_nodes() -> None:
    high = pods(2, "high", cpu="1800m", priority=100)
    low = (*pods(1, "big", cpu="1900m", priority=0), *pods(2, "low", cpu="100m", priority=0))
    world = snapshot((*low, *high), pools=[builders.options(remaining=builders.resources(cpu=4))])

    plan = solve(world)

    placed = {key.name for launch in plan.launches for node in launch.nodes for key in node}
    assert placed == {"high-0", "high-1", "low-0", "low-1"}
    assert faults(world, plan) == []


def test_a_pod_set_aside_fills_no_new_node_of_higher_ones() -> None:
    high = pods(2, "high", cpu="1500m", priority=100)
    big, aside = pod("big", cpu="2400m", priority=0), pod("aside", cpu="100m", priority=0)
    limited = snapshot((big, aside, *high), pools=[builders.options(remaining=builders.resources(cpu=4))])
    world = replace(limited, set_aside={aside.key: "it failed"})

    plan = solve(world)

    assert {key.name for launch in plan.launches for node in launch.nodes for key in node} == {"high-0", "high-1"}
    assert {each.pod.name: each.reason for each in plan.unschedulable} == {"aside": "SetAside", "big": "LimitReached"}


def test_where_all_find_a_place_priorities_change_nothing() -> None:
    mixed = (*pods(3, "a", priority=5), *pods(3, "b", priority=1))
    level = (*pods(3, "a"), *pods(3, "b"))

    assert solve(snapshot(mixed)) == solve(snapshot(level))


def test_a_pod_that_nothing_could_help_pushes_nobody_out() -> None:
    giant = pod("giant", cpu="500", priority=100)

    plan = solve(snapshot((giant, *pods(2)), pools=[builders.options(remaining=builders.resources(cpu=2))]))

    assert [each.pod for each in plan.unschedulable] == [PodKey("default", "giant")]


def test_one_that_seeks_a_pod_of_lower_priority_comes_after_it() -> None:
    web = pod("web", cpu="100m", priority=100, affinity=(term(labels={"app": "db"}),))
    vip = pod("vip", cpu="1", priority=100)
    db = pod("db", cpu="100m", labels={"app": "db"})
    large = pod("batch", cpu="1800m")
    world = snapshot((web, vip, db, large), pools=[builders.options(remaining=builders.resources(cpu=2))])

    plan = solve(world)

    assert {each.pod for each in plan.unschedulable} == {large.key}
    assert faults(world, plan) == []


def test_of_pods_alike_the_more_important_have_the_places_whatever_it_is_that_is_missing() -> None:
    low, high = pod("a-low", priority=0), pod("z-high", priority=10)
    other = pod("other", cpu="2", priority=0)
    here = snapshot((low, high, other), rooms=[room("n")], pools=())
    left = Unschedulable(high.key, "TopologySpread", "no domain")
    plan = Plan(nominations=(Nomination("n", (other.key, low.key)),), unschedulable=(left,), truncated=True)

    found = higher_first(here, plan, solve, lambda kept: kept)

    assert found.nominations == (Nomination("n", (other.key, high.key)),)
    assert found.unschedulable == (replace(left, pod=low.key),)


def test_many_priorities_are_planned_many_at_once() -> None:
    several = tuple(pod(f"p-{number:02}", cpu="1800m", priority=number) for number in range(64))
    world = snapshot(several, pools=[builders.options(remaining=builders.resources(cpu=40))])
    asked: list[int] = []

    def planner(part: Snapshot) -> Plan:
        asked.append(len(part.pods))
        return solve(part)

    low = solve(replace(world, pods=several[:20]))
    left = tuple(Unschedulable(each.key, "LimitReached", "why") for each in several[20:])
    plan = higher_first(world, replace(low, unschedulable=left), planner, lambda each: each)

    assert [each.pod for each in plan.unschedulable] == [each.key for each in several[:44]]
    assert len(asked) < 16
    assert faults(world, plan) == []
