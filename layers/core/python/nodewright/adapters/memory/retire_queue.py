"""The retire queue in memory, with virtual time."""

from datetime import datetime, timedelta
from typing import NamedTuple

from nodewright.adapters.memory.clock import VirtualClock


class Turn(NamedTuple):
    """One message, visible from `due`."""

    due: datetime
    cluster: str
    claim_id: str
    epoch: int


class InMemoryRetireQueue:
    """Keeps messages until they are taken."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.waiting: list[Turn] = []

    def send(self, cluster: str, claim_id: str, epoch: int, delay: timedelta) -> None:
        """Visible after the delay, in whole seconds as SQS counts."""
        seconds = -(-delay // timedelta(seconds=1))
        self.waiting.append(Turn(self.clock.now() + timedelta(seconds=seconds), cluster, claim_id, epoch))

    def take(self) -> Turn | None:
        """The earliest that is visible; None where there is none."""
        due = sorted(turn for turn in self.waiting if turn.due <= self.clock.now())
        if not due:
            return None
        self.waiting.remove(due[0])
        return due[0]
