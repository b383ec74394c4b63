"""Node claims, their launches and the plan epoch: the rules of architecture §4 that stop double buying.

A claim that is gone leaves the table; its instance's OWNER item stays a day, so that events which
come late still find whose it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.items import (
    Item,
    body,
    expiry,
    moment,
    number,
    read_body,
    read_moment,
    read_number,
    read_text,
    text,
)
from nodewright.adapters.dynamodb.section import Section
from nodewright.adapters.dynamodb.table import ITEMS_A_TRANSACTION
from nodewright.application.errors import ConflictError, NotFoundError, RefusedError
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

#: With PLAN and LAUNCH, and room for pool usage, what fits in one transaction.
CLAIMS_A_RESERVATION = 96

OWNER_KEPT = timedelta(days=1)


class Claims(Section):
    """`PLAN`, `CLAIM#id` and `LAUNCH#id` of a cluster, `OWNER` of an instance; all read consistently."""

    def epoch(self, cluster: str) -> int:
        """0 before the first plan."""
        item = self._table.get(keys.plan(cluster))
        return read_number(item, "epoch") if item else 0

    def reserve(self, cluster: str, epoch: int, launch: LaunchRecord, claims: Sequence[NodeClaim]) -> None:
        """One transaction: epoch as expected and counted up, the launch, its claims."""
        if len(claims) > CLAIMS_A_RESERVATION:
            raise RefusedError(f"{len(claims)} claims in one reservation, at most {CLAIMS_A_RESERVATION}: split it")
        new = "attribute_not_exists(pk)"
        self._table.transact(
            [
                self._count_up(cluster, epoch),
                self._table.checked_put(_launch_item(cluster, launch), new),
                *(self._table.checked_put(_claim_item(cluster, claim), new) for claim in claims),
            ]
        )

    def claims(self, cluster: str) -> tuple[NodeClaim, ...]:
        """All that are not gone, sorted by id.

        One that can't be read is an error: without it its pods would be bought a second node, and
        its instance would look like an orphan.
        """
        items = self._table.query(keys.of_cluster(cluster), keys.CLAIM)
        return tuple(_read_claim(item) for item in items)

    def claim(self, cluster: str, claim_id: str) -> NodeClaim:
        """NotFoundError when it is gone."""
        item = self._table.get(keys.claim(cluster, claim_id))
        if item is None:
            raise NotFoundError(f"cluster {cluster} has no claim {claim_id}")
        return _read_claim(item)

    def save_claim(self, cluster: str, claim: NodeClaim) -> NodeClaim:
        """Replace it where its version is the stored one; gone removes it."""
        if claim.state is ClaimState.GONE:
            self._forget(cluster, claim)
            return replace(claim, version=claim.version + 1)
        saved = replace(claim, version=claim.version + 1)
        self._table.replace(_claim_item(cluster, saved), "version = :version", _version(claim))
        return saved

    def settle_launch(self, cluster: str, launch_id: str, claims: Sequence[NodeClaim]) -> None:
        """Claims with an instance get it and an OWNER, claims without are gone, the launch goes last.

        More than one transaction for more than 49 nodes; asked again after a stop between two, it
        does what is left. ConflictError when a claim has another instance, or an instance another owner.
        """
        stored = self._stored(cluster, claims)
        steps = [self._settlement(cluster, claim, stored.get(claim.id)) for claim in claims]
        finish: TransactWriteItemTypeDef = {
            "Delete": {"TableName": self._table.name, "Key": keys.launch(cluster, launch_id)}
        }
        for transaction in _transactions(steps, finish):
            self._table.transact(transaction)

    def hand_back_launch(self, cluster: str, launch_id: str, now: datetime) -> None:
        """End its lease; nothing when it is settled."""
        try:
            self._table.update(
                keys.launch(cluster, launch_id), "SET lease_until = :now", "attribute_exists(pk)", {":now": moment(now)}
            )
        except ConflictError:
            return

    def launches(self, cluster: str) -> tuple[LaunchRecord, ...]:
        """Not settled yet, sorted by id; one that can't be read is an error, it may have bought."""
        items = self._table.query(keys.of_cluster(cluster), keys.LAUNCH)
        return tuple(_read_launch(item) for item in items)

    def owner(self, instance_id: str) -> tuple[str, str] | None:
        """(cluster, claim id)."""
        item = self._table.get(keys.owner(instance_id))
        return (read_text(item, "cluster"), read_text(item, "claim")) if item else None

    def _count_up(self, cluster: str, epoch: int) -> "TransactWriteItemTypeDef":
        """The epoch's part of a transaction."""
        values: Item = {":next": number(epoch + 1)}
        if epoch:
            values[":epoch"] = number(epoch)
        return {
            "Update": {
                "TableName": self._table.name,
                "Key": keys.plan(cluster),
                "UpdateExpression": "SET epoch = :next",
                "ConditionExpression": "epoch = :epoch" if epoch else "attribute_not_exists(epoch)",
                "ExpressionAttributeValues": values,
            }
        }

    def _forget(self, cluster: str, claim: NodeClaim) -> None:
        """Remove a claim; its owner item expires."""
        writes = [self._removal(cluster, claim, "version = :version", _version(claim))]
        if claim.instance_id:
            writes.append({"Put": {"TableName": self._table.name, "Item": self._expiring_owner(cluster, claim)}})
        self._table.transact(writes)

    def _expiring_owner(self, cluster: str, claim: NodeClaim) -> Item:
        return {**_owner_item(cluster, claim), "expires": expiry(self._clock.now() + OWNER_KEPT)}

    def _stored(self, cluster: str, claims: Sequence[NodeClaim]) -> Mapping[str, NodeClaim]:
        """These claims as the table has them."""
        items = self._table.get_many([keys.claim(cluster, claim.id) for claim in claims])
        return {claim.id: claim for claim in map(_read_claim, items)}

    def _settlement(self, cluster: str, claim: NodeClaim, stored: NodeClaim | None) -> "list[TransactWriteItemTypeDef]":
        """What is left to write for one claim; nothing when it was settled before."""
        if _is_settled(claim, stored):
            return []
        condition = "version = :version AND instance = :none"
        values: Item = {**_version(claim), ":none": text("")}
        if not claim.instance_id:
            return [self._removal(cluster, claim, condition, values)]
        saved = replace(claim, version=claim.version + 1)
        return [
            self._table.checked_put(_claim_item(cluster, saved), condition, values),
            self._table.checked_put(_owner_item(cluster, claim), "attribute_not_exists(pk)"),
        ]

    def _removal(self, cluster: str, claim: NodeClaim, condition: str, values: Item) -> "TransactWriteItemTypeDef":
        return {
            "Delete": {
                "TableName": self._table.name,
                "Key": keys.claim(cluster, claim.id),
                "ConditionExpression": condition,
                "ExpressionAttributeValues": values,
            }
        }


