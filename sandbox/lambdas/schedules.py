"""EventBridge schedules: `rate(…)` and `cron(…)` against a clock that may run faster than the wall's.

https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html: times are UTC; a rate fires
first one interval after it is set up.
"""

import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from cronsim import CronSim, CronSimError

from sandbox.lambdas.specs import Rule

_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}


class BadScheduleError(ValueError):
    """A schedule expression that EventBridge would refuse, or that uses what is not known here."""


def fire_times(expression: str, start: datetime) -> Iterator[datetime]:
    """When a schedule fires after `start`, for ever."""
    rate = re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", expression)
    if rate and int(rate[1]) > 0:
        return _every(int(rate[1]) * _UNITS[rate[2]], start)
    cron = re.fullmatch(r"cron\((\S+) (\S+) (\S+) (\S+) (\S+) (\S+)\)", expression)
    if cron:
        return _cron(expression, list(cron.groups()), start)
    raise BadScheduleError(
        f"{expression}: expected rate(N minutes|hours|days) or cron(MIN HOUR DAY MONTH WEEKDAY YEAR)"
    )


class Schedules:
    """Fires the enabled scheduled rules; at `speed` 60 a minute of theirs passes in a second."""

    def __init__(self, rules: Sequence[Rule], speed: float, fire: Callable[[Rule, datetime], None]) -> None:
        began = datetime.fromtimestamp(time.time(), UTC)
        self._began, self._began_at = began, time.monotonic()
        self._speed = speed
        self._fire = fire
        self._due = [
            (next(times), times, rule)
            for rule in rules
            if rule.enabled and rule.schedule is not None
            for times in [fire_times(rule.schedule, began)]
        ]
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="schedules", daemon=True)

    def start(self) -> None:
        """Let time pass."""
        self._thread.start()

    def stop(self) -> None:
        """Fire no more."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while self._due:
            self._due.sort(key=lambda due: (due[0], due[2].logical_id))
            at, times, rule = self._due[0]
            if self._stopping.wait(self._seconds_until(at)):
                return
            self._fire(rule, at)
            self._due[0] = (next(times), times, rule)

    def _seconds_until(self, at: datetime) -> float:
        elapsed = time.monotonic() - self._began_at
        return max(0.0, (at - self._began).total_seconds() / self._speed - elapsed)


def _every(interval: timedelta, start: datetime) -> Iterator[datetime]:
    at = start
    while True:
        at += interval
        yield at


def _cron(expression: str, fields: list[str], start: datetime) -> Iterator[datetime]:
    minute, hour, day, month, weekday, year = fields
    if year != "*":
        raise BadScheduleError(f"{expression}: only * is understood as the year")
    if "?" not in (day, weekday):
        raise BadScheduleError(f"{expression}: either day-of-month or day-of-week must be ?")
    try:
        return CronSim(" ".join([minute, hour, _any(day), month, _weekdays(weekday)]), start)
    except CronSimError as error:
        raise BadScheduleError(f"{expression}: {error}") from error


def _any(field: str) -> str:
    return "*" if field == "?" else field


def _weekdays(field: str) -> str:
    """EventBridge counts the week from SUN=1, cron from SUN=0; the number after # is a week of the month."""
    return re.sub(r"(?<![#\d])[1-7]", lambda day: str(int(day[0]) - 1), _any(field))
