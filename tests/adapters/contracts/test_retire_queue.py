"""The laws of the RetireQueue port: in memory and on moto's SQS."""

import json
from collections.abc import Callable
from datetime import timedelta

import boto3
import pytest

from nodewright.adapters import aws_clients
from nodewright.adapters.memory import InMemoryRetireQueue, VirtualClock
from nodewright.adapters.sqs_retire import RetireMessage, SqsRetireQueue
from nodewright.application.retirement_ports import RetireQueue
from tests.adapters.builders import NOW

Received = Callable[[], list[RetireMessage]]


@pytest.fixture(params=["memory", "sqs"])
def queue(request: pytest.FixtureRequest) -> tuple[RetireQueue, Received]:
    """The port, and what is visible at this moment."""
    if request.param == "memory":
        recorded = InMemoryRetireQueue(VirtualClock(NOW))
        return recorded, lambda: [RetireMessage(*turn[1:]) for turn in iter(recorded.take, None)]
    region = request.getfixturevalue("aws")
    url = boto3.client("sqs", region_name=region).create_queue(QueueName="retire")["QueueUrl"]
    client = aws_clients.sqs(region)

    def received() -> list[RetireMessage]:
        messages = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
        return [read for message in messages if (read := RetireMessage.read(message["Body"]))]

    return SqsRetireQueue(client, url), received


def test_a_message_says_whose_turn_it_is(queue: tuple[RetireQueue, Received]) -> None:
    port, received = queue
    port.send("prod", "l1-00", 3, timedelta())
    assert received() == [RetireMessage("prod", "l1-00", 3)]
    assert received() == []


def test_a_message_is_not_seen_before_its_delay_is_over(queue: tuple[RetireQueue, Received]) -> None:
    port, received = queue
    port.send("prod", "l1-00", 1, timedelta(minutes=15))
    port.send("prod", "l1-01", 1, timedelta(milliseconds=1))
    assert received() == []


def test_the_same_turn_may_be_sent_twice(queue: tuple[RetireQueue, Received]) -> None:
    port, received = queue
    for _ in range(2):
        port.send("prod", "l1-00", 1, timedelta())
    assert received() == [RetireMessage("prod", "l1-00", 1)] * 2


@pytest.mark.parametrize(
    "body",
    [
        "not json",
        "[]",
        "{}",
        '{"cluster": "prod", "claim": "c"}',
        '{"cluster": "", "claim": "c", "epoch": 1}',
        '{"cluster": "prod", "claim": 3, "epoch": 1}',
        '{"cluster": "prod", "claim": "c", "epoch": "1"}',
        '{"cluster": "prod", "claim": "c", "epoch": true}',
        '{"cluster": "prod", "claim": "c", "epoch": null}',
    ],
)
def test_what_is_no_turn_is_none(body: str) -> None:
    assert RetireMessage.read(body) is None


def test_fields_of_a_later_release_are_overlooked() -> None:
    later = json.dumps({"cluster": "prod", "claim": "c", "epoch": 1, "why": "later"})
    assert RetireMessage.read(later) == RetireMessage("prod", "c", 1)
