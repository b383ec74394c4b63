"""What is in use or reserved of each pool: the reason limits are hard (architecture §4, rule 1)."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.epochs import Epochs
from nodewright.adapters.dynamodb.items import Item, number, read_number, read_text
from nodewright.adapters.dynamodb.table import ITEMS_A_TRANSACTION, chunks
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import NO_LIMITS

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_KEY = frozenset({"pk", "sk"})


class Usage(Epochs):
    """`POOL#p` of a cluster, `POOL#*` for all of it: an attribute for each resource."""

    def usage(self, cluster: str) -> Mapping[str, Resources]:
        """Pool (and `*`) → what is counted; pools that count nothing are left out. Read consistently."""
        items = self._table.query(keys.of_cluster(cluster), keys.POOL)
        found = {read_text(item, "sk").removeprefix(keys.POOL): amounts_of(item) for item in items}
        return {pool: amounts for pool, amounts in found.items() if amounts}

    def set_usage(self, cluster: str, epoch: int, usage: Mapping[str, Resources]) -> None:
        """Replace all of it, whatever it said, even if it can't be read; requires and increments the epoch.

        More than 99 pools take more than one transaction, each under the epoch of the one before.
        """
        there = [read_text(i, "sk") for i in self._table.query(keys.of_cluster(cluster), keys.POOL, keys_only=True)]
        names = {name.removeprefix(keys.POOL) for name in there} | usage.keys()
        writes = [self._counted(cluster, name, usage.get(name)) for name in sorted(names)]
        for turn, some in enumerate(chunks(writes, ITEMS_A_TRANSACTION - 1)):
            self._table.transact([self._count_up(cluster, epoch + turn), *some])

    def _uses(
        self, cluster: str, more: Mapping[str, Resources], limits: Mapping[str, Resources] = NO_LIMITS
    ) -> "Iterator[TransactWriteItemTypeDef]":
        """Usage's part of a transaction, pool by pool: so much more (or less), where the limits allow it."""
        for pool, amounts in more.items():
            yield self._use(cluster, pool, amounts, limits.get(pool, Resources()))

    def _use(self, cluster: str, pool: str, amounts: Resources, limits: Resources) -> "TransactWriteItemTypeDef":
        names = {f"#{index}": name for index, name in enumerate(amounts)}
        values: Item = {f":{index}": number(amount) for index, amount in enumerate(amounts.values())}
        conditions = []
        for index, (name, amount) in enumerate(amounts.items()):
            if name in limits and amount > 0:
                most = limits[name] - amount
                values[f":most{index}"] = number(most)
                # An item that isn't there yet counts nothing, which is too much already when most is below zero.
                none_yet = f"attribute_not_exists(#{index}) OR " if most >= 0 else ""
                conditions.append(f"({none_yet}#{index} <= :most{index})")
        update: TransactWriteItemTypeDef = {
            "Update": {
                "TableName": self._table.name,
                "Key": keys.pool(cluster, pool),
                "UpdateExpression": "ADD " + ", ".join(f"#{index} :{index}" for index in range(len(amounts))),
                "ExpressionAttributeNames": names,
                "ExpressionAttributeValues": values,
            }
        }
        if conditions:
            update["Update"]["ConditionExpression"] = " AND ".join(conditions)
            update["Update"]["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return update

    def _counted(self, cluster: str, pool: str, amounts: Resources | None) -> "TransactWriteItemTypeDef":
        key = keys.pool(cluster, pool)
        if not amounts:
            return {"Delete": {"TableName": self._table.name, "Key": key}}
        counts: Item = {name: number(amount) for name, amount in amounts.items()}
        return {"Put": {"TableName": self._table.name, "Item": {**key, **counts}}}


def amounts_of(item: Mapping[str, object]) -> Resources:
    """What an item counts."""
    return Resources({name: read_number(item, name) for name in item if name not in _KEY})
