"""Event source mappings: queues are polled and their batches given to functions, as Lambda's pollers do.

The rules are those of https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html and …-errorhandling.html:
success deletes, failure leaves a message until its visibility timeout ends, a partial answer leaves what it names.
"""

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce

from botocore.exceptions import BotoCoreError, ClientError

from sandbox.lambdas.deployed import DeployedFunction, DeployedQueue, Deployment, client
from sandbox.lambdas.lineage import MAXIMUM_PASSES, Trace
from sandbox.lambdas.outcome import Json, Outcome
from sandbox.lambdas.pool import StoppedError
from sandbox.lambdas.specs import QueueSource
from sandbox.lambdas.sqs_event import failed_message_ids, sqs_event

# (function's logical id, event, trace of the batch) → what came of it.
Invoke = Callable[[str, Json, Trace | None], Outcome]

_log = logging.getLogger(__name__)

# A receive waits this long, so a stop takes no longer.
_WAIT_SECONDS = 1
_ERROR_PAUSE_SECONDS = 0.2
_SQS_MAXIMUM = 10


class Poller:
    """One mapping's poller; `passed_over` counts messages that the recursion guard stopped."""

    def __init__(
        self, source: QueueSource, deployment: Deployment, endpoint: str, concurrency: int, invoke: Invoke
    ) -> None:
        self.source = source
        self.passed_over = 0
        self._function: DeployedFunction = deployment.functions[source.function]
        self._queue: DeployedQueue = deployment.queues[source.queue]
        self._sqs = client("sqs", endpoint, deployment.region)
        self._invoke = invoke
        self._width = min(concurrency, source.maximum_concurrency or concurrency)
        self._workers = ThreadPoolExecutor(max_workers=self._width, thread_name_prefix=source.logical_id)
        self._changed = threading.Condition()
        self._in_flight = 0
        self._held = False
        self._stopping = False
        self._thread = threading.Thread(target=self._poll, name=f"poll-{source.logical_id}", daemon=True)

    def start(self) -> None:
        """Begin to poll."""
        self._thread.start()

    def hold(self) -> None:
        """Give nothing more to the function, and wait until what it has is done."""
        with self._changed:
            self._held = True
            self._changed.wait_for(lambda: self._stopping or self._in_flight == 0)

    def release(self) -> None:
        """Go on."""
        with self._changed:
            self._held = False
            self._changed.notify_all()

    def stop(self) -> None:
        """Receive no more; batches in flight end with their environments."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join()
        self._workers.shutdown(wait=True)
        self._sqs.close()

    def _poll(self) -> None:
        while self._wait_for_room():
            try:
                messages = self._receive()
            except (BotoCoreError, ClientError) as error:
                if not self._stopping:
                    _log.warning("%s: %s", self.source.logical_id, error)
                    time.sleep(_ERROR_PAUSE_SECONDS)
                continue
            if messages and self._takes_one():
                self._workers.submit(self._serve, messages)
            else:
                self._give_back(messages)

    def _wait_for_room(self) -> bool:
        """Messages are received only when a worker can take them: their visibility timeout runs from then on."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopping or (self._in_flight < self._width and not self._held))
            return not self._stopping

    def _takes_one(self) -> bool:
        with self._changed:
            self._in_flight += not self._held
            return not self._held

    def _give_back(self, messages: Sequence[Json]) -> None:
        """What came while the function was held: it is there for whoever looks next."""
        for message in messages:
            with contextlib.suppress(BotoCoreError, ClientError):  # the queue may have been emptied meanwhile
                self._sqs.change_message_visibility(
                    QueueUrl=self._queue.url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
                )

    def _receive(self) -> list[Json]:
        messages = self._receive_once(self.source.batch_size)
        until = time.monotonic() + self.source.window_seconds
        while messages and len(messages) < self.source.batch_size and time.monotonic() < until and not self._stopping:
            messages += self._receive_once(self.source.batch_size - len(messages))
        return messages

    def _receive_once(self, number: int) -> list[Json]:
        answer = self._sqs.receive_message(
            QueueUrl=self._queue.url,
            MaxNumberOfMessages=min(number, _SQS_MAXIMUM),
            WaitTimeSeconds=_WAIT_SECONDS,
            MessageSystemAttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        return list(answer.get("Messages", []))

    def _serve(self, messages: list[Json]) -> None:
        try:
            batch = [message for message in messages if self._may_pass(message)]
            if batch:
                event = sqs_event(batch, self._queue.arn)
                self._settle(batch, self._invoke(self.source.function, event, _trace(batch)))
        except (BotoCoreError, ClientError, StoppedError) as error:
            if not self._stopping:
                _log.warning("%s: a batch stays in the queue: %s", self.source.logical_id, error)
        except Exception:  # noqa: BLE001 - one bad batch must not end the poller
            if not self._stopping:
                _log.exception("%s: a batch stays in the queue", self.source.logical_id)
        finally:
            with self._changed:
                self._in_flight -= 1
                self._changed.notify_all()

    def _settle(self, batch: Sequence[Json], outcome: Outcome) -> None:
        if outcome.failed:
            return
        ids = [message["MessageId"] for message in batch]
        kept = failed_message_ids(outcome.payload, ids) if self.source.partial_batch else frozenset()
        for message in batch:
            if message["MessageId"] not in kept:
                self._delete(message)

    def _delete(self, message: Json) -> None:
        self._sqs.delete_message(QueueUrl=self._queue.url, ReceiptHandle=message["ReceiptHandle"])

    def _may_pass(self, message: Json) -> bool:
        """The recursion guard: what came through this function too often goes to the queue's DLQ, or nowhere."""
        function = self._function
        trace = _trace([message])
        if trace is None or function.spec.recursive_loop_allowed or trace.count(function.arn) < MAXIMUM_PASSES:
            return True
        _log.warning(
            "%s: recursive loop stopped after %d passes: %s", function.name, MAXIMUM_PASSES, message["MessageId"]
        )
        self._give_up(message)
        self.passed_over += 1
        return False

    def _give_up(self, message: Json) -> None:
        if self._queue.dead_letter_arn is not None:
            name = self._queue.dead_letter_arn.rsplit(":", 1)[-1]
            url = self._sqs.get_queue_url(QueueName=name)["QueueUrl"]
            group = {"MessageGroupId": message["Attributes"]["MessageGroupId"]} if name.endswith(".fifo") else {}
            self._sqs.send_message(QueueUrl=url, MessageBody=message["Body"], **group)
        self._delete(message)


def _trace(messages: Sequence[Json]) -> Trace | None:
    headers = [message.get("Attributes", {}).get("AWSTraceHeader") for message in messages]
    traces = [Trace.parse(header) for header in headers if header]
    return reduce(Trace.merged, traces) if traces else None
