import base64
import json
from collections.abc import Iterable

import pytest

from sandbox.lambdas.outcome import Json
from sandbox.lambdas.sqs_event import failed_message_ids
from tests.sandbox.lambdas.conftest import Running, eventually
from tests.sandbox.lambdas.stack import arn_of, function, mapping, queue, rule

PRINT = """
import json
def handler(event, context):
    print(json.dumps({"event": event}))
"""
# Says what it was given, works a moment, and fails what asks for it.
WORK = """
import json, time
def handler(event, context):
    bodies = [record["body"] for record in event["Records"]]
    print(json.dumps({"began": bodies, "at": time.time()}))
    time.sleep(0.05)
    print(json.dumps({"ended": bodies, "at": time.time()}))
    if "fail" in bodies:
        raise ValueError("asked to")
"""
PARTIAL = """
import json
def handler(event, context):
    print(json.dumps({"bodies": [record["body"] for record in event["Records"]]}))
    bad = [record["messageId"] for record in event["Records"] if record["body"] == "bad"]
    return {"batchItemFailures": [{"itemIdentifier": bad_one} for bad_one in bad]}
"""
LOOP = """
import json, os, boto3
sqs = boto3.client("sqs")
def handler(event, context):
    print(json.dumps({"pass": 1}))
    for record in event["Records"]:
        sqs.send_message(QueueUrl=os.environ["QUEUE_URL"], MessageBody=record["body"])
"""
LOOP_BATCH = LOOP.replace(
    'sqs.send_message(QueueUrl=os.environ["QUEUE_URL"], MessageBody=record["body"])',
    'sqs.send_message_batch(QueueUrl=os.environ["QUEUE_URL"], Entries=[{"Id": "1", "MessageBody": record["body"]}])',
)
BATCH = {"FunctionResponseTypes": ["ReportBatchItemFailures"]}
FIFO = {"FifoQueue": True, "ContentBasedDeduplication": True}


def test_a_message_arrives_as_lambda_shapes_it(running: Running, sqs: Json) -> None:
    lambdas = running({"Queue": queue(), "Print": function(PRINT), "Map": mapping("Print", "Queue", BatchSize=1)})
    deployed = lambdas.deployment.queues["Queue"]
    attributes = {
        "kind": {"DataType": "String", "StringValue": "hint"},
        "raw": {"DataType": "Binary", "BinaryValue": b"\x00\x01"},
    }
    sent = sqs.send_message(QueueUrl=deployed.url, MessageBody="look", MessageAttributes=attributes)
    assert eventually(lambda: len(lambdas.log_records("Print")) == 1)
    (record,) = lambdas.log_records("Print")[0]["event"]["Records"]
    assert record["messageId"] == sent["MessageId"]
    assert record["body"] == "look"
    assert record["eventSource"] == "aws:sqs"
    assert record["eventSourceARN"] == deployed.arn
    assert record["awsRegion"] == "eu-west-1"
    assert record["attributes"]["ApproximateReceiveCount"] == "1"
    assert int(record["attributes"]["SentTimestamp"]) > 0
    assert record["messageAttributes"]["kind"]["stringValue"] == "hint"
    assert base64.b64decode(record["messageAttributes"]["raw"]["binaryValue"]) == b"\x00\x01"


def test_success_empties_the_queue(running: Running, sqs: Json) -> None:
    lambdas = running({"Queue": queue(), "Print": function(PRINT), "Map": mapping("Print", "Queue")})
    url = lambdas.deployment.queues["Queue"].url
    for number in range(12):
        sqs.send_message(QueueUrl=url, MessageBody=str(number))
    assert eventually(lambda: _left(sqs, url) == 0)
    records = [record["event"]["Records"] for record in lambdas.log_records("Print")]
    assert sorted(int(each["body"]) for batch in records for each in batch) == list(range(12))


def test_no_batch_is_larger_than_the_template_says(running: Running, sqs: Json) -> None:
    resources = {
        "Queue": queue(DelaySeconds=1),
        "Print": function(PRINT),
        "Map": mapping("Print", "Queue", BatchSize=3),
    }
    lambdas = running(resources)
    url = lambdas.deployment.queues["Queue"].url
    entries = [{"Id": str(number), "MessageBody": str(number)} for number in range(9)]
    sqs.send_message_batch(QueueUrl=url, Entries=entries)

    def sizes() -> list[int]:
        return [len(record["event"]["Records"]) for record in lambdas.log_records("Print")]

    assert eventually(lambda: sum(sizes()) == 9)
    assert max(sizes()) == 3


