"""Node claims and their launches: the rules of architecture §4 that stop double buying.

A claim that is gone leaves the table; its instance's OWNER item stays a day, so that events which
come late still find whose it was.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from nodewright.adapters.aws_errors import UnmetConditionsError
from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.claim_items import (
    NEW,
    THERE,
    WITHOUT_INSTANCE,
    claim_item,
    launch_item,
    owner_item,
    read_claim,
    read_launch,
    unchanged,
)
from nodewright.adapters.dynamodb.items import Item, expiry, moment, read_text, text
from nodewright.adapters.dynamodb.table import ITEMS_A_TRANSACTION
from nodewright.adapters.dynamodb.usage import Usage, amounts_of
from nodewright.application.errors import ConflictError, NotFoundError, RefusedError
from nodewright.application.limits import LimitReachedError
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.limits import Limits, exceeded
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import NO_LIMITS, WHOLE_CLUSTER, added, counted, usage_of

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import DeleteTypeDef, TransactWriteItemTypeDef

#: With PLAN, LAUNCH and the usage of a pool and of the cluster, what fits in one transaction.
CLAIMS_A_RESERVATION = 96

OWNER_KEPT = timedelta(days=1)


class Claims(Usage):
    """`CLAIM#id` and `LAUNCH#id` of a cluster, `OWNER` of an instance; all read consistently."""

    def reserve(
        self,
        cluster: str,
        epoch: int,
        launch: LaunchRecord,
        claims: Sequence[NodeClaim],
        limits: Mapping[str, Limits] = NO_LIMITS,
    ) -> None:
        """One transaction: epoch as expected and counted up, usage within limits, the launch, its claims."""
        if len(claims) > CLAIMS_A_RESERVATION:
            raise RefusedError(f"{len(claims)} claims in one reservation, at most {CLAIMS_A_RESERVATION}: split it")
        now = max((claim.created for claim in claims), default=self._clock.now())
        hour = self._one_more_launch(cluster, epoch, now, limits.get(WHOLE_CLUSTER, Limits()))
        more = usage_of(claims)
        writes = [
            self._count_up(cluster, epoch, hour),
            *self._uses(cluster, more, limits),
            self._table.checked_put(launch_item(cluster, launch), NEW),
            *(self._table.checked_put(claim_item(cluster, claim), NEW) for claim in claims),
        ]
        try:
            self._table.transact(writes)
        except UnmetConditionsError as error:
            raise _limit_reached(error, more, limits) or error from error

    def claims(self, cluster: str) -> tuple[NodeClaim, ...]:
        """All that are not gone, sorted by id.

        One that can't be read is an error: without it its pods would be bought a second node, and
        its instance would look like an orphan.
        """
        items = self._table.query(keys.of_cluster(cluster), keys.CLAIM)
        return tuple(read_claim(item) for item in items)

    def claim(self, cluster: str, claim_id: str) -> NodeClaim:
        """NotFoundError when it is gone."""
        item = self._table.get(keys.claim(cluster, claim_id))
        if item is None:
            raise NotFoundError(f"cluster {cluster} has no claim {claim_id}")
        return read_claim(item)

    def save_claim(self, cluster: str, claim: NodeClaim) -> NodeClaim:
        """Replace it where its version is the stored one; gone removes it and gives back what it counts."""
        saved = replace(claim, version=claim.version + 1)
        if claim.state is ClaimState.GONE:
            self._table.transact(self._forgetting(cluster, claim))
        else:
            self._table.replace(claim_item(cluster, saved), *unchanged(claim))
        return saved

    def settle_launch(self, cluster: str, launch_id: str, claims: Sequence[NodeClaim]) -> bool:
        """Claims with an instance get it and an OWNER, claims without are gone, the launch goes last.

        More than one transaction for more than 48 nodes; asked again after a stop between two, it does what
        is left: what a claim gives back is written together with the claim, under its version, so once.
        ConflictError when a claim has another instance, or an instance another owner.
        """
        stored, is_open = self._stored(cluster, launch_id, claims)
        unsettled = tuple(_unsettled(claims, stored))
        if not unsettled and not is_open:
            return False
        transactions = self._settlements(cluster, unsettled, stored) or [[]]
        if is_open:
            transactions[-1].append(self._removal(keys.launch(cluster, launch_id), THERE))
        try:
            for writes in transactions:
                self._table.transact(writes)
        except UnmetConditionsError:
            if unsettled:
                raise
            return False  # another run ended it this moment
        return is_open

    def hand_back_launch(self, cluster: str, launch_id: str, now: datetime) -> None:
        """End its lease; nothing when it is settled."""
        try:
            self._table.update(keys.launch(cluster, launch_id), THERE, {":now": moment(now)}, sets="lease_until = :now")
        except ConflictError:
            return

    def launches(self, cluster: str) -> tuple[LaunchRecord, ...]:
        """Not settled yet, sorted by id; one that can't be read is an error, it may have bought."""
        items = self._table.query(keys.of_cluster(cluster), keys.LAUNCH)
        return tuple(read_launch(item) for item in items)

    def owner(self, instance_id: str) -> tuple[str, str] | None:
        """(cluster, claim id)."""
        item = self._table.get(keys.owner(instance_id))
        return (read_text(item, "cluster"), read_text(item, "claim")) if item else None

    def _forgetting(self, cluster: str, claim: NodeClaim) -> "list[TransactWriteItemTypeDef]":
        """Removes a claim and what it counts; its owner item expires."""
        writes = [self._removal(keys.claim(cluster, claim.id), *unchanged(claim))]
        writes += self._uses(cluster, added([{claim.pool: counted(claim).times(-1)}]))
        if claim.instance_id:
            expires = expiry(self._clock.now() + OWNER_KEPT)
            owner: Item = {**owner_item(cluster, claim), "expires": expires}
            writes.append({"Put": {"TableName": self._table.name, "Item": owner}})
        return writes

    def _stored(
        self, cluster: str, launch_id: str, claims: Sequence[NodeClaim]
    ) -> tuple[Mapping[str, NodeClaim], bool]:
        """These claims as the table has them, and whether it has their launch."""
        launch = keys.launch(cluster, launch_id)
        items = self._table.get_many([launch, *(keys.claim(cluster, claim.id) for claim in claims)])
        found = [read_claim(item) for item in items if item["sk"] != launch["sk"]]
        return {claim.id: claim for claim in found}, len(found) < len(items)

    def _settlements(
        self, cluster: str, claims: Sequence[NodeClaim], stored: Mapping[str, NodeClaim]
    ) -> "list[list[TransactWriteItemTypeDef]]":
        """The transactions that settle these claims; each has room for one item more."""
        steps = [self._settlement(cluster, claim, stored[claim.id]) for claim in claims]
        # Usage of every pool there could be, that of the cluster, and the one item.
        kept_free = len({claim.pool for claim in claims}) + 2
        return [
            [write for step in some for write in step.writes]
            + list(self._uses(cluster, added(step.less for step in some)))
            for some in _packed(steps, ITEMS_A_TRANSACTION - kept_free)
        ]

    def _settlement(self, cluster: str, claim: NodeClaim, stored: NodeClaim) -> "_Step":
        """What is to be written for one claim."""
        condition, values = unchanged(claim)
        condition, values = f"{condition} AND {WITHOUT_INSTANCE}", {**values, ":none": text("")}
        before = counted(stored)
        if not claim.instance_id:
            removal = self._removal(keys.claim(cluster, claim.id), condition, values)
            return _Step([removal], {claim.pool: before.times(-1)})
        saved = replace(claim, version=claim.version + 1)
        writes = [
            self._table.checked_put(claim_item(cluster, saved), condition, values),
            # A claim that is made anew for an instance left alone owns it already.
            self._table.checked_put(owner_item(cluster, claim), f"{NEW} OR claim = :own", {":own": text(claim.id)}),
        ]
        return _Step(writes, {claim.pool: counted(claim) - before})

    def _removal(self, key: keys.Key, condition: str, values: Item | None = None) -> "TransactWriteItemTypeDef":
        delete: DeleteTypeDef = {"TableName": self._table.name, "Key": key, "ConditionExpression": condition}
        if values:  # DynamoDB refuses an empty map
            delete["ExpressionAttributeValues"] = values
        return {"Delete": delete}


