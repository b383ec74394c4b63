"""Disrupt killed after each of its calls to the outside: what is left is finished or undone, nothing bought twice."""

from collections.abc import Callable
from contextlib import suppress

import pytest

from nodewright.domain.stale_taints import AT_WORK
from tests.application.disrupting import DAY, HOUR, MINUTE, Scene, small, web
from tests.application.killing import KilledError


def emptied() -> Scene:
    """Two nodes of three are empty."""
    scene = Scene(*web(3))
    scene.empty("web-0", "web-1")
    return scene


def expired() -> Scene:
    """One node of one is past its time."""
    scene = Scene(*web(), of=small(expire_after=DAY))
    scene.world.later(25 * HOUR)
    scene.world.reconcile()
    return scene


SCENES = {"emptied": emptied, "expired": expired}


def _calls(make: Callable[[], Scene]) -> list[str]:
    scene = make()
    scene.world.fuse.renew()
    scene.disrupt()
    return list(scene.world.fuse.made)


KILLS = [
    pytest.param(name, number, id=f"{name}-{number}-{call}")
    for name, make in SCENES.items()
    for number, call in enumerate(_calls(make), start=1)
]


def killed(name: str, calls: int) -> Scene:
    scene = SCENES[name]()
    scene.world.fuse.renew(calls)
    with suppress(KilledError):
        scene.disrupt()
    scene.world.fuse.renew()
    return scene


@pytest.mark.parametrize(("name", "calls"), KILLS)
def test_in_the_end_all_that_is_due_has_gone_and_everything_runs(name: str, calls: int) -> None:
    scene = killed(name, calls)
    scene.live(30 * MINUTE)
    scene.assert_whole(1)
    assert len(scene.bought) == {"emptied": 3, "expired": 2}[name]


@pytest.mark.parametrize(("name", "calls"), KILLS)
def test_without_another_run_no_mark_is_left_on_a_node_that_serves_on(name: str, calls: int) -> None:
    scene = killed(name, calls)
    scene.world.later(AT_WORK)
    scene.live(20 * MINUTE, disrupts=False)
    scene.assert_untouched()


@pytest.mark.parametrize(("name", "calls"), KILLS)
def test_a_run_right_after_it_uses_what_is_there(name: str, calls: int) -> None:
    scene = killed(name, calls)
    scene.disrupt()
    assert len(scene.bought) <= {"emptied": 3, "expired": 2}[name]
    scene.live(30 * MINUTE)
    scene.assert_whole(1)


def test_the_calls_of_a_run_are_all_there_are_to_be_killed_at() -> None:
    made = {name: set(_calls(make)) for name, make in SCENES.items()}
    for calls in made.values():
        assert {"InMemoryCluster.mark_node", "InMemoryCluster.pods_on", "InMemoryLedger.start_retirements"} <= calls
        assert "InMemoryRetireQueue.send" in calls
    assert {"InMemoryFleet.launch", "InMemoryLedger.reserve", "InMemoryLedger.settle_launch"} <= made["expired"]
