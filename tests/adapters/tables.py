"""A table like the stack's."""

from threading import Lock, local
from typing import TYPE_CHECKING

from nodewright.adapters import aws_clients

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "nodewright"


def make_table(region: str) -> "DynamoDBClient":
    client = aws_clients.dynamodb(region)
    client.create_table(
        TableName=TABLE,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    _Serial().rule(client)
    return client


class _Serial:
    """One call at a time: DynamoDB's transactions are isolated from each other, moto's aren't."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._mine = local()

    def rule(self, client: "DynamoDBClient") -> None:
        events = client.meta.events
        events.register_last("before-call.dynamodb", self._begin)
        events.register_last("after-call.dynamodb", self._end)
        events.register_last("after-call-error.dynamodb", self._end)

    def _begin(self, **_: object) -> None:
        if not getattr(self._mine, "held", False):  # left so by a call that a test let die
            self._lock.acquire()
            self._mine.held = True

    def _end(self, **_: object) -> None:
        if getattr(self._mine, "held", False):  # not where a test answered in place of AWS
            self._mine.held = False
            self._lock.release()