@dataclass(frozen=True, slots=True)
class _Step:
    """Writes of a settlement that belong together."""

    writes: "list[TransactWriteItemTypeDef]"
    less: Mapping[str, Resources] = field(default_factory=dict)
    """Pool → how usage changes with them: what didn't come is given back."""


def _limit_reached(
    error: UnmetConditionsError, more: Mapping[str, Resources], limits: Mapping[str, Limits]
) -> LimitReachedError | None:
    """The limit that cancelled a reservation; None where another planner, or anything else, did."""
    plan, *reasons = error.reasons
    if plan.unmet:
        return None
    for (pool, amounts), reason in zip(more.items(), reasons, strict=False):
        in_use = amounts_of(reason.item)
        resource = exceeded(limits.get(pool, Resources()), in_use, amounts) if reason.unmet else None
        if resource is not None:
            return LimitReachedError(
                pool, resource, limits[pool][resource], in_use.get(resource), amounts.get(resource)
            )
    return None


def _unsettled(claims: Sequence[NodeClaim], stored: Mapping[str, NodeClaim]) -> Iterator[NodeClaim]:
    return (claim for claim in claims if not _is_settled(claim, stored.get(claim.id)))


def _is_settled(claim: NodeClaim, stored: NodeClaim | None) -> bool:
    """Whether the table says it already; ConflictError when it says something else."""
    if stored is None:
        if not claim.instance_id:
            return True
        raise ConflictError(f"claim {claim.id} is gone and can't take instance {claim.instance_id}")
    if stored.instance_id and stored.instance_id != claim.instance_id:
        raise ConflictError(f"claim {claim.id} has instance {stored.instance_id}, not {claim.instance_id or 'none'}")
    return bool(stored.instance_id)


def _packed(steps: Sequence[_Step], size: int) -> Iterator[list[_Step]]:
    """Steps, whole, in transactions of at most so many writes."""
    packed: list[_Step] = []
    for step in steps:
        if sum(len(each.writes) for each in packed) + len(step.writes) > size:
            yield packed
            packed = []
        packed.append(step)
    if packed:
        yield packed
