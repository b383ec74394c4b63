"""Functions as Lambda starts them: imported under their environment, with the sandbox's AWS at its endpoint."""

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from types import ModuleType

import boto3
import pytest

from nodewright.adapters.clock import SystemClock
from nodewright.adapters.dynamodb.ledger import DynamoLedger
from nodewright.settings import NAMES
from sandbox.aws.server import SandboxAws
from tests.adapters.tables import TABLE, make_table

REGION = "us-east-1"
Load = Callable[[str], ModuleType]
Told = Callable[[], str]


@dataclass(frozen=True)
class Account:
    """What the stack's functions find in AWS."""

    ledger: DynamoLedger
    queues: dict[str, str]

    def hinted(self, duty: str) -> list[str]:
        """Bodies of the hints sent, each read once."""
        sqs = boto3.client("sqs", region_name=REGION)
        answer = sqs.receive_message(QueueUrl=self.queues[duty], MaxNumberOfMessages=10)
        return [message["Body"] for message in answer.get("Messages", [])]

    def tamper(self, claim_id: str) -> None:
        """Somebody edits a claim's item by hand, and not well."""
        boto3.client("dynamodb", region_name=REGION).update_item(
            TableName=TABLE,
            Key={"pk": {"S": "CLUSTER#prod"}, "sk": {"S": f"CLAIM#{claim_id}"}},
            UpdateExpression="SET body = :body",
            ExpressionAttributeValues={":body": {"S": '{"id": '}},
        )


class Context:
    """What Lambda tells a handler of its invocation."""

    function_name = "nodewright"
    memory_limit_in_mb = 256
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:nodewright"
    aws_request_id = "request"

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 30_000


@pytest.fixture(scope="module")
def sandbox_aws() -> Iterator[SandboxAws]:
    with SandboxAws(region=REGION) as started:
        yield started


@pytest.fixture
def account(sandbox_aws: SandboxAws, monkeypatch: pytest.MonkeyPatch) -> Account:
    sandbox_aws.reset()
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    for name, value in sandbox_aws.environment().items():
        monkeypatch.setenv(name, value)
    client = make_table(REGION)
    sqs = boto3.client("sqs", region_name=REGION)
    queues = {
        duty: sqs.create_queue(QueueName=f"{duty}.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
        for duty in ("provision", "reconcile", "disrupt")
    }
    queues["retire"] = sqs.create_queue(QueueName="retire")["QueueUrl"]
    for name, value in environment(queues).items():
        monkeypatch.setenv(name, value)
    return Account(DynamoLedger(client, TABLE, region=REGION, clock=SystemClock(), report=pytest.fail), queues)


@pytest.fixture
def load(account: Account) -> Iterator[Load]:  # noqa: ARG001  the environment must be there first
    """A function's handler module, made anew: what it makes at cold start belongs to this test's account."""
    loaded: list[str] = []

    def cold_start(verb: str) -> ModuleType:
        name = f"functions.{verb}.handler"
        sys.modules.pop(name, None)
        loaded.append(name)
        return importlib.import_module(name)

    yield cold_start
    for name in loaded:
        sys.modules.pop(name, None)


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Told:
    """The log so far, with every key of every line."""
    caplog.set_level("INFO")
    return lambda: "\n".join(f"{key}={value}" for record in caplog.records for key, value in vars(record).items())


def hint(body: str, sent: datetime | None = None) -> dict[str, object]:
    """An SQS event of one message, as Lambda gets it."""
    stamp = str(int((sent or datetime.now(UTC)).timestamp() * 1000))  # noqa: TID251  Lambda's own clock
    return {
        "Records": [
            {
                "messageId": "m-1",
                "receiptHandle": "handle",
                "body": body,
                "attributes": {"SentTimestamp": stamp, "ApproximateReceiveCount": "1", "MessageGroupId": "prod"},
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:provision.fifo",
                "awsRegion": REGION,
            }
        ]
    }


def environment(queues: dict[str, str]) -> dict[str, str]:
    """The block the stack gives every function."""
    values = {
        "stack_id": "nodewright-test",
        "table": TABLE,
        "provision_queue_url": queues["provision"],
        "reconcile_queue_url": queues["reconcile"],
        "disrupt_queue_url": queues["disrupt"],
        "retire_queue_url": queues["retire"],
        "node_role": "nodes",
        "node_instance_profile": "nodes",
        "region": REGION,
        "function_timeout_seconds": "90",
    }
    return {NAMES[field]: value for field, value in values.items()}
