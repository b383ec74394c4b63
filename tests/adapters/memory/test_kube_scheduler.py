"""kube-scheduler in small."""

from collections import Counter
from datetime import timedelta
from random import Random

from nodewright.adapters.memory.kube_scheduler import KubeScheduler
from nodewright.domain.nodes import Node
from nodewright.domain.pods import Pod
from nodewright.domain.taints import Toleration
from tests.builders import NOW, node, pod, pods, requirements, taint


def scheduled(nodes: list[Node], *waiting: Pod, luck: int = 0) -> tuple[dict[str, str], list[str]]:
    done = KubeScheduler(Random(luck)).schedule(nodes, waiting)
    return {key.name: name for key, name in done.bound.items()}, [key.name for key in done.failed]


def test_pods_are_bound_while_they_fit() -> None:
    assert scheduled([node("n", cpu="2")], *pods(3, cpu="900m")) == ({"p-0": "n", "p-1": "n"}, ["p-2"])


def test_what_is_bound_there_counts() -> None:
    there = pod("there", cpu="1500m", node_name="n", phase="Running")
    assert scheduled([node("n", cpu="2")], there, pod("p", cpu="600m")) == ({}, ["p"])


def test_what_has_finished_does_not() -> None:
    there = pod("there", cpu="1500m", node_name="n", phase="Succeeded")
    assert scheduled([node("n", cpu="2")], there, pod("p", cpu="600m")) == ({"p": "n"}, [])


def test_the_emptiest_node_is_taken() -> None:
    there = pod("there", cpu="1", node_name="a", phase="Running")
    assert scheduled([node("a", cpu="2"), node("b", cpu="2")], there, pod("p")) == ({"p": "b"}, [])


def test_among_equals_luck_decides() -> None:
    nodes = [node("a"), node("b"), node("c")]
    taken = Counter(scheduled(nodes, pod("p"), luck=luck)[0]["p"] for luck in range(30))
    assert set(taken) == {"a", "b", "c"}


def test_a_nominated_node_comes_first() -> None:
    nodes = [node("a", cpu="8"), node("b", cpu="2")]
    assert scheduled(nodes, pod("p", nominated_node_name="b")) == ({"p": "b"}, [])
    assert scheduled(nodes, pod("p", cpu="4", nominated_node_name="b")) == ({"p": "a"}, [])


def test_taints_keep_off_who_does_not_bear_them() -> None:
    tainted = node("n", taints=(taint("team", "a"),))
    bearing = pod("p", tolerates=(Toleration("team", "Equal", "a"),))
    assert scheduled([tainted], pod("p")) == ({}, ["p"])
    assert scheduled([tainted], bearing) == ({"p": "n"}, [])


def test_a_soft_taint_keeps_nobody_off() -> None:
    assert scheduled([node("n", taints=(taint("team", "a", "PreferNoSchedule"),))], pod("p")) == ({"p": "n"}, [])


def test_selectors_and_any_term_of_affinity_must_match() -> None:
    labelled = node("n", labels={"zone": "a"})
    either = pod("p", terms=(requirements(("zone", "In", "b")), requirements(("zone", "In", "a"))))
    assert scheduled([labelled], either) == ({"p": "n"}, [])
    assert scheduled([labelled], pod("p", selector={"zone": "b"})) == ({}, ["p"])


def test_nodes_that_are_not_ready_or_cordoned_take_nobody() -> None:
    assert scheduled([node("a", ready=False), node("b", unschedulable=True)], pod("p")) == ({}, ["p"])


def test_priority_then_age_then_name_come_first() -> None:
    young, old = NOW + timedelta(seconds=1), NOW
    waiting = [
        pod("young", cpu="2", created=young),
        pod("old", cpu="2", created=old),
        pod("important", cpu="2", created=young, priority=10),
    ]
    assert scheduled([node("n", cpu="2")], *waiting) == ({"important": "n"}, ["old", "young"])


def test_others_pods_and_those_that_do_not_wait_are_left_alone() -> None:
    waiting = [
        pod("other", scheduler_name="mine"),
        pod("gated", gated=True),
        pod("leaving", terminating=True),
        pod("done", phase="Failed"),
    ]
    assert scheduled([node("n")], *waiting) == ({}, [])


def test_luck_is_a_matter_of_the_seed() -> None:
    nodes, waiting = [node(name) for name in "abcdef"], pods(6, cpu="100m")
    assert scheduled(nodes, *waiting, luck=3) == scheduled(nodes, *waiting, luck=3)
