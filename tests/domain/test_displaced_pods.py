"""Pods of nodes that are leaving, and that those nodes are no room for anybody."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.pods import Owner, Pod
from nodewright.domain.retirement import Reason, Step
from nodewright.domain.retiring import begin
from nodewright.domain.rooms import displaced_pods, pending_pods, rooms
from tests.builders import NOW, claim, daemon_pod, node, pod, pods

SCHEDULERS = ("default-scheduler",)
WEB = Owner("ReplicaSet", "web", "u")
DB = Owner("StatefulSet", "db", "u")


def running(**changes: object) -> Pod:
    return replace(pod(), node_name="n", phase="Running", **changes)  # type: ignore[arg-type]


def leaving(reason: Reason = "spot-interruption", *, step: Step = Step.TAINT, **changes: object) -> NodeClaim:
    known = replace(claim(state=ClaimState.INITIALIZED, instance_id="i-n", node_name="n"), **changes)  # type: ignore[arg-type]
    found = begin(known, reason, NOW)
    assert found is not None
    assert found.retirement is not None
    return replace(found, retirement=replace(found.retirement, step=step))


def displaced(*those: Pod, claims: tuple[NodeClaim, ...] | None = None, now: datetime = NOW) -> tuple[Pod, ...]:
    return displaced_pods(those, SCHEDULERS, [node("n"), node("m")], (leaving(),) if claims is None else claims, now)


@pytest.mark.parametrize(
    ("there", "moves"),
    [
        (running(owner=WEB), True),
        (running(), True),
        (pod(node_name="n", phase="Pending"), True),
        (pod(node_name="m", phase="Running"), False),
        (pod(), False),
        (pod(node_name="n", phase="Succeeded"), False),
        (running(owner=Owner("Node", "n", "u")), False),
        (daemon_pod("agent-1", "n", "agent"), False),
        (running(owner=WEB, terminating=True), False),
        (running(owner=DB, terminating=True), True),
        (running(scheduler_name="other"), False),
    ],
)
def test_which_pods_are_displaced(there: Pod, moves: bool) -> None:
    assert bool(displaced(there)) is moves


def test_a_displaced_pod_is_planned_like_one_that_waits() -> None:
    (found,) = displaced(running(owner=WEB, nominated_node_name="n"))
    assert (found.node_name, found.nominated_node_name) == ("", "")


@pytest.mark.parametrize("step", list(Step))
def test_it_is_displaced_at_every_step_until_it_is_gone(step: Step) -> None:
    assert displaced(running(), claims=(leaving(step=step),)) != ()


def test_it_is_found_though_the_claim_does_not_know_its_node_yet() -> None:
    assert displaced(running(), claims=(leaving(node_name="", instance_id="i-n"),)) != ()


def test_a_node_that_is_to_leave_later_serves_on() -> None:
    begins = NOW + timedelta(days=13)
    later = begin(claim(state=ClaimState.INITIALIZED, node_name="n"), "scheduled-event", NOW, not_before=begins)
    assert later is not None
    for now, leaves in ((NOW, False), (begins - timedelta(seconds=1), False), (begins, True)):
        assert bool(displaced(running(), claims=(later,), now=now)) is leaves
        assert (rooms([node("n")], [later], [], [], now) == ()) is leaves


def test_displaced_pods_are_sorted_and_none_waits_twice() -> None:
    there = [replace(each, node_name="n", phase="Running") for each in reversed(pods(3))]
    waiting = pod("waits")
    assert [each.key.name for each in displaced(*there, waiting)] == ["p-0", "p-1", "p-2"]
    assert pending_pods([*there, waiting], SCHEDULERS, [leaving()], {"n"}) == (waiting,)


def test_a_leaving_node_is_no_room() -> None:
    assert [room.name for room in rooms([node("n"), node("m")], [leaving()], [], [], NOW)] == ["m"]


@pytest.mark.parametrize("state", [ClaimState.RESERVED, ClaimState.LAUNCHED, ClaimState.REGISTERED])
def test_a_node_that_leaves_before_it_came_is_no_room(state: ClaimState) -> None:
    assert rooms([], [leaving(state=state, node_name="")], [], [], NOW) == ()
