import threading
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from sandbox.lambdas.schedules import BadScheduleError, Schedules, fire_times
from sandbox.lambdas.specs import Rule

# A Monday.
START = datetime(2026, 11, 30, 12, 30, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("rate(1 minute)", ["30T12:31:10", "30T12:32:10"]),
        ("rate(6 hours)", ["30T18:30:10", "01T00:30:10"]),
        ("rate(1 day)", ["01T12:30:10", "02T12:30:10"]),
        ("cron(0/15 * * * ? *)", ["30T12:45:00", "30T13:00:00"]),
        ("cron(5 3 * * ? *)", ["01T03:05:00", "02T03:05:00"]),
        ("cron(0 8 ? * 2 *)", ["07T08:00:00", "14T08:00:00"]),
        ("cron(0 8 ? * SAT,SUN *)", ["05T08:00:00", "06T08:00:00"]),
        ("cron(0 8 ? * 3#1 *)", ["01T08:00:00", "05T08:00:00"]),
        ("cron(0 0 1 1,3 ? *)", ["01T00:00:00", "01T00:00:00"]),
    ],
)
def test_a_schedule_fires_when_eventbridge_would(expression: str, wanted: list[str]) -> None:
    found = [at.strftime("%dT%H:%M:%S") for at in islice(fire_times(expression, START), 2)]
    assert found == wanted


@pytest.mark.parametrize(
    "expression",
    ["rate(0 minutes)", "rate(1 week)", "1 minute", "cron(0 8 * * * *)", "cron(61 * * * ? *)", "cron(0 8 * * ? 2027)"],
)
def test_a_schedule_that_is_not_understood_is_an_error_with_its_text(expression: str) -> None:
    with pytest.raises(BadScheduleError) as caught:
        fire_times(expression, START)
    assert expression in str(caught.value)


def test_time_is_compressed_and_keeps_the_order_of_schedules() -> None:
    fired: list[tuple[str, datetime]] = []
    enough = threading.Event()

    def fire(rule: Rule, at: datetime) -> None:
        fired.append((rule.logical_id, at))
        if len(fired) == 6:
            enough.set()

    rules = [
        _rule("Two", "rate(2 minutes)"),
        _rule("One", "rate(1 minute)"),
        _rule("Off", "rate(1 minute)", enabled=False),
    ]
    schedules = Schedules(rules, speed=3000, fire=fire)
    schedules.start()
    assert enough.wait(30)
    schedules.stop()
    assert [name for name, _ in fired[:6]] == ["One", "One", "Two", "One", "One", "Two"]
    ones = [at for name, at in fired if name == "One"]
    assert ones[1] - ones[0] == timedelta(minutes=1)


def _rule(name: str, schedule: str, *, enabled: bool = True) -> Rule:
    return Rule(logical_id=name, event_pattern=None, schedule=schedule, enabled=enabled, targets=())
