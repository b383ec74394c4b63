"""A cluster that doesn't answer is left alone for a while, so that it never delays another (architecture §2)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from nodewright.application.errors import UnreachableError
from nodewright.application.ports import Clock, Ledger

UNREACHABLE = timedelta(seconds=60)


@contextmanager
def reaching(cluster: str, ledger: Ledger, clock: Clock) -> Iterator[None]:
    """Around calls to its API server; UnreachableError goes on after the cluster was marked.

    A throttle or an expired list is an answer: the cluster is there, and the next hint may find it better.
    """
    try:
        yield
    except UnreachableError:
        ledger.mark_unreachable(cluster, clock.now() + UNREACHABLE)
        raise
