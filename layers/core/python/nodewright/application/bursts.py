"""A burst of pods is planned once: wait until it is over, within reason (architecture §2)."""

from collections.abc import Callable
from datetime import datetime, timedelta

from nodewright.application.hints import await_second
from nodewright.application.ports import Clock
from nodewright.domain.pods import Pod

#: A pod this young has brothers still to come.
YOUNG = timedelta(seconds=1)
#: A burst is waited for no longer than this, counted from its hint. (Not from its oldest pod: one that
#: waits for ever would end every later burst at once.)
LONGEST = timedelta(seconds=10)


def await_burst(pending: Callable[[], tuple[Pod, ...]], clock: Clock, sent: datetime | None) -> None:
    """Return when the youngest pending pod is a second old, or the burst has lasted ten, or none is left.

    `sent` is when the hint was; None for an urgent one, which doesn't wait.
    """
    if sent is None:
        return
    await_second(sent, clock)
    while (wait := _still_arriving(pending(), clock.now(), sent)) > timedelta():
        clock.sleep(wait)


def _still_arriving(pods: tuple[Pod, ...], now: datetime, sent: datetime) -> timedelta:
    """How long to wait before looking again; zero to go on.

    The API server stamps creation by its own clock: a pod from the future counts as new.
    """
    if not pods or now - sent >= LONGEST:
        return timedelta()
    youngest = max(pod.created for pod in pods)
    return max(timedelta(), min(youngest + YOUNG - now, YOUNG))
