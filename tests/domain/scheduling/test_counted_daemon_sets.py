"""DaemonSets' pods that rules between pods count: on nodes that are there, and on those that are bought."""

from dataclasses import replace

from nodewright.domain.nodes import HOSTNAME_LABEL, ZONE_LABEL
from nodewright.domain.pods import DaemonSet, PodKey
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import Snapshot
from tests.builders import (
    daemon_set,
    instance_type,
    options,
    pod,
    pods,
    pool,
    requirements,
    room,
    snapshot,
    spread,
    taint,
    term,
)
from tests.oracle import check, placeable

APP = {"app": "w"}
AGENT = replace(daemon_set(), key=PodKey("default", "agent"), labels=APP)


def beside(agent: DaemonSet, world: Snapshot) -> Snapshot:
    return replace(world, daemon_sets=(agent,))


class TestSpreadOverHosts:
    """An agent on every node counts on every node: so it doesn't matter to the difference."""

    def test_each_new_node_has_the_agent_and_one_pod(self) -> None:
        world = beside(AGENT, snapshot(pods(3, labels=APP, spreads=(spread(HOSTNAME_LABEL),))))

        plan = solve(world)

        assert plan.unschedulable == ()
        assert [len(node) for launch in plan.launches for node in launch.nodes] == [1, 1, 1]
        assert check(world, plan) == []

    def test_as_has_each_that_is_there(self) -> None:
        there = [room(f"n-{number}", labels={HOSTNAME_LABEL: f"n-{number}"}) for number in range(2)]
        world = beside(AGENT, snapshot(pods(3, labels=APP, spreads=(spread(HOSTNAME_LABEL),)), rooms=there))

        plan = solve(world)

        assert plan.unschedulable == ()
        assert sorted(len(each.pods) for each in plan.nominations) == [1, 1]
        assert check(world, plan) == []

    def test_a_node_that_keeps_the_agent_off_has_less_and_so_nobody_more_may_come_to_others(self) -> None:
        bare = room("bare", labels={HOSTNAME_LABEL: "bare"}, taints=(taint("team"),))
        agent = replace(AGENT, tolerations=())
        world = beside(agent, snapshot(pods(2, labels=APP, spreads=(spread(HOSTNAME_LABEL),)), rooms=[bare]))

        plan = solve(world)

        assert len(plan.unschedulable) == 2
        assert placeable(world, plan) == []

    def test_so_does_one_that_may_be_bought(self) -> None:
        pools = [options(), options(pool("bare", taints=(taint("team"),)))]
        agent = replace(AGENT, tolerations=())
        world = beside(agent, snapshot(pods(2, labels=APP, spreads=(spread(HOSTNAME_LABEL),)), pools=pools))
        honoring = spread(HOSTNAME_LABEL, honors_taints=True)
        other = replace(world, pods=pods(2, labels=APP, spreads=(honoring,)))

        assert check(world, solve(world)) == []
        assert solve(other).unschedulable == ()
        assert check(other, solve(other)) == []


class TestNodesForOthers:
    """A pod keeps an agent out of its zone: no node on which the agent comes may be bought there, for whomever."""

    TYPES = (instance_type("x.s", spot=None), instance_type("x.m", cpu="3920m", memory="7Gi", on_demand=2.0, spot=None))
    ON_LARGE = replace(AGENT, alternatives=(requirements(("node.kubernetes.io/instance-type", "In", "x.m")),))
    WITHOUT_AGENT = pod("alone", cpu="1", selector={ZONE_LABEL: "a"}, anti_affinity=(term(ZONE_LABEL, APP),))

    def test_they_are_bought_in_other_zones(self) -> None:
        world = beside(
            self.ON_LARGE,
            snapshot([self.WITHOUT_AGENT, *pods(3, "large", cpu="3")], pools=[options(types=self.TYPES)]),
        )

        plan = solve(world)

        assert plan.unschedulable == ()
        assert check(world, plan) == []

    def test_where_there_is_none_the_others_wait(self) -> None:
        only_a = [replace(each, offerings=each.offerings[:1]) for each in self.TYPES]
        world = beside(
            self.ON_LARGE,
            snapshot([self.WITHOUT_AGENT, *pods(3, "large", cpu="3")], pools=[options(types=only_a)]),
        )

        plan = solve(world)

        assert {each.pod.name for each in plan.unschedulable} == {"large-0", "large-1", "large-2"}
        assert {each.reason for each in plan.unschedulable} == {"WaitsForOthers"}
        assert (
            "DaemonSet default/agent would come with it to topology.kubernetes.io/zone a"
            in plan.unschedulable[0].message
        )
        assert check(world, plan) == []

    def test_a_pod_that_is_there_keeps_the_agent_off_and_nobody_else(self) -> None:
        there = room("n", cpu="0", labels={ZONE_LABEL: "a"}, pods=(replace(self.WITHOUT_AGENT, node_name="n"),))
        only_a = [replace(each, offerings=each.offerings[:1]) for each in self.TYPES]
        world = beside(self.ON_LARGE, snapshot(pods(3, "large", cpu="3"), rooms=[there], pools=[options(types=only_a)]))

        assert solve(world).unschedulable == ()


def test_no_agent_is_expected_on_a_node_that_takes_no_pods() -> None:
    aside = room("aside", labels={HOSTNAME_LABEL: "aside", ZONE_LABEL: "a"})
    both = (spread(), spread(HOSTNAME_LABEL))
    world = replace(beside(AGENT, snapshot([pod(labels=APP, spreads=both)])), bystanders=(aside,))

    plan = solve(world)

    assert len(plan.unschedulable) == 1
    assert check(world, plan) == []
    assert placeable(world, plan) == []


def test_and_none_keeps_pods_out_of_its_zone() -> None:
    four = tuple(pod(f"there-{number}", labels=APP, node_name="aside") for number in range(4))
    aside = room("aside", labels={HOSTNAME_LABEL: "aside", ZONE_LABEL: "b"}, pods=four)
    sold = [options(types=[instance_type("x.m", zones="ab")])]
    waiting = pods(7, labels=APP, cpu="100m", spreads=(spread(),))
    world = replace(beside(AGENT, snapshot(waiting, pools=sold)), bystanders=(aside,))

    plan = solve(world)

    assert check(world, plan) == []
    assert placeable(world, plan) == []
