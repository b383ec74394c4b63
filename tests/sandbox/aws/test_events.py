import json
from typing import Any

import pytest

from sandbox.aws.events import Event
from sandbox.aws.server import SandboxAws


class Bus:
    """The default bus, with one queue that rules may send to."""

    def __init__(self, aws: SandboxAws) -> None:
        self.events = aws.client("events")
        self.sqs = aws.client("sqs")
        self.url = self.sqs.create_queue(QueueName="inbox")["QueueUrl"]
        attributes = self.sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=["QueueArn"])["Attributes"]
        self.target = {"Id": "inbox", "Arn": attributes["QueueArn"]}

    def rule(self, name: str, target: dict[str, Any] | None = None, **rule: str) -> None:
        self.events.put_rule(Name=name, **rule)
        self.events.put_targets(Rule=name, Targets=[target or self.target])

    def put(self, source: str = "aws.ec2") -> Any:
        entry = {"Source": source, "DetailType": "Notice", "Detail": json.dumps({"instance-id": "i-1"})}
        return self.events.put_events(Entries=[entry])

    def inbox(self) -> list[Event]:
        messages = self.sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get("Messages", [])
        return [json.loads(message["Body"]) for message in messages]


EC2_PATTERN = json.dumps({"source": ["aws.ec2"]})


@pytest.fixture
def bus(aws: SandboxAws) -> Bus:
    return Bus(aws)


def test_a_queue_gets_what_matches_whole_and_once(bus: Bus) -> None:
    bus.rule("ec2", EventPattern=EC2_PATTERN)
    bus.put("aws.ec2")
    bus.put("aws.health")
    (event,) = bus.inbox()
    assert event["account"] == "123456789012"
    assert event["region"] == "ap-northeast-2"
    assert event["detail"] == {"instance-id": "i-1"}
    assert event["time"].endswith("Z")
    assert event["version"] == "0"


def test_a_disabled_rule_and_a_schedule_get_nothing(bus: Bus) -> None:
    bus.rule("off", EventPattern=EC2_PATTERN, State="DISABLED")
    bus.rule("minute", ScheduleExpression="rate(1 minute)")
    bus.put()
    assert bus.inbox() == []


def test_a_targets_own_input_replaces_the_event(bus: Bus) -> None:
    bus.rule("constant", {**bus.target, "Input": '{"duty": "refresh"}'}, EventPattern=EC2_PATTERN)
    bus.rule("part", {**bus.target, "Id": "part", "InputPath": "$.detail"}, EventPattern=EC2_PATTERN)
    bus.put()
    assert sorted(bus.inbox(), key=str) == [{"duty": "refresh"}, {"instance-id": "i-1"}]


def test_a_lambda_target_does_not_fail_the_put(bus: Bus) -> None:
    function = {"Id": "f", "Arn": "arn:aws:lambda:ap-northeast-2:123456789012:function:interrupt"}
    bus.rule("function", function, EventPattern=EC2_PATTERN)
    assert bus.put()["FailedEntryCount"] == 0


def test_a_listener_hears_before_any_target_does(bus: Bus, aws: SandboxAws) -> None:
    bus.rule("ec2", EventPattern=EC2_PATTERN)
    inbox_at_that_time: list[list[Event]] = []
    end = aws.events.on_put(lambda _: inbox_at_that_time.append(bus.inbox()))
    aws.events.put("aws.ec2", "EC2 Spot Instance Interruption Warning", {"instance-id": "i-1"}, ["arn:x"])
    end()
    assert inbox_at_that_time == [[]]
    assert bus.inbox()[0]["resources"] == ["arn:x"]


def test_nothing_is_delivered_while_somebody_else_does_it(bus: Bus, aws: SandboxAws) -> None:
    bus.rule("ec2", EventPattern=EC2_PATTERN)
    aws.events.delivers = False
    try:
        bus.put()
        assert bus.inbox() == []
    finally:
        aws.events.delivers = True


def test_an_event_without_detail_is_refused_and_not_told(bus: Bus, events: list[Event]) -> None:
    answer = bus.events.put_events(Entries=[{"Source": "x", "DetailType": "y"}])
    assert answer["FailedEntryCount"] == 1
    assert events == []
