"""Hints that are only written down."""

from datetime import datetime
from typing import NamedTuple

from nodewright.application.ports import Duty


class Hint(NamedTuple):
    """One message that would have been sent."""

    cluster: str
    duty: Duty
    at: datetime
    urgent: bool = False


class RecordedHints:
    """Coalesces as the queue does: once per (cluster, duty, second), or per `dedup`."""

    def __init__(self) -> None:
        self.sent: list[Hint] = []
        self._seen: set[tuple[str, Duty, str]] = set()

    def send(self, cluster: str, duty: Duty, now: datetime, *, dedup: str = "", urgent: bool = False) -> None:
        """Write it down, unless the same was sent."""
        once = (cluster, duty, dedup or str(int(now.timestamp())))
        if once not in self._seen:
            self._seen.add(once)
            self.sent.append(Hint(cluster, duty, now, urgent))
