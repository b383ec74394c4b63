"""A cluster that doesn't answer is left alone for a while, so that it never delays another (architecture §2)."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from nodewright.application.errors import UnavailableError
from nodewright.application.ports import Clock, Ledger

UNREACHABLE = timedelta(seconds=60)


@contextmanager
def reaching(cluster: str, ledger: Ledger, clock: Clock) -> Iterator[None]:
    """Around calls to its API server; UnavailableError goes on after the cluster was marked."""
    try:
        yield
    except UnavailableError:
        ledger.mark_unreachable(cluster, clock.now() + UNREACHABLE)
        raise
