"""What SQS promises and the system rests on, checked against the sandbox's queues."""

import json
import threading
from typing import Any

import pytest

from sandbox.aws.server import SandboxAws
from tests.sandbox.aws.clock import Clock


class Queue:
    def __init__(self, aws: SandboxAws, name: str, **attributes: str) -> None:
        self.sqs = aws.client("sqs")
        self.url = self.sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]

    def send(self, body: str, **more: Any) -> None:
        self.sqs.send_message(QueueUrl=self.url, MessageBody=body, **more)

    def receive(self, number: int = 10, wait: int = 0, **more: Any) -> list[dict[str, Any]]:
        answer = self.sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=number, WaitTimeSeconds=wait, **more)
        return list(answer.get("Messages", []))

    def bodies(self, number: int = 10, wait: int = 0) -> list[str]:
        return [message["Body"] for message in self.receive(number, wait)]

    def delete(self, message: dict[str, Any]) -> None:
        self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])

    def arn(self) -> str:
        answer = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])
        return str(answer["Attributes"]["QueueArn"])


@pytest.fixture
def fifo(aws: SandboxAws) -> Queue:
    return Queue(
        aws,
        "hints.fifo",
        FifoQueue="true",
        DeduplicationScope="messageGroup",
        FifoThroughputLimit="perMessageGroupId",
        VisibilityTimeout="30",
    )


def hint(queue: Queue, cluster: str, body: str, deduplication: str = "") -> None:
    queue.send(body, MessageGroupId=cluster, MessageDeduplicationId=deduplication or body)


def test_a_deduplication_id_counts_for_five_minutes_even_after_deletion(fifo: Queue, clock: Clock) -> None:
    hint(fifo, "c1", "first", "c1:provision:1")
    fifo.delete(fifo.receive()[0])
    hint(fifo, "c1", "second", "c1:provision:1")
    assert fifo.bodies() == []
    clock.advance(minutes=5, seconds=1)
    hint(fifo, "c1", "third", "c1:provision:1")
    assert fifo.bodies() == ["third"]


def test_deduplication_is_by_group_where_the_queue_says_so(fifo: Queue) -> None:
    hint(fifo, "c1", "one", "same")
    hint(fifo, "c2", "two", "same")
    assert sorted(fifo.bodies()) == ["one", "two"]


def test_deduplication_is_by_queue_otherwise(aws: SandboxAws) -> None:
    queue = Queue(aws, "plain.fifo", FifoQueue="true")
    hint(queue, "c1", "one", "same")
    hint(queue, "c2", "two", "same")
    assert queue.bodies() == ["one"]


def test_equal_bodies_are_duplicates_where_the_content_decides(aws: SandboxAws) -> None:
    queue = Queue(aws, "content.fifo", FifoQueue="true", ContentBasedDeduplication="true")
    for body in ("same", "same", "other"):
        queue.send(body, MessageGroupId="c1")
    assert queue.bodies() == ["same", "other"]


def test_a_group_is_locked_while_one_of_its_messages_is_in_flight(fifo: Queue) -> None:
    hint(fifo, "c1", "a1")
    hint(fifo, "c1", "a2")
    hint(fifo, "c2", "b1")
    first = fifo.receive(1)[0]
    assert fifo.bodies() == ["b1"]
    fifo.delete(first)
    assert fifo.bodies() == ["a2"]


def test_a_group_keeps_its_order_when_a_message_comes_back(fifo: Queue) -> None:
    for body in ("1", "2", "3"):
        hint(fifo, "c1", body)
    taken = fifo.receive(1)[0]
    fifo.sqs.change_message_visibility(QueueUrl=fifo.url, ReceiptHandle=taken["ReceiptHandle"], VisibilityTimeout=0)
    assert fifo.bodies(wait=1) == ["1", "2", "3"]


def test_a_waiting_receiver_gets_the_next_of_a_group_when_it_becomes_free(fifo: Queue) -> None:
    hint(fifo, "c1", "1")
    hint(fifo, "c1", "2")
    first = fifo.receive(1)[0]
    threading.Timer(0.2, fifo.delete, [first]).start()
    assert fifo.bodies(wait=10) == ["2"]


def test_the_group_and_the_receive_count_come_with_the_message(fifo: Queue) -> None:
    hint(fifo, "c1", "1")
    attributes = fifo.receive(MessageSystemAttributeNames=["All"])[0]["Attributes"]
    assert attributes["MessageGroupId"] == "c1"
    assert attributes["ApproximateReceiveCount"] == "1"


def test_a_message_is_invisible_until_its_timeout_ends(aws: SandboxAws) -> None:
    long, short = Queue(aws, "long", VisibilityTimeout="600"), Queue(aws, "short", VisibilityTimeout="1")
    for queue in (long, short):
        queue.send("again")
        assert queue.bodies() == ["again"]
    assert long.bodies() == []
    assert short.bodies(wait=20) == ["again"]


def test_a_delayed_message_comes_late(aws: SandboxAws) -> None:
    queue = Queue(aws, "standard")
    queue.send("later", DelaySeconds=600)
    queue.send("late", DelaySeconds=1)
    assert queue.bodies(wait=20) == ["late"]


def test_no_message_goes_to_two_receivers(aws: SandboxAws) -> None:
    queue = Queue(aws, "standard")
    for number in range(40):
        queue.send(str(number))
    received: list[str] = []
    threads = [threading.Thread(target=lambda: _drain(queue, received)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(received, key=int) == [str(number) for number in range(40)]


def _drain(queue: Queue, into: list[str]) -> None:
    while bodies := queue.bodies(number=1):
        into += bodies


def test_a_message_received_too_often_goes_to_the_dead_letter_queue(aws: SandboxAws) -> None:
    dead = Queue(aws, "dead")
    policy = json.dumps({"deadLetterTargetArn": dead.arn(), "maxReceiveCount": 2})
    queue = Queue(aws, "work", VisibilityTimeout="0", RedrivePolicy=policy)
    queue.send("poison")
    assert queue.bodies(wait=5) == ["poison"]
    assert queue.bodies(wait=5) == ["poison"]
    assert queue.bodies(wait=1) == []
    assert dead.bodies() == ["poison"]


def test_a_batch_fails_in_part(aws: SandboxAws) -> None:
    queue = Queue(aws, "standard")
    entries: list[dict[str, Any]] = [
        {"Id": "good", "MessageBody": "x"},
        {"Id": "bad", "MessageBody": "y", "DelaySeconds": 901},
    ]
    sent = queue.sqs.send_message_batch(QueueUrl=queue.url, Entries=entries)
    assert [one["Id"] for one in sent["Successful"]] == ["good"]
    assert [(one["Id"], one["SenderFault"]) for one in sent["Failed"]] == [("bad", True)]
    message = queue.receive()[0]
    handles = [{"Id": "0", "ReceiptHandle": message["ReceiptHandle"]}, {"Id": "1", "ReceiptHandle": "nonsense"}]
    deleted = queue.sqs.delete_message_batch(QueueUrl=queue.url, Entries=handles)
    assert [one["Id"] for one in deleted["Successful"]] == ["0"]
    assert [one["Id"] for one in deleted["Failed"]] == ["1"]
