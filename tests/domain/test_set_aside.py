"""When a node was bought in vain, and what follows from it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.pods import Owner, Pod
from nodewright.domain.retirement import Reason
from nodewright.domain.retiring import begin
from nodewright.domain.scheduling import solve
from nodewright.domain.set_aside import (
    FAILURES,
    KEPT,
    PATIENCE,
    Idle,
    ShapeAside,
    bindings,
    counted,
    idle,
    pause,
    shape_key,
    standing,
    told,
)
from nodewright.domain.taints import Toleration
from tests.builders import NOW, claim, daemon_pod, pod, pods, requirements, resources, room, snapshot

MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
WEB = Owner("ReplicaSet", "web", "rs-1")
WAITING = pod("web-0", owner=WEB, unschedulable_message="0/1 nodes are available: 1 Insufficient memory.")


def stood(*bought_for: Pod, after: timedelta = MINUTE, of: str = "c", **changes: object) -> NodeClaim:
    """Ready since a minute after it was bought."""
    defaults: dict[str, object] = {
        "state": ClaimState.INITIALIZED,
        "node_name": f"node-{of}",
        "nominated_pods": tuple(each.key for each in bought_for or (WAITING,)),
        "initialized": NOW + after,
    }
    return claim(of, **{**defaults, **changes})


def found(
    *claims: NodeClaim, waiting: Sequence[Pod] = (WAITING,), there: Sequence[Pod] = (), minutes: float = 2
) -> list[str]:
    """Shapes whose nodes are idle so long after they were bought."""
    return [each.shape for each in idle(claims, waiting, (*waiting, *there), NOW + minutes * MINUTE)]


def retiring(reason: Reason) -> NodeClaim:
    started = begin(stood(), reason, NOW + 2 * MINUTE)
    assert started is not None
    return started


# ---- shapes


@pytest.mark.parametrize(
    "other",
    [
        pod("web-0", owner=replace(WEB, uid="rs-2")),
        pod("web-0", owner=None),
        pod("web-0", owner=WEB, cpu="501m"),
        pod("web-0", owner=WEB, requests=resources(gpu=1)),
        pod("web-0", owner=WEB, selector={"a": "b"}),
        pod("web-0", owner=WEB, terms=[requirements(("a", "In", "b")), requirements(("a", "In", "c"))]),
        pod("web-0", owner=WEB, tolerates=[Toleration("a", "Exists")]),
    ],
)
def test_what_decides_where_a_pod_goes_and_whose_it_is_make_its_shape(other: Pod) -> None:
    assert shape_key(other) != shape_key(WAITING)


def test_pods_of_one_owner_that_ask_the_same_are_one_shape() -> None:
    assert shape_key(pod("web-1", owner=WEB, labels={"x": "y"}, created=NOW + MINUTE)) == shape_key(WAITING)


def test_a_shape_has_the_same_key_in_every_process_and_release() -> None:
    one = pod(owner=WEB, selector={"a": "b"}, tolerates=[Toleration("t", "Exists")])
    assert shape_key(one) == "bf4a05c2e5a9ee83"


# ---- idle nodes


def test_a_node_whose_pod_stays_unbound_for_a_minute_is_idle() -> None:
    assert found(stood()) == [shape_key(WAITING)]


@pytest.mark.parametrize(
    ("why", "one"),
    [
        ("ready for less than a minute", stood(after=MINUTE + SECOND)),
        ("not ready yet", stood(state=ClaimState.REGISTERED, initialized=None)),
        ("ready, but nobody knows since when", stood(initialized=None)),
        ("bought for somebody else", stood(pod("other"))),
        ("taken by AWS", retiring("spot-interruption")),
        ("ended by its age", retiring("expired")),
    ],
)
def test_what_proves_nothing(why: str, one: NodeClaim) -> None:
    assert found(one) == [], why


def test_a_node_that_goes_as_it_stayed_empty_proves_it_all_the_more() -> None:
    assert found(retiring("empty")) == [shape_key(WAITING)]


def test_a_bound_pod_has_no_idle_node() -> None:
    assert found(stood(), waiting=(), there=[replace(WAITING, node_name="node-c")]) == []


def test_a_later_pod_of_the_same_name_proves_nothing() -> None:
    again = replace(WAITING, created=NOW + 2 * MINUTE + SECOND)
    assert found(stood(), waiting=[again], minutes=60) == []


def test_a_pod_made_anew_while_its_node_started_gets_its_minute() -> None:
    again = replace(WAITING, created=NOW + MINUTE + 30 * SECOND)
    assert found(stood(), waiting=[again], minutes=2) == []
    assert found(stood(), waiting=[again], minutes=2.5) == [shape_key(WAITING)]


def test_a_pod_whose_place_another_took_proves_nothing() -> None:
    thief = pod("thief", cpu="1500m", node_name="node-c", phase="Running")
    assert found(stood(), there=[thief]) == []
    assert found(stood(), there=[replace(thief, node_name="node-d")]) == [shape_key(WAITING)]


def test_daemon_pods_that_fill_the_node_are_no_excuse_they_come_with_the_next_too() -> None:
    assert found(stood(), there=[daemon_pod("agent", "node-c", "agent", cpu="1900m")]) == [shape_key(WAITING)]


def test_nodes_of_one_shape_are_told_together_and_shapes_apart() -> None:
    other = pod("other")
    nodes = [stood(of="a"), stood(of="b", created=NOW + SECOND), stood(other, WAITING, of="c")]
    answer = idle(nodes, [WAITING, other], [], NOW + 2 * MINUTE)
    assert {each.shape: each.bought for each in answer} == {
        shape_key(WAITING): (NOW, NOW, NOW + SECOND),
        shape_key(other): (NOW,),
    }
    assert {each.shape: each.pods for each in answer} == {shape_key(WAITING): (WAITING,), shape_key(other): (other,)}


# ---- counting


def fail(known: ShapeAside, at: datetime, nodes: int = 1) -> ShapeAside:
    return counted(known, Idle(known.shape, (WAITING,), (at - MINUTE,) * nodes), at)


def test_the_ladder() -> None:
    assert [pause(failures) // MINUTE for failures in range(1, 9)] == [0, 5, 10, 20, 40, 60, 60, 60]


def test_a_shape_is_set_aside_from_its_second_failure_on() -> None:
    once = fail(ShapeAside("s"), NOW)
    assert not once.is_aside(NOW)
    twice = fail(once, NOW + 10 * MINUTE)
    assert (twice.failures, twice.nodes, twice.until) == (FAILURES, 2, NOW + 15 * MINUTE)
    assert twice.is_aside(NOW + 15 * MINUTE - SECOND)
    assert not twice.is_aside(NOW + 15 * MINUTE)


def test_a_node_counts_once_however_often_it_is_looked_at() -> None:
    seen = Idle("s", (WAITING,), (NOW - MINUTE,))
    once = counted(ShapeAside("s"), seen, NOW)
    assert counted(once, seen, NOW + 5 * MINUTE) == once


def test_nodes_bought_at_once_are_one_failure() -> None:
    once = fail(ShapeAside("s"), NOW, nodes=5)
    assert (once.failures, once.nodes) == (1, 5)


def test_a_binding_since_begins_anew_and_clears_nodes_bought_before_it() -> None:
    twice = fail(fail(ShapeAside("s"), NOW), NOW + 10 * MINUTE)
    anew = standing(twice, NOW + 11 * MINUTE, NOW + 12 * MINUTE)
    assert (anew.failures, anew.nodes, anew.is_aside(NOW + 12 * MINUTE)) == (0, 0, False)
    assert counted(anew, Idle("s", (WAITING,), (NOW + 10 * MINUTE,)), NOW + 12 * MINUTE) == anew
    assert counted(anew, Idle("s", (WAITING,), (NOW + 12 * MINUTE,)), NOW + 13 * MINUTE).failures == 1


def test_a_binding_before_the_last_failure_changes_nothing() -> None:
    twice = fail(fail(ShapeAside("s"), NOW), NOW + 10 * MINUTE)
    assert standing(twice, NOW + 9 * MINUTE, NOW + 12 * MINUTE) == twice


def test_failures_are_forgotten_after_a_day() -> None:
    twice = fail(fail(ShapeAside("s"), NOW - 10 * MINUTE), NOW)
    assert standing(twice, None, NOW + KEPT - SECOND).failures == 2
    assert standing(twice, None, NOW + KEPT).failures == 0


def test_only_pods_that_run_since_are_bindings_and_only_of_the_shapes_asked_for() -> None:
    def running(name: str, started: datetime | None, of: Owner = WEB) -> Pod:
        return pod(name, owner=of, node_name="n", started=started)

    there = [
        running("web-1", NOW + MINUTE),
        running("web-2", NOW + 3 * MINUTE),
        running("web-3", NOW),
        running("web-4", None),
        running("else", NOW + MINUTE, replace(WEB, uid="rs-2")),
        pod("large", owner=WEB, cpu="2", node_name="n", started=NOW + MINUTE),
    ]
    assert bindings([WAITING], there, NOW) == {shape_key(WAITING): NOW + 3 * MINUTE}


# ---- what is told, and planned


def aside(of: Pod = WAITING) -> ShapeAside:
    return fail(fail(ShapeAside(shape_key(of)), NOW - 10 * MINUTE), NOW)


def test_a_pod_hears_since_when_until_when_how_many_nodes_and_why() -> None:
    assert told([aside()], [WAITING], [WAITING], NOW + MINUTE) == {
        WAITING.key: (
            f"2 nodes were bought in vain for pods like it, which were not bound within {PATIENCE.seconds} s of the"
            " node being ready; since 2026-01-01 12:00:00 UTC no more are bought, until 2026-01-01 12:05:00 UTC;"
            " kube-scheduler says: 0/1 nodes are available: 1 Insufficient memory."
        )
    }


def test_nobody_else_hears_it_and_nobody_once_it_is_over_or_one_was_bound() -> None:
    bound = pod("web-1", owner=WEB, node_name="n", started=NOW + MINUTE)
    assert told([aside()], [pod("other")], [], NOW + MINUTE) == {}
    assert told([aside()], [WAITING], [], NOW + 5 * MINUTE) == {}
    assert told([aside()], [WAITING], [bound], NOW + 2 * MINUTE) == {}


def test_nothing_is_bought_for_a_pod_that_is_set_aside_and_the_others_get_their_node() -> None:
    stuck, fine = pods(2)
    plan = solve(replace(snapshot([stuck, fine]), set_aside={stuck.key: "why"}))
    assert [launch.nodes for launch in plan.launches] == [((fine.key,),)]
    assert [(each.pod, each.reason, each.message) for each in plan.unschedulable] == [(stuck.key, "SetAside", "why")]


def test_a_pod_that_is_set_aside_may_go_where_there_is_room() -> None:
    stuck = pod()
    plan = solve(replace(snapshot([stuck], rooms=[room("n")]), set_aside={stuck.key: "why"}))
    assert [(each.node, each.pods) for each in plan.nominations] == [("n", (stuck.key,))]
    assert (plan.launches, plan.unschedulable) == ((), ())
