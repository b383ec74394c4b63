"""Retirements of claims: one chain of turns each, however often its messages double (architecture §2, §4)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.claim_items import claim_item, read_claim, unchanged
from nodewright.adapters.dynamodb.epochs import Epochs
from nodewright.adapters.dynamodb.items import Item, moment, number
from nodewright.adapters.dynamodb.table import ITEMS_A_TRANSACTION
from nodewright.application.errors import ConflictError, NotFoundError, RefusedError
from nodewright.domain.claims import NodeClaim

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

#: With PLAN, what fits in one transaction.
RETIREMENTS_AT_ONCE = ITEMS_A_TRANSACTION - 1


class Retirements(Epochs):
    """Attributes `retirement_epoch` and `next_at` of `CLAIM#id`."""

    def start_retirements(self, cluster: str, claims: Sequence[NodeClaim], epoch: int | None) -> tuple[NodeClaim, ...]:
        """One transaction: the claims as they are given, where none of them changed meanwhile."""
        if len(claims) > RETIREMENTS_AT_ONCE:
            raise RefusedError(f"{len(claims)} retirements at once, at most {RETIREMENTS_AT_ONCE}: split them")
        saved = tuple(replace(claim, version=claim.version + 1) for claim in claims)
        writes: list[TransactWriteItemTypeDef] = [] if epoch is None else [self._count_up(cluster, epoch)]
        writes += [
            self._table.checked_put(claim_item(cluster, after), *unchanged(before))
            for before, after in zip(claims, saved, strict=True)
        ]
        if claims:
            self._table.transact(writes)
        return saved

    def take_turn(self, cluster: str, claim_id: str, epoch: int, now: datetime, next_at: datetime) -> NodeClaim:
        """One conditional write; of many at once one wins. It counts the version up: older readings can't undo it."""
        values: Item = {
            ":epoch": number(epoch),
            ":now": moment(now),
            ":next": moment(next_at),
            ":one": number(1),
        }
        try:
            item = self._table.update(
                keys.claim(cluster, claim_id),
                "retirement_epoch = :epoch AND next_at <= :now",
                values,
                sets="next_at = :next",
                rest="ADD version :one",
            )
        except ConflictError as error:
            raise self._why_not(cluster, claim_id, epoch) from error
        return read_claim(item)

    def _why_not(self, cluster: str, claim_id: str, epoch: int) -> ConflictError | NotFoundError:
        item = self._table.get(keys.claim(cluster, claim_id))
        if item is None:
            return NotFoundError(f"cluster {cluster} has no claim {claim_id}")
        retirement = read_claim(item).retirement
        if retirement is None or retirement.epoch != epoch:
            stands = "withdrawn" if retirement is None else f"now epoch {retirement.epoch}"
            return ConflictError(f"claim {claim_id}: its retirement {epoch} is {stands}")
        return ConflictError(f"claim {claim_id}: its next turn is at {retirement.next_at.isoformat()}")
