from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest

from nodewright.adapters.memory import VirtualClock
from nodewright.application.bursts import LONGEST, await_burst
from nodewright.domain.pods import Pod
from tests.application.world import NOW
from tests.builders import pod

SENT = NOW + timedelta(milliseconds=300)


class Arrivals:
    """Pods that appear at their time; counts how often somebody looks."""

    def __init__(self, seconds: Iterable[float], clock: VirtualClock) -> None:
        self.moments = [NOW + timedelta(seconds=each) for each in seconds]
        self.clock = clock
        self.looks = 0

    def __call__(self) -> tuple[Pod, ...]:
        self.looks += 1
        return tuple(pod(f"p-{n}", created=at) for n, at in enumerate(self.moments) if at <= self.clock.now())


def waited(arrivals: Iterable[float], sent: datetime | None = SENT) -> tuple[float, int]:
    """Seconds until the planner goes on, and how often it looked."""
    clock = VirtualClock(SENT)
    pods = Arrivals(arrivals, clock)
    await_burst(pods, clock, sent)
    return (clock.now() - SENT).total_seconds(), pods.looks


def test_it_waits_until_the_second_is_over() -> None:
    assert waited([-5]) == (0.75, 1)


def test_without_pods_it_goes_on() -> None:
    assert waited([]) == (0.75, 1)


def test_it_waits_until_the_youngest_pod_is_a_second_old() -> None:
    assert waited([0.25]) == (0.95, 2)


def test_pods_that_keep_coming_are_waited_for() -> None:
    seconds, _ = waited(number / 4 for number in range(17))  # the last after 4 s
    assert seconds == pytest.approx(4.7)


def test_a_burst_without_end_is_waited_for_ten_seconds() -> None:
    seconds, looks = waited(number / 10 for number in range(600))
    assert LONGEST.total_seconds() <= seconds <= LONGEST.total_seconds() + 1
    assert looks < 20


def test_a_pod_that_waits_for_ever_does_not_end_a_burst() -> None:
    alone, _ = waited([0.25, 0.9])
    with_an_old_one, _ = waited([-3600, 0.25, 0.9])
    assert with_an_old_one == alone == pytest.approx(1.6)


def test_a_clock_that_runs_ahead_does_not_hold_it_for_ever() -> None:
    clock = VirtualClock(SENT)
    await_burst(lambda: (pod(created=NOW + timedelta(hours=1)),), clock, SENT)
    assert clock.now() - SENT <= LONGEST + timedelta(seconds=1)


def test_a_hint_that_waited_long_is_planned_at_once() -> None:
    assert waited([0.25], sent=SENT - timedelta(seconds=30)) == (0, 1)


def test_an_urgent_hint_does_not_wait_nor_look() -> None:
    assert waited([0.25], sent=None) == (0, 0)
