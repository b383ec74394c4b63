"""The RetireQueue port on SQS: a standard queue, with the cluster as message group, so that no cluster waits
for another's long drains.
"""

import json
import math
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from nodewright.adapters.aws_errors import outside

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

#: SQS's limit for a message's own delay.
LONGEST_DELAY_SECONDS = 900


class RetireMessage(NamedTuple):
    """Whose turn it is."""

    cluster: str
    claim_id: str
    epoch: int

    @classmethod
    def read(cls, body: str) -> "RetireMessage | None":
        """None for what is no such message."""
        try:
            raw = json.loads(body)
        except ValueError:
            return None
        if not isinstance(raw, dict):
            return None
        cluster, claim, epoch = (raw.get(key) for key in ("cluster", "claim", "epoch"))
        if not (isinstance(cluster, str) and cluster and isinstance(claim, str) and claim):
            return None
        return cls(cluster, claim, epoch) if isinstance(epoch, int) and not isinstance(epoch, bool) else None


class SqsRetireQueue:
    """Implements RetireQueue."""

    def __init__(self, client: "SQSClient", queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def send(self, cluster: str, claim_id: str, epoch: int, delay: timedelta) -> None:
        """Rounded up: one that comes before its turn is dropped. A throttle is an error: the chain hangs on it."""
        seconds = min(max(math.ceil(delay.total_seconds()), 0), LONGEST_DELAY_SECONDS)
        with outside(f"waking retire for claim {claim_id} of cluster {cluster}"):
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=json.dumps({"cluster": cluster, "claim": claim_id, "epoch": epoch}),
                MessageGroupId=cluster,
                DelaySeconds=seconds,
            )
