from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from nodewright.adapters.dynamodb.ledger import DynamoLedger
from nodewright.adapters.memory import VirtualClock
from tests.adapters.builders import NOW
from tests.adapters.tables import TABLE, make_table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Item = dict[str, dict[str, object]]


@dataclass
class Store:
    """A ledger with the table under it."""

    client: "DynamoDBClient"
    region: str
    reports: list[str] = field(default_factory=list)
    clock: VirtualClock = field(default_factory=lambda: VirtualClock(NOW))

    def ledger(self) -> DynamoLedger:
        """A fresh one, as a cold container has it."""
        return DynamoLedger(self.client, TABLE, region=self.region, clock=self.clock, report=self.reports.append)

    def items(self) -> list[Item]:
        return self.client.scan(TableName=TABLE)["Items"]  # type: ignore[return-value]  # as the wire has them

    def key_names(self) -> list[str]:
        return sorted(f"{item['pk']['S']} / {item['sk']['S']}" for item in self.items())

    def item(self, pk: str, sk: str) -> Item:
        return self.client.get_item(TableName=TABLE, Key={"pk": {"S": pk}, "sk": {"S": sk}})["Item"]  # type: ignore[return-value]

    def put(self, item: Item) -> None:
        self.client.put_item(TableName=TABLE, Item=item)

    def on_call(self, operation: str, act: Callable[[], None]) -> None:
        """Before each such call, do this; it may raise to play a crash."""
        self.client.meta.events.register(f"before-call.dynamodb.{operation}", lambda **_: act())


@pytest.fixture
def store(aws: str) -> Store:
    return Store(make_table(aws), aws)