#: Fields an older release didn't write.
_DEFAULTS: Mapping[str, object] = {
    "pool_hash": "",
    "class_hash": "",
    "labels": {},
    "taints": [],
    "startup_taints": [],
    "requests": {},
    "nominated_pods": [],
}


def _claim_item(cluster: str, claim: NodeClaim) -> Item:
    return {
        **keys.claim(cluster, claim.id),
        "version": number(claim.version),
        "state": text(claim.state.value),
        "instance": text(claim.instance_id),
        "body": body(claim),
    }


def _read_claim(item: Item) -> NodeClaim:
    return read_body(item, NodeClaim, _DEFAULTS)


def _launch_item(cluster: str, launch: LaunchRecord) -> Item:
    """`lease_until` is an attribute of its own, changed without the rest, and wins when read."""
    return {**keys.launch(cluster, launch.id), "lease_until": moment(launch.lease_until), "body": body(launch)}


def _read_launch(item: Item) -> LaunchRecord:
    return replace(read_body(item, LaunchRecord, {}), lease_until=read_moment(item, "lease_until"))


def _owner_item(cluster: str, claim: NodeClaim) -> Item:
    return {**keys.owner(claim.instance_id), "cluster": text(cluster), "claim": text(claim.id)}


def _is_settled(claim: NodeClaim, stored: NodeClaim | None) -> bool:
    """Whether the table says it already; ConflictError when it says something else."""
    if stored is None:
        if not claim.instance_id:
            return True
        raise ConflictError(f"claim {claim.id} is gone and can't take instance {claim.instance_id}")
    if stored.instance_id and stored.instance_id != claim.instance_id:
        raise ConflictError(f"claim {claim.id} has instance {stored.instance_id}, not {claim.instance_id or 'none'}")
    return bool(stored.instance_id)


def _version(claim: NodeClaim) -> Item:
    return {":version": number(claim.version)}


def _transactions(
    steps: "Sequence[list[TransactWriteItemTypeDef]]", finish: "TransactWriteItemTypeDef"
) -> "list[list[TransactWriteItemTypeDef]]":
    """Steps packed whole into transactions, `finish` with the last."""
    packed: list[list[TransactWriteItemTypeDef]] = [[]]
    for step in steps:
        if len(packed[-1]) + len(step) >= ITEMS_A_TRANSACTION:
            packed.append([])
        packed[-1] += step
    packed[-1].append(finish)
    return packed
