"""A burst of pods is planned once: wait until it is over, within reason (architecture §2)."""

from collections.abc import Callable
from datetime import datetime, timedelta

from nodewright.application.ports import Clock
from nodewright.domain.pods import Pod

#: Hints of one second coalesce; looking after it is over sees all their pods.
AFTER_THE_SECOND = timedelta(milliseconds=50)
YOUNGEST = timedelta(seconds=1)
OLDEST = timedelta(seconds=10)


def await_burst(pending: Callable[[], tuple[Pod, ...]], clock: Clock, sent: datetime | None) -> None:
    """Return when the youngest pending pod is a second old, or the oldest ten, or none is left.

    `sent` is when the hint was; None for an urgent one, which doesn't wait.
    """
    if sent is None:
        return
    second_over = sent.replace(microsecond=0) + timedelta(seconds=1) + AFTER_THE_SECOND
    _sleep_until(second_over, clock)
    while (wait := _still_arriving(pending(), clock.now())) > timedelta():
        clock.sleep(wait)


def _still_arriving(pods: tuple[Pod, ...], now: datetime) -> timedelta:
    """How long to wait before looking again; zero to go on.

    The API server stamps creation in whole seconds of its own clock: a pod from the future counts as new.
    """
    if not pods:
        return timedelta()
    created = [p.created for p in pods]
    if now - min(created) >= OLDEST:
        return timedelta()
    return max(timedelta(), min(max(created) + YOUNGEST - now, YOUNGEST))


def _sleep_until(moment: datetime, clock: Clock) -> None:
    wait = moment - clock.now()
    if wait > timedelta():
        clock.sleep(wait)
