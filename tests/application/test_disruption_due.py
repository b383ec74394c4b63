"""When reconcile asks for disrupt."""

from datetime import datetime, timedelta

import pytest

from nodewright.application.disruption_due import LONGEST, is_due
from nodewright.application.ports import ClusterState
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.pods import Pod
from tests.application.disrupting import DAY, HOUR, MINUTE, Scene, small, web
from tests.builders import NOW, claim, node, pod, pool

SECOND = timedelta(seconds=1)
APP = pod("app", node_name="n", phase="Running")


def due(last: datetime | None, *pods: Pod, after: timedelta | None = None, **changes: object) -> bool:
    """Of one node whose last pod event was an hour ago."""
    joined = {"state": ClaimState.INITIALIZED, "node_name": "n", "created": NOW - DAY, "last_pod_event": NOW - HOUR}
    claims: tuple[NodeClaim, ...] = (claim("c", **{**joined, **changes}),)
    state = ClusterState((node("n"),), pods, (pool(consolidate_after=after),), (), ())
    return is_due(state, claims, last, NOW)


def test_at_the_first_look_and_when_the_last_was_ten_minutes_ago() -> None:
    assert due(None, APP)
    assert due(NOW - LONGEST, APP)
    assert not due(NOW - LONGEST + SECOND, APP)


def test_when_a_pod_came_or_went_since_the_last_look() -> None:
    assert due(NOW - MINUTE, APP, last_pod_event=NOW)
    assert not due(NOW - MINUTE, APP, last_pod_event=NOW - MINUTE)


@pytest.mark.parametrize(("after", "asked"), [(HOUR, True), (HOUR + SECOND, False), (HOUR - MINUTE, False)])
def test_when_a_node_has_been_empty_for_long_enough_since_the_last_look(after: timedelta, asked: bool) -> None:
    assert due(NOW - MINUTE / 2, after=after) is asked


@pytest.mark.parametrize(("lives", "asked"), [(DAY, True), (DAY + SECOND, False), (HOUR, False), (None, False)])
def test_when_a_node_expired_since_the_last_look(lives: timedelta | None, asked: bool) -> None:
    assert due(NOW - MINUTE / 2, APP, expire_after=lives) is asked


@pytest.mark.parametrize(
    ("overdue", "pause"),
    [
        (2 * MINUTE, MINUTE),
        (8 * MINUTE, MINUTE),
        (16 * MINUTE, 2 * MINUTE),
        (80 * MINUTE, LONGEST),
        (23 * HOUR, LONGEST),
    ],
)
def test_each_minute_while_a_node_that_is_due_stays_and_then_less_and_less_often(
    overdue: timedelta, pause: timedelta
) -> None:
    lives = DAY - overdue
    assert due(NOW - pause, APP, expire_after=lives)
    assert not due(NOW - pause + SECOND, APP, expire_after=lives)


def test_what_is_due_later_is_not_asked_for_before() -> None:
    assert not due(NOW - 2 * MINUTE, APP, expire_after=2 * DAY)


def asked(scene: Scene) -> int:
    scene.world.hints.sent.clear()
    scene.world.reconcile()
    return scene.world.hinted("disrupt")


def test_a_cluster_without_nodes_of_ours_is_never_looked_at() -> None:
    scene = Scene()
    scene.world.later(HOUR)
    assert asked(scene) == 0


def test_an_idle_cluster_is_looked_at_every_ten_minutes() -> None:
    scene = Scene(*web())
    scene.disrupt()
    looks = 0
    for _ in range(60):
        scene.world.later(MINUTE)
        looks += asked(scene)
        if scene.world.hinted("disrupt"):
            scene.disrupt()
    assert looks == 6


def test_a_node_is_asked_for_once_it_is_empty_and_again_when_its_time_has_come() -> None:
    scene = Scene(*web(), of=small(consolidate_after=3 * MINUTE))
    scene.disrupt()
    scene.world.later(MINUTE)
    scene.empty()
    minutes = [0]
    for _ in range(3):
        scene.disrupt()
        scene.world.later(MINUTE)
        minutes.append(asked(scene))
    assert minutes == [0, 0, 0, 1]
