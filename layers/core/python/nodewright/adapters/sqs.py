"""The Hints port on the FIFO hint queues."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from botocore.exceptions import ClientError

from nodewright.adapters.aws_errors import is_throttle, outside

if TYPE_CHECKING:
    from nodewright.application.ports import Duty

#: SQS's limit for a deduplication id.
DEDUPLICATION_ID_CHARACTERS = 128

#: Sent hints a container remembers: more clusters × duties than hint in one second.
REMEMBERED = 1024


class Queues(Protocol):
    """What is used of boto3's client."""

    @property
    def send_message(self) -> Callable[..., object]:
        """SQS's SendMessage."""
        ...


class SqsHints:
    """Sends a hint `{"cluster": …}`, or `{"cluster": …, "urgent": true}`, once per (cluster, duty, second) or `dedup`.

    The queue coalesces what several containers send; this container doesn't even ask twice.
    """

    def __init__(self, client: Queues, queue_urls: Mapping[Duty, str]) -> None:
        self._client = client
        self._queue_urls = queue_urls
        self._sent: OrderedDict[str, None] = OrderedDict()

    def send(self, cluster: str, duty: Duty, now: datetime, *, dedup: str = "", urgent: bool = False) -> None:
        """Wake `duty` for `cluster`. A throttle counts as sent: others get through at that moment."""
        once = f"{cluster}:{duty}:{dedup or int(now.timestamp())}"
        if once in self._sent:
            return
        with outside(f"hinting {duty} at cluster {cluster}"):
            try:
                self._client.send_message(
                    QueueUrl=self._queue_urls[duty],
                    MessageBody=json.dumps({"cluster": cluster, "urgent": True} if urgent else {"cluster": cluster}),
                    MessageGroupId=cluster,
                    MessageDeduplicationId=_fitting(once),
                )
            except ClientError as error:
                if not is_throttle(error):
                    raise
        self._remember(once)

    def _remember(self, once: str) -> None:
        self._sent[once] = None
        if len(self._sent) > REMEMBERED:
            self._sent.popitem(last=False)


def _fitting(once: str) -> str:
    """As it is, or its hash where SQS would find it too long."""
    if len(once) <= DEDUPLICATION_ID_CHARACTERS:
        return once
    return hashlib.sha256(once.encode()).hexdigest()
