from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from botocore.stub import Stubber

from nodewright.adapters import aws_clients
from nodewright.adapters.sqs import REMEMBERED, SqsHints
from nodewright.application.errors import NotFoundError, UnavailableError
from nodewright.application.ports import Duty
from tests.adapters.builders import NOW

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

URLS: dict[Duty, str] = {"provision": "https://q/provision.fifo", "reconcile": "https://q/reconcile.fifo"}


@pytest.fixture
def client(aws: str) -> "SQSClient":
    return aws_clients.sqs(aws)


def test_a_hint_is_grouped_by_cluster_and_coalesced_by_second(client: "SQSClient") -> None:
    expected = {
        "QueueUrl": URLS["provision"],
        "MessageBody": '{"cluster": "prod"}',
        "MessageGroupId": "prod",
        "MessageDeduplicationId": f"prod:provision:{int(NOW.timestamp())}",
    }
    with Stubber(client) as stub:
        stub.add_response("send_message", {"MessageId": "1"}, expected)
        SqsHints(client, URLS).send("prod", "provision", NOW)
        stub.assert_no_pending_responses()


@pytest.mark.parametrize("code", ["RequestThrottled", "ThrottlingException"])
def test_a_throttle_counts_as_sent(client: "SQSClient", code: str) -> None:
    hints = SqsHints(client, URLS)
    with Stubber(client) as stub:
        stub.add_client_error("send_message", code, http_status_code=400)
        hints.send("prod", "provision", NOW)
        hints.send("prod", "provision", NOW)


def test_a_hint_that_failed_is_sent_by_the_next_call_of_its_second(client: "SQSClient") -> None:
    hints = SqsHints(client, URLS)
    with Stubber(client) as stub:
        stub.add_client_error("send_message", "InternalFailure", http_status_code=500)
        with pytest.raises(UnavailableError):
            hints.send("prod", "provision", NOW)
        stub.add_response("send_message", {"MessageId": "1"})
        hints.send("prod", "provision", NOW)
        stub.assert_no_pending_responses()


def test_a_queue_that_is_gone_is_said_so(client: "SQSClient") -> None:
    with Stubber(client) as stub:
        stub.add_client_error("send_message", "AWS.SimpleQueueService.NonExistentQueue")
        with pytest.raises(NotFoundError, match="hinting reconcile at cluster prod"):
            SqsHints(client, URLS).send("prod", "reconcile", NOW)


def test_an_id_longer_than_sqs_takes_is_shortened_and_stays_different(client: "SQSClient") -> None:
    seen: set[str] = set()
    client.meta.events.register(
        "provide-client-params.sqs.SendMessage", lambda params, **_: seen.add(params["MessageDeduplicationId"])
    )
    with Stubber(client) as stub:
        hints = SqsHints(client, URLS)
        for end in "ab":
            stub.add_response("send_message", {"MessageId": "1"})
            hints.send("c" * 100, "provision", NOW, dedup="d" * 60 + end)
    assert len(seen) == 2
    assert all(len(one) <= 128 for one in seen)


def test_a_container_remembers_only_lately_sent_hints(client: "SQSClient") -> None:
    hints = SqsHints(client, URLS)
    with Stubber(client) as stub:
        for second in range(REMEMBERED + 1):
            stub.add_response("send_message", {"MessageId": "1"})
            hints.send("prod", "provision", NOW + timedelta(seconds=second))
        hints.send("prod", "provision", NOW + timedelta(seconds=REMEMBERED))
        stub.add_response("send_message", {"MessageId": "1"})
        hints.send("prod", "provision", NOW)
        stub.assert_no_pending_responses()
