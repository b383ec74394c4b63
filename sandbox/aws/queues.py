"""SQS put right: what moto forgets, spins on or delivers by itself."""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Lock
from time import monotonic
from typing import Any

from moto.sqs.models import Message, Queue, SQSBackend, sqs_backends

from sandbox.aws.defaults import ACCOUNT
from sandbox.aws.patches import Patches

# "The deduplication interval": it counts from the send, whatever became of the message.
DEDUPLICATION = timedelta(minutes=5)
# How soon a long poll notices a message that becomes visible without being sent.
POLL_SECONDS = 0.02


class Queues:
    """Remembers deduplication ids by queue, and hands each message to one receiver."""

    def __init__(self, region: str, clock: Callable[[], datetime]) -> None:
        self._region = region
        self._clock = clock
        self._recent: dict[tuple[str, str, str], datetime] = {}
        self._receiving = Lock()

    def install(self, patches: Patches) -> None:
        """Take over sending into a queue and receiving from it."""

        def add_message(queue: Any, message: Message) -> None:
            if not (queue.fifo_queue and message.deduplication_id and self._repeats(queue, message)):
                # moto's own add_message would also invoke Lambdas mapped to the queue, one message at a time.
                with queue._messages_lock:  # noqa: SLF001
                    queue._messages.append(message)  # noqa: SLF001
                    queue._messages_lock.notify_all()  # noqa: SLF001

        def receive_message(
            backend: Any, queue_name: str, count: int, wait: int, visibility: int, attributes: list[str] | None = None
        ) -> list[Message]:
            deadline = monotonic() + int(wait or 0)
            while True:
                # moto's receive isn't atomic: two pollers could get the same message.
                with self._receiving:
                    received: list[Message] = receive(backend, queue_name, count, 0, visibility, attributes)
                if received or monotonic() >= deadline:
                    return received
                _wait_a_little(backend.get_queue(queue_name))

        patches.replace(Queue, "add_message", add_message)
        receive = patches.replace(SQSBackend, "receive_message", receive_message)

    def purge(self) -> None:
        """Empty every queue and forget every deduplication id."""
        self._recent.clear()
        for queue in sqs_backends[ACCOUNT][self._region].queues.values():
            queue._messages = []  # noqa: SLF001
            queue._pending_messages = set()  # noqa: SLF001

    def _repeats(self, queue: Any, message: Message) -> bool:
        """Whether the id was sent to the queue (or the group, where that is its scope) in the last five minutes."""
        scope = message.group_id if queue.deduplication_scope == "messageGroup" else ""
        key = (queue.queue_arn, scope or "", str(message.deduplication_id))
        now = self._clock()
        with self._receiving:
            sent = self._recent.get(key)
            if sent is not None and now - sent < DEDUPLICATION:
                return True
            self._recent[key] = now
            return False


def _wait_a_little(queue: Any) -> None:
    with queue._messages_lock:  # noqa: SLF001
        queue._messages_lock.wait(POLL_SECONDS)  # noqa: SLF001
