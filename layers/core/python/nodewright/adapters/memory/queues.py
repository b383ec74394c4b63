"""SQS queues with a Lambda function behind each, in virtual time.

A message whose function fails or is killed comes again after its visibility timeout, whatever its kind.
"""

import json
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from nodewright.adapters.memory.timeline import Timeline
from nodewright.application.ports import Duty

#: A FIFO queue forgets a deduplication id after this.
DEDUPLICATION: Final = timedelta(minutes=5)
#: From sending to the function's start.
PROMPT: Final = timedelta(milliseconds=20)


@dataclass(frozen=True, slots=True)
class Message:
    """One message as its function sees it."""

    group: str
    body: str
    sent: datetime
    received: int = 0
    """How often, this time included."""


#: Runs the function; False where it failed or was killed, so that the message isn't deleted.
Deliver = Callable[[Message], bool]
#: How much later than promptly a message comes, once for each time it comes; nothing at all: it is lost.
Lateness = Callable[[Message], Iterable[timedelta]]


def promptly(_message: Message) -> tuple[timedelta, ...]:
    """Once, at once."""
    return (timedelta(),)


@dataclass
class FifoQueue:
    """In order and one at a time within a group; repeats of a deduplication id are swallowed for five minutes."""

    timeline: Timeline
    deliver: Deliver
    visibility: timedelta
    retention: timedelta = timedelta(minutes=5)
    lateness: Lateness = promptly
    _waiting: defaultdict[str, deque[Message]] = field(default_factory=lambda: defaultdict(deque))
    _busy: set[str] = field(default_factory=set)
    _seen: dict[tuple[str, str], datetime] = field(default_factory=dict)

    def send(self, group: str, deduplication_id: str, body: str) -> None:
        """SendMessage."""
        now = self.timeline.now()
        seen = self._seen.get((group, deduplication_id))
        if seen is not None and now - seen < DEDUPLICATION:
            return
        self._seen[group, deduplication_id] = now
        message = Message(group, body, now)
        for late in self.lateness(message):
            self.timeline.after(PROMPT + late, lambda: self._arrive(message))

    @property
    def is_empty(self) -> bool:
        """Nothing waits or is being worked on; what is late isn't seen."""
        return not self._busy and not any(self._waiting.values())

    def _arrive(self, message: Message) -> None:
        self._waiting[message.group].append(message)
        self._next(message.group)

    def _next(self, group: str) -> None:
        waiting = self._waiting[group]
        while waiting and self.timeline.now() - waiting[0].sent > self.retention:
            waiting.popleft()
        if not waiting or group in self._busy:
            return
        self._busy.add(group)
        waiting[0] = message = replace(waiting[0], received=waiting[0].received + 1)
        if self.deliver(message):
            waiting.popleft()
            self._free(group)
        else:
            self.timeline.after(self.visibility, lambda: self._free(group))

    def _free(self, group: str) -> None:
        self._busy.discard(group)
        # Not from here: a long queue would be a deep stack.
        self.timeline.after(timedelta(), lambda: self._next(group))


@dataclass
class StandardQueue:
    """At least once, in any order; what failed too often goes to the dead letters."""

    timeline: Timeline
    deliver: Deliver
    visibility: timedelta
    receives: int
    """maxReceiveCount of its redrive policy."""
    lateness: Lateness = promptly
    dead_letters: list[Message] = field(default_factory=list)
    under_way: int = 0
    """Messages neither deleted nor dead."""

    def send(self, group: str, body: str, delay: timedelta = timedelta()) -> None:
        """SendMessage with DelaySeconds."""
        message = Message(group, body, self.timeline.now())
        for late in self.lateness(message):
            self.under_way += 1
            self.timeline.after(delay + PROMPT + late, lambda: self._receive(message))

    def _receive(self, message: Message) -> None:
        if message.received == self.receives:
            self.dead_letters.append(message)
            self.under_way -= 1
            return
        received = replace(message, received=message.received + 1)
        if self.deliver(received):
            self.under_way -= 1
        else:
            self.timeline.after(self.visibility, lambda: self._receive(received))


class QueuedHints:
    """The Hints port on FIFO queues, as the adapter for SQS sends them."""

    def __init__(self, queues: Mapping[Duty, FifoQueue]) -> None:
        self.queues = queues

    def send(self, cluster: str, duty: Duty, now: datetime, *, dedup: str = "", urgent: bool = False) -> None:
        """One message per (cluster, duty, second), or per `dedup`."""
        body = json.dumps({"cluster": cluster, "urgent": True} if urgent else {"cluster": cluster})
        self.queues[duty].send(cluster, f"{cluster}:{duty}:{dedup or int(now.timestamp())}", body)


class QueuedTurns:
    """The RetireQueue port on a standard queue, as the adapter for SQS sends them."""

    def __init__(self, queue: StandardQueue) -> None:
        self.queue = queue

    def send(self, cluster: str, claim_id: str, epoch: int, delay: timedelta) -> None:
        """In whole seconds, rounded up."""
        body = json.dumps({"cluster": cluster, "claim": claim_id, "epoch": epoch})
        self.queue.send(cluster, body, timedelta(seconds=-(-delay // timedelta(seconds=1))))
