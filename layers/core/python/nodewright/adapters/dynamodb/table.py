"""The table's operations, with AWS's errors already in our words."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar, cast
from uuid import uuid4

from nodewright.adapters.aws_errors import CollisionError, UnmetConditionsError, outside
from nodewright.adapters.dynamodb.items import Item, text
from nodewright.adapters.dynamodb.keys import Key
from nodewright.application.errors import UnavailableError
from nodewright.application.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import (
        PutTypeDef,
        QueryInputPaginateTypeDef,
        TransactWriteItemTypeDef,
        WriteRequestOutputTypeDef,
        WriteRequestTypeDef,
    )

_T = TypeVar("_T")

#: What DynamoDB takes in one call.
ITEMS_A_TRANSACTION = 100
KEYS_A_BATCH_READ = 100
ITEMS_A_BATCH_WRITE = 25

#: A batch's unprocessed rest is sent again this often; botocore's own retries come on top.
BATCH_ROUNDS = 8

#: After a collision a write waits a random part of this, twice as much each time: usage is written by
#: everybody who reserves or gives back, and a hundred nodes may go at once.
COLLISION_PAUSE = timedelta(milliseconds=25)
COLLISIONS = 8

#: Attribute that says which conditional write an item is from. botocore repeats a write whose answer it didn't
#: get; where the first try had taken effect the second's condition fails, and only this tells it from another's.
WRITE_ID = "write_id"


class Table:
    """One DynamoDB table with a string partition key `pk` and sort key `sk`."""

    def __init__(self, client: "DynamoDBClient", name: str, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self.name = name

    def get(self, key: Key, *, consistent: bool = True) -> Item | None:
        """One item."""
        with outside(f"reading {self.name}"):
            answer = self._client.get_item(TableName=self.name, Key=key, ConsistentRead=consistent)
        return answer.get("Item")

    def get_many(self, keys: Sequence[Key]) -> list[Item]:
        """Those that are there, in no order; read consistently."""
        return [item for chunk in chunks(keys, KEYS_A_BATCH_READ) for item in self._get_chunk(chunk)]

    def query(
        self, partition: str, prefix: str = "", *, keys_only: bool = False, consistent: bool = True
    ) -> Iterator[Item]:
        """All items of a partition whose sort key begins with `prefix`, in order."""
        request = self._query(partition, prefix)
        request["ConsistentRead"] = consistent
        if keys_only:
            request["ProjectionExpression"] = "pk, sk"
        with outside(f"reading {self.name}"):
            for page in self._client.get_paginator("query").paginate(**request):
                yield from page["Items"]

    def latest(self, partition: str, prefix: str, limit: int) -> list[Item]:
        """The last items by sort key, last first."""
        request = self._query(partition, prefix)
        request["ScanIndexForward"] = False
        request["PaginationConfig"] = {"MaxItems": limit, "PageSize": limit}
        with outside(f"reading {self.name}"):
            return [i for page in self._client.get_paginator("query").paginate(**request) for i in page["Items"]]

    def put(self, item: Item) -> None:
        """Add or replace."""
        self._write(lambda: self._client.put_item(TableName=self.name, Item=item))

    def update(self, key: Key, condition: str, values: Item, *, sets: str = "", rest: str = "") -> Item:
        """Change attributes of one item under a condition; ConflictError when it doesn't hold. The item after it.

        `sets` are the assignments of the SET clause, `rest` is any other clauses.
        """
        assignments = f"{sets}, " if sets else ""

        def change(write_id: Item) -> Item:
            return self._client.update_item(
                TableName=self.name,
                Key=key,
                UpdateExpression=f"SET {assignments}{WRITE_ID} = :{WRITE_ID} {rest}",
                ConditionExpression=condition,
                ExpressionAttributeValues={**values, f":{WRITE_ID}": write_id[WRITE_ID]},
                ReturnValues="ALL_NEW",
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )["Attributes"]

        return self._once(change)

    def replace(self, item: Item, condition: str, values: Item) -> None:
        """Put under a condition; ConflictError when it doesn't hold."""

        def put(write_id: Item) -> Item:
            stored = {**item, **write_id}
            self._client.put_item(
                TableName=self.name,
                Item=stored,
                ConditionExpression=condition,
                ExpressionAttributeValues=values,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
            )
            return stored

        self._once(put)

    def delete(self, key: Key) -> None:
        """Delete; nothing there is no error."""
        self._write(lambda: self._client.delete_item(TableName=self.name, Key=key))

    def transact(self, writes: "Sequence[TransactWriteItemTypeDef]") -> None:
        """All or nothing; UnmetConditionsError when a condition doesn't hold.

        botocore gives each call a ClientRequestToken and repeats it under that: DynamoDB does it once.
        """
        self._write(lambda: self._client.transact_write_items(TransactItems=writes))

    def put_many(self, items: Iterable[Item]) -> None:
        """Put without conditions, in batches; not atomic. Keys must differ."""
        self._write_many([{"PutRequest": {"Item": item}} for item in items])

    def delete_many(self, keys: Iterable[Key]) -> None:
        """Delete in batches; not atomic. Keys must differ."""
        self._write_many([{"DeleteRequest": {"Key": key}} for key in keys])

    def checked_put(self, item: Item, condition: str, values: Item | None = None) -> "TransactWriteItemTypeDef":
        """A put as part of a transaction."""
        put: PutTypeDef = {"TableName": self.name, "Item": item, "ConditionExpression": condition}
        if values:
            put["ExpressionAttributeValues"] = values
        return {"Put": put}

    def _write(self, call: Callable[[], _T]) -> _T:
        """A write, again after a collision: then nothing was written."""
        for collisions in range(COLLISIONS):
            try:
                with outside(f"writing {self.name}"):
                    return call()
            except CollisionError:
                share = random.random()  # noqa: S311  # chance, not secrecy
                self._clock.sleep(COLLISION_PAUSE * 2**collisions * share)
        with outside(f"writing {self.name}"):
            return call()

    def _once(self, call: Callable[[Item], Item]) -> Item:
        """A conditional write that marks the item with the attribute it is given; the item after it.

        A condition that fails on what this very write stored had held. Where somebody else wrote over it before
        it was repeated, nothing tells: that is a conflict, as if they had been first.
        """
        write_id = text(uuid4().hex)
        try:
            return self._write(lambda: call({WRITE_ID: write_id}))
        except UnmetConditionsError as error:
            stored = cast("Item", error.reasons[0].item)
            if stored.get(WRITE_ID) != write_id:
                raise
            return stored

    def _query(self, partition: str, prefix: str) -> "QueryInputPaginateTypeDef":
        values: Item = {":pk": text(partition)}
        condition = "pk = :pk"
        if prefix:
            condition += " AND begins_with(sk, :prefix)"
            values[":prefix"] = text(prefix)
        return {
            "TableName": self.name,
            "KeyConditionExpression": condition,
            "ExpressionAttributeValues": values,
        }

    def _get_chunk(self, keys: Sequence[Key]) -> Iterator[Item]:
        for _ in range(BATCH_ROUNDS):
            if not keys:
                return
            with outside(f"reading {self.name}"):
                answer = self._client.batch_get_item(RequestItems={self.name: {"Keys": keys, "ConsistentRead": True}})
            yield from answer["Responses"].get(self.name, [])
            keys = [dict(key) for key in answer["UnprocessedKeys"].get(self.name, {"Keys": []})["Keys"]]
        raise UnavailableError(f"reading {self.name}: DynamoDB left {len(keys)} items unread, it is throttled")

    def _write_many(self, requests: "Sequence[WriteRequestTypeDef]") -> None:
        for chunk in chunks(requests, ITEMS_A_BATCH_WRITE):
            self._write_chunk(chunk)

    def _write_chunk(self, requests: "Sequence[WriteRequestTypeDef | WriteRequestOutputTypeDef]") -> None:
        for _ in range(BATCH_ROUNDS):
            with outside(f"writing {self.name}"):
                answer = self._client.batch_write_item(RequestItems={self.name: requests})
            requests = answer["UnprocessedItems"].get(self.name, [])
            if not requests:
                return
        raise UnavailableError(f"writing {self.name}: DynamoDB left {len(requests)} items unwritten, it is throttled")


def chunks(values: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """Pieces of at most `size`."""
    for start in range(0, len(values), size):
        yield values[start : start + size]
