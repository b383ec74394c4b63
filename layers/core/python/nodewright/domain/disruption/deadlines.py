"""When disruption has something to do next, as far as that can be told from what there is now."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from nodewright.domain.disruption.method import Candidate, Method


def deadlines(candidates: Iterable[Candidate], methods: Iterable[Method]) -> Iterator[datetime]:
    """Every moment at which a method would propose a node."""
    known = tuple(methods)
    moments = (method.due(candidate) for candidate in candidates for method in known)
    yield from (moment for moment in moments if moment is not None)


def next_deadline(candidates: Iterable[Candidate], methods: Iterable[Method], after: datetime) -> datetime | None:
    """The first of them that comes later than this; None when nothing will be due by itself."""
    return min((moment for moment in deadlines(candidates, methods) if moment > after), default=None)