def test_failure_brings_the_message_back_and_at_last_to_the_dead_letter_queue(running: Running, sqs: Json) -> None:
    resources = {
        "Dead": queue(),
        "Queue": queue(
            VisibilityTimeout=1, RedrivePolicy={"deadLetterTargetArn": arn_of("Dead"), "maxReceiveCount": 2}
        ),
        "Work": function(WORK),
        "Map": mapping("Work", "Queue", BatchSize=1),
    }
    lambdas = running(resources)
    queues = lambdas.deployment.queues
    sqs.send_message(QueueUrl=queues["Queue"].url, MessageBody="fail")
    assert eventually(lambda: _left(sqs, queues["Dead"].url) == 1)
    # Where an attempt takes longer than the message is invisible, the next one and the burial overtake it.
    assert eventually(lambda: _began(lambdas.log_records("Work")) == [["fail"], ["fail"]])


def test_a_partial_answer_keeps_only_what_it_names(running: Running, sqs: Json) -> None:
    resources = {
        "Queue": queue(VisibilityTimeout=6, DelaySeconds=1),
        "Partial": function(PARTIAL),
        "Map": mapping("Partial", "Queue", BatchSize=10, **BATCH),
    }
    lambdas = running(resources)
    # Whoever starts cold may take longer than messages are invisible, and all of them would come back.
    lambdas.warm("Partial", 4)
    url = lambdas.deployment.queues["Queue"].url
    entries = [{"Id": str(number), "MessageBody": body} for number, body in enumerate(["a", "bad", "b"])]
    sqs.send_message_batch(QueueUrl=url, Entries=entries)

    def bodies() -> list[str]:
        return [body for record in lambdas.log_records("Partial") for body in record["bodies"]]

    assert eventually(lambda: bodies().count("bad") >= 2)
    assert sorted(body for body in bodies() if body != "bad") == ["a", "b"]


def test_a_partial_answer_means_nothing_where_the_template_does_not_ask_for_it(running: Running, sqs: Json) -> None:
    resources = {
        "Queue": queue(VisibilityTimeout=6),
        "Partial": function(PARTIAL),
        "Map": mapping("Partial", "Queue"),
    }
    lambdas = running(resources)
    lambdas.warm("Partial", 4)
    url = lambdas.deployment.queues["Queue"].url
    sqs.send_message(QueueUrl=url, MessageBody="bad")
    assert eventually(lambda: len(lambdas.log_records("Partial")) == 1 and _left(sqs, url) == 0)


@pytest.mark.parametrize(
    ("response", "failed"),
    [
        (None, set()),
        ({}, set()),
        ("done", set()),
        ({"batchItemFailures": []}, set()),
        ({"batchItemFailures": [{"itemIdentifier": "a"}]}, {"a"}),
        ({"batchItemFailures": [{"itemIdentifier": "stranger"}]}, {"a", "b"}),
        ({"batchItemFailures": [{"itemIdentifier": ""}]}, {"a", "b"}),
        ({"batchItemFailures": [{"itemIdentifier": None}]}, {"a", "b"}),
        ({"batchItemFailures": [{"id": "a"}]}, {"a", "b"}),
        ({"batchItemFailures": ["a"]}, {"a", "b"}),
        ({"batchItemFailures": "a"}, {"a", "b"}),
    ],
)
def test_an_answer_that_is_not_understood_fails_the_whole_batch(response: Json, failed: set[str]) -> None:
    assert failed_message_ids(response, ["a", "b"]) == failed


def test_a_fifo_group_is_served_in_order_one_batch_at_a_time_beside_other_groups(running: Running, sqs: Json) -> None:
    resources = {
        "Queue": queue(QueueName="ordered.fifo", **FIFO),
        "Work": function(WORK),
        "Map": mapping("Work", "Queue", BatchSize=1),
    }
    lambdas = running(resources)
    lambdas.warm("Work", 2)
    url = lambdas.deployment.queues["Queue"].url
    for number in range(8):
        for group in ("blue", "green"):
            sqs.send_message(QueueUrl=url, MessageBody=f"{group} {number}", MessageGroupId=group)
    assert eventually(lambda: _left(sqs, url) == 0)
    records = lambdas.log_records("Work")
    for group in ("blue", "green"):
        began, ended = (_times(records, kind, group) for kind in ("began", "ended"))
        assert [body for body, _ in began] == [f"{group} {number}" for number in range(8)]
        assert all(before <= after for (_, before), (_, after) in zip(ended, began[1:], strict=False))


