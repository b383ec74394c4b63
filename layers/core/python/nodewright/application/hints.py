"""Carrying out one hint so that a failure never blocks its cluster's group (architecture §2)."""

from collections.abc import Callable

from nodewright.application.errors import NotFoundError, OutsideError, RefusedError
from nodewright.application.ports import Clock, Duty, Hints, Observer


def carry_out(
    cluster: str,
    run: Callable[[], object],
    *,
    duty: Duty,
    hints: Hints,
    observer: Observer,
    clock: Clock,
) -> None:
    """Run it. What may succeed later sends one new hint; what can't is told and left to the minute's sweep."""
    try:
        run()
    except (NotFoundError, RefusedError) as error:
        observer.problem(cluster, duty, str(error))
    except OutsideError as error:
        observer.problem(cluster, duty, f"{error}; trying again")
        now = clock.now()
        # Its own deduplication id: the hint being carried out may be of this very second.
        hints.send(cluster, duty, now, dedup=f"retry:{now.timestamp():.3f}")
