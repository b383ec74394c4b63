"""Virtual time in which things happen."""

from datetime import timedelta

from nodewright.adapters.memory.timeline import Timeline
from tests.builders import NOW

SECOND = timedelta(seconds=1)


def test_who_sleeps_lets_happen_what_is_due_meanwhile() -> None:
    timeline, seen = Timeline(NOW), list[str]()
    timeline.after(2 * SECOND, lambda: seen.append(f"late {timeline.now() - NOW}"))
    timeline.after(SECOND, lambda: seen.append(f"soon {timeline.now() - NOW}"))
    timeline.after(3 * SECOND, lambda: seen.append("never"))
    timeline.sleep(2 * SECOND)
    assert seen == ["soon 0:00:01", "late 0:00:02"]
    assert timeline.now() == NOW + 2 * SECOND


def test_events_of_one_moment_happen_in_the_order_they_were_asked_for() -> None:
    timeline, seen = Timeline(NOW), list[int]()
    for number in range(5):
        timeline.after(SECOND, lambda number=number: seen.append(number))  # type: ignore[misc]
    timeline.sleep(SECOND)
    assert seen == [0, 1, 2, 3, 4]


def test_something_that_takes_long_while_another_waits_makes_it_late() -> None:
    timeline = Timeline(NOW)
    timeline.after(SECOND, lambda: timeline.sleep(10 * SECOND))
    timeline.sleep(2 * SECOND)
    assert timeline.now() == NOW + 11 * SECOND


def test_what_is_asked_for_in_the_past_happens_next() -> None:
    timeline, seen = Timeline(NOW), list[str]()
    timeline.at(NOW - SECOND, lambda: seen.append("done"))
    timeline.sleep(timedelta())
    assert seen == ["done"]
    assert timeline.now() == NOW


def test_time_never_runs_backwards() -> None:
    timeline = Timeline(NOW)
    timeline.sleep(-SECOND)
    timeline.run_until(NOW - SECOND)
    assert timeline.now() == NOW
