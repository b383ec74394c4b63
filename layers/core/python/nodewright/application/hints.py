"""Hints: which moment one stands for, and how one is carried out so that a failure never blocks its cluster's group.

Hints of one second are one message (architecture §2), so a hint stands for its whole second: it is answered
by a snapshot that was taken after that second, and by none before.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from nodewright.application.errors import NotFoundError, OutsideError, RefusedError
from nodewright.application.ports import Clock, Duty, Hints, Ledger, Observer
from nodewright.domain.clusters import ConnectedCluster

#: Looking so long after the second is over sees what happened in it, though clocks differ a little.
AFTER_THE_SECOND = timedelta(milliseconds=50)


def carry_out(
    cluster: str,
    run: Callable[[], object],
    *,
    duty: Duty,
    hints: Hints,
    observer: Observer,
    clock: Clock,
    urgent: bool = False,
) -> None:
    """Run it. What may succeed later sends provision one new hint; the rest is told and left to the minute's sweep.

    Pods wait for provision, and its function may wake itself; a function that may not is stopped by Lambda's
    recursion guard after a few such hints.
    """
    try:
        run()
    except (NotFoundError, RefusedError) as error:
        observer.problem(cluster, duty, str(error))
    except OutsideError as error:
        observer.problem(cluster, duty, f"{error}; trying again")
        if duty != "provision":
            return
        now = clock.now()
        # Its own deduplication id: the hint being carried out may be of this very second.
        hints.send(cluster, duty, now, dedup=f"retry:{now.timestamp():.3f}", urgent=urgent)


def turned_away(ledger: Ledger, cluster: ConnectedCluster, duty: Duty, sent: datetime | None, now: datetime) -> str:
    """Why a duty isn't done now, as its report names it: paused | unreachable | stale-hint. Empty where it is."""
    if cluster.paused:
        return "paused"
    if cluster.unreachable(now):
        return "unreachable"
    return "stale-hint" if is_answered(ledger, cluster.name, duty, sent) else ""


def is_answered(ledger: Ledger, cluster: str, duty: Duty, sent: datetime | None) -> bool:
    """Whether the duty's last snapshot saw all this hint stands for; an urgent one (None) never is."""
    if sent is None:
        return False
    last = ledger.last_run(cluster, duty)
    return last is not None and _second_over(sent) <= last


def is_overtaken(ledger: Ledger, cluster: str, duty: Duty, sent: datetime) -> bool:
    """Whether a snapshot taken after an urgent hint was sent saw what it stands for.

    Urgent hints are never merged, as each may tell of something new; of a hundred in a row the first answers all.
    """
    last = ledger.last_run(cluster, duty)
    return last is not None and sent + AFTER_THE_SECOND <= last


def await_second(sent: datetime | None, clock: Clock) -> None:
    """Wait until the second of a hint is over; an urgent one doesn't wait."""
    if sent is None:
        return
    wait = _second_over(sent) + AFTER_THE_SECOND - clock.now()
    if wait > timedelta():
        clock.sleep(wait)


def _second_over(sent: datetime) -> datetime:
    return sent.replace(microsecond=0) + timedelta(seconds=1)
