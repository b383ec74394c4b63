"""The laws of the Hints port: in memory, and on SQS with boto3's client and as notify sends."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from nodewright.adapters import aws_clients, aws_json
from nodewright.adapters.memory import RecordedHints
from nodewright.adapters.sqs import SqsHints
from nodewright.application.ports import Duty, Hints
from sandbox.aws.server import SandboxAws
from tests.adapters.builders import NOW

Sent = Callable[[Duty], list[str]]


@pytest.fixture(params=["memory", "sqs", "notify"])
def queue(request: pytest.FixtureRequest) -> tuple[Hints, Sent]:
    """The port, and the clusters a duty was hinted at, in order."""
    if request.param == "memory":
        recorded = RecordedHints()
        return recorded, lambda duty: [hint.cluster for hint in recorded.sent if hint.duty == duty]
    sandbox: SandboxAws = request.getfixturevalue("sandbox")
    sqs = aws_clients.sqs(sandbox.region)
    duties: tuple[Duty, Duty] = ("provision", "reconcile")
    urls: dict[Duty, str] = {
        duty: sqs.create_queue(QueueName=f"{duty}.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
        for duty in duties
    }

    def sent(duty: Duty) -> list[str]:
        messages = sqs.receive_message(QueueUrl=urls[duty], MaxNumberOfMessages=10).get("Messages", [])
        return [json.loads(message["Body"])["cluster"] for message in messages]

    bare = aws_json.QueueService(aws_json.sqs(sandbox.region, sandbox.endpoint))
    return SqsHints(bare if request.param == "notify" else sqs, urls), sent


def test_hints_of_one_second_are_one(queue: tuple[Hints, Sent]) -> None:
    hints, sent = queue
    for tenth in range(8):
        hints.send("prod", "provision", NOW + timedelta(milliseconds=100 * tenth))
    assert sent("provision") == ["prod"]
    assert sent("reconcile") == []


def test_another_second_duty_or_cluster_is_another_hint(queue: tuple[Hints, Sent]) -> None:
    hints, sent = queue
    hints.send("prod", "provision", NOW)
    hints.send("prod", "provision", NOW + timedelta(seconds=1))
    hints.send("test", "provision", NOW)
    hints.send("prod", "reconcile", NOW)
    assert sorted(sent("provision")) == ["prod", "prod", "test"]
    assert sent("reconcile") == ["prod"]


def test_a_hint_of_its_own_id_is_sent_beside_the_seconds_hint_and_once(queue: tuple[Hints, Sent]) -> None:
    hints, sent = queue
    hints.send("prod", "provision", NOW)
    hints.send("prod", "provision", NOW, dedup="retry:1")
    hints.send("prod", "provision", NOW + timedelta(seconds=5), dedup="retry:1")
    assert sent("provision") == ["prod", "prod"]


def test_the_longest_cluster_name_with_a_long_id_is_still_sent(queue: tuple[Hints, Sent]) -> None:
    hints, sent = queue
    hints.send("c" * 100, "reconcile", NOW, dedup="d" * 64)
    assert sent("reconcile") == ["c" * 100]


def test_an_urgent_hint_is_sent_beside_the_seconds_hint(queue: tuple[Hints, Sent]) -> None:
    hints, sent = queue
    hints.send("prod", "provision", NOW)
    for event in ("e-1", "e-2", "e-1"):
        hints.send("prod", "provision", NOW, dedup=event, urgent=True)
    assert sent("provision") == ["prod", "prod", "prod"]
