"""The plan epoch: one planner's word, and how often it was given this hour (architecture §4, rules 3 and 7)."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.items import Item, microseconds, number, read_number
from nodewright.adapters.dynamodb.section import Section
from nodewright.adapters.dynamodb.table import Table
from nodewright.application.errors import ConflictError
from nodewright.application.limits import LimitReachedError
from nodewright.application.ports import Clock
from nodewright.domain.limits import LAUNCHES, Limits
from nodewright.domain.usage import WHOLE_CLUSTER

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_HOUR = 3_600_000_000


class Epochs(Section):
    """`PLAN` of a cluster: epoch, and the hour of its last launches with their number.

    Whoever writes PLAN counts the epoch up, so what was read under an epoch is still so when the epoch is.
    """

    def __init__(self, table: Table, region: str, clock: Clock, report: Callable[[str], None]) -> None:
        super().__init__(table, region, clock, report)
        self._read: dict[str, Item] = {}

    def epoch(self, cluster: str) -> int:
        """0 before the first plan; read consistently."""
        return _epoch(self._plan(cluster))

    def _count_up(self, cluster: str, epoch: int, more: Mapping[str, int] | None = None) -> "TransactWriteItemTypeDef":
        """The epoch's part of a transaction, with more to be set on PLAN."""
        fields = {"epoch": epoch + 1, **(more or {})}
        values: Item = {f":{name}": number(value) for name, value in fields.items()}
        if epoch:
            values[":before"] = number(epoch)
        return {
            "Update": {
                "TableName": self._table.name,
                "Key": keys.plan(cluster),
                "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in fields),
                "ConditionExpression": "#epoch = :before" if epoch else "attribute_not_exists(#epoch)",
                "ExpressionAttributeNames": {f"#{name}": name for name in fields},
                "ExpressionAttributeValues": values,
            }
        }

    def _one_more_launch(self, cluster: str, epoch: int, now: datetime, limits: Limits) -> Mapping[str, int]:
        """What PLAN is to say of this hour's launches once there is one more; nothing where they aren't limited."""
        if LAUNCHES not in limits:
            return {}
        plan = self._read.get(cluster, {})
        if _epoch(plan) != epoch:
            plan = self._plan(cluster)
        if _epoch(plan) != epoch:
            raise ConflictError(f"cluster {cluster}: another planner was first, the epoch is {_epoch(plan)}")
        hour, launches = _this_hour(plan, microseconds(now) // _HOUR)
        if launches >= limits[LAUNCHES]:
            raise LimitReachedError(WHOLE_CLUSTER, LAUNCHES, limits[LAUNCHES], launches, 1)
        return {"hour": hour, "launches": launches + 1}

    def _plan(self, cluster: str) -> Item:
        self._read[cluster] = self._table.get(keys.plan(cluster)) or {}
        return self._read[cluster]


def _epoch(plan: Item) -> int:
    return read_number(plan, "epoch") if "epoch" in plan else 0


def _this_hour(plan: Item, hour: int) -> tuple[int, int]:
    """The hour that counts and its launches. A clock that is a little behind doesn't begin an hour anew."""
    last = read_number(plan, "hour") if "hour" in plan else 0
    if last not in {hour, hour + 1}:
        return hour, 0
    return last, read_number(plan, "launches")