def test_a_function_that_feeds_its_own_queue_is_stopped_after_sixteen_passes(running: Running, sqs: Json) -> None:
    lambdas = running(_loop(LOOP))
    sqs.send_message(QueueUrl=lambdas.deployment.queues["Queue"].url, MessageBody="round")
    assert eventually(lambda: lambdas.loops_stopped("Loop") == 1)
    assert len(lambdas.log_records("Loop")) == 16
    assert _left(sqs, lambdas.deployment.queues["Queue"].url) == 0
    assert _left(sqs, lambdas.deployment.queues["Dead"].url) == 1


def test_batches_count_as_passes_too(running: Running, sqs: Json) -> None:
    lambdas = running(_loop(LOOP_BATCH))
    sqs.send_message(QueueUrl=lambdas.deployment.queues["Queue"].url, MessageBody="round")
    assert eventually(lambda: lambdas.loops_stopped("Loop") == 1)
    assert len(lambdas.log_records("Loop")) == 16


def test_a_function_whose_template_allows_recursion_goes_on(running: Running, sqs: Json) -> None:
    lambdas = running(_loop(LOOP, RecursiveLoop="Allow"))
    sqs.send_message(QueueUrl=lambdas.deployment.queues["Queue"].url, MessageBody="round")
    assert eventually(lambda: len(lambdas.log_records("Loop")) > 20)
    assert lambdas.loops_stopped("Loop") == 0


def test_an_aws_event_reaches_the_function_behind_its_rules_queue(running: Running) -> None:
    pattern = {"source": ["aws.ec2"], "detail-type": ["EC2 Spot Instance Interruption Warning"]}
    resources = {
        "Queue": queue(),
        "Print": function(PRINT),
        "Map": mapping("Print", "Queue"),
        "Spot": rule({"Arn": arn_of("Queue")}, EventPattern=pattern),
        "Off": rule({"Arn": arn_of("Queue")}, EventPattern=pattern, State="DISABLED"),
    }
    lambdas = running(resources)
    notice = {"source": "aws.ec2", "detail-type": pattern["detail-type"][0], "detail": {"instance-id": "i-1"}}
    assert lambdas.put_event(notice) == ["Spot"]
    assert lambdas.put_event({**notice, "source": "aws.health"}) == []
    assert eventually(lambda: len(lambdas.log_records("Print")) == 1)
    (record,) = lambdas.log_records("Print")[0]["event"]["Records"]
    event = json.loads(record["body"])
    assert event["detail"] == {"instance-id": "i-1"}
    assert event["account"] == "123456789012"
    assert {"version", "id", "time", "region", "resources"} <= set(event)


def test_a_schedule_sends_to_a_fifo_queue_with_its_group(running: Running) -> None:
    target = {"Arn": arn_of("Queue"), "Input": '{"hint": 1}', "SqsParameters": {"MessageGroupId": "all"}}
    resources = {
        "Queue": queue(QueueName="hints.fifo", **FIFO),
        "Print": function(PRINT),
        "Map": mapping("Print", "Queue", BatchSize=1),
        "Minute": rule(target, ScheduleExpression="rate(1 minute)"),
    }
    lambdas = running(resources)
    lambdas.fire("Minute")
    assert eventually(lambda: len(lambdas.log_records("Print")) == 1)
    (record,) = lambdas.log_records("Print")[0]["event"]["Records"]
    assert json.loads(record["body"]) == {"hint": 1}
    assert record["attributes"]["MessageGroupId"] == "all"


def _loop(code: str, **properties: Json) -> dict[str, Json]:
    return {
        "Dead": queue(),
        "Queue": queue(RedrivePolicy={"deadLetterTargetArn": arn_of("Dead"), "maxReceiveCount": 3}),
        "Loop": function(code, environment={"QUEUE_URL": {"Ref": "Queue"}}, **properties),
        "Map": mapping("Loop", "Queue", BatchSize=1),
    }


def _left(sqs: Json, url: str) -> int:
    names = [
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesNotVisible",
        "ApproximateNumberOfMessagesDelayed",
    ]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(value) for value in attributes.values())


def _began(records: Iterable[Json]) -> list[Json]:
    return [record["began"] for record in records if "began" in record]


def _times(records: Iterable[Json], kind: str, group: str) -> list[tuple[str, float]]:
    found = [(record[kind][0], record["at"]) for record in records if kind in record]
    return sorted(((body, at) for body, at in found if body.startswith(group)), key=lambda pair: pair[1])
