"""What wakes the use cases, and the time by which they wait."""

from datetime import datetime, timedelta
from typing import Literal, Protocol

Duty = Literal["provision", "reconcile", "disrupt"]


class Clock(Protocol):
    """Time, where a use case must wait within one run."""

    def now(self) -> datetime:
        """The moment, aware, UTC."""
        ...

    def sleep(self, duration: timedelta) -> None:
        """Wait."""
        ...


class Hints(Protocol):
    """The FIFO hint queues."""

    def send(self, cluster: str, duty: Duty, now: datetime, *, dedup: str = "", urgent: bool = False) -> None:
        """Wake `duty` for `cluster`; a throttle counts as sent (architecture §2).

        Coalesced per (cluster, duty, second), or per `dedup` where given. An urgent one waits for no burst.
        """
        ...
