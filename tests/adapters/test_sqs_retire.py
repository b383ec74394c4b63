from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from botocore.stub import Stubber

from nodewright.adapters import aws_clients
from nodewright.adapters.sqs_retire import SqsRetireQueue
from nodewright.application.errors import NotFoundError, UnavailableError

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

URL = "https://q/retire"


@pytest.fixture
def client(aws: str) -> "SQSClient":
    return aws_clients.sqs(aws)


@pytest.mark.parametrize(
    ("delay", "seconds"),
    [
        (timedelta(seconds=-5), 0),
        (timedelta(), 0),
        (timedelta(milliseconds=1), 1),
        (timedelta(seconds=2), 2),
        (timedelta(seconds=2.2), 3),
        (timedelta(days=3), 900),
    ],
)
def test_a_turn_is_grouped_by_cluster_and_delayed_by_whole_seconds_rounded_up(
    client: "SQSClient", delay: timedelta, seconds: int
) -> None:
    expected = {
        "QueueUrl": URL,
        "MessageBody": '{"cluster": "prod", "claim": "c", "epoch": 4}',
        "MessageGroupId": "prod",
        "DelaySeconds": seconds,
    }
    with Stubber(client) as stub:
        stub.add_response("send_message", {"MessageId": "1"}, expected)
        SqsRetireQueue(client, URL).send("prod", "c", 4, delay)
        stub.assert_no_pending_responses()


def test_a_throttle_is_an_error_since_the_chain_hangs_on_the_message(client: "SQSClient") -> None:
    with Stubber(client) as stub:
        stub.add_client_error("send_message", "RequestThrottled", http_status_code=400)
        with pytest.raises(UnavailableError, match="claim c of cluster prod"):
            SqsRetireQueue(client, URL).send("prod", "c", 1, timedelta())


def test_a_queue_that_is_gone_is_said_so(client: "SQSClient") -> None:
    with Stubber(client) as stub:
        stub.add_client_error("send_message", "AWS.SimpleQueueService.NonExistentQueue")
        with pytest.raises(NotFoundError):
            SqsRetireQueue(client, URL).send("prod", "c", 1, timedelta())
