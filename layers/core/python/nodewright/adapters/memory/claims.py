"""Claims, launches, usage and retirements in memory: the same rules as the table, one lock as its transactions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import RLock

from nodewright.application.errors import ConflictError, NotFoundError, RefusedError
from nodewright.application.limits import LimitReachedError
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.limits import LAUNCHES, Limits, exceeded
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import NO_LIMITS, WHOLE_CLUSTER, added, counted, usage_of

CLAIMS_A_RESERVATION = 96
RETIREMENTS_AT_ONCE = 99
_HOUR_SECONDS = 3600


@dataclass
class _OfCluster:
    """What is kept of one cluster."""

    epoch: int = 0
    hour: int = 0
    launches_this_hour: int = 0
    claims: dict[str, NodeClaim] = field(default_factory=dict)
    launches: dict[str, LaunchRecord] = field(default_factory=dict)
    usage: dict[str, Resources] = field(default_factory=dict)

    def expect_epoch(self, epoch: int) -> None:
        if self.epoch != epoch:
            raise ConflictError(f"another planner was first, the epoch is {self.epoch}")

    def expect_version(self, claim: NodeClaim) -> None:
        stored = self.claims.get(claim.id)
        if stored is None or stored.version != claim.version:
            has = f"version {stored.version}" if stored else "gone"
            raise ConflictError(f"claim {claim.id} is {has}, not version {claim.version}")

    def store(self, claim: NodeClaim) -> NodeClaim:
        """Under its next version. What it counts less than before is given back."""
        before = self.claims.get(claim.id)
        saved = replace(claim, version=claim.version + 1)
        if claim.state is ClaimState.GONE:
            del self.claims[claim.id]
        else:
            self.claims[claim.id] = saved
        counts = Resources() if claim.state is ClaimState.GONE else counted(claim)
        if before is not None:
            self.use(added([{claim.pool: counts - counted(before)}]))
        return saved

    def use(self, more: Mapping[str, Resources]) -> None:
        """So much more, or less."""
        for pool, amounts in more.items():
            self.usage[pool] = self.usage.get(pool, Resources()) + amounts

    def expect_room(self, more: Mapping[str, Resources], limits: Mapping[str, Limits]) -> None:
        for pool, amounts in more.items():
            in_use, most = self.usage.get(pool, Resources()), limits.get(pool, Limits())
            resource = exceeded(most, in_use, amounts)
            if resource is not None:
                wanted = amounts.get(resource)
                raise LimitReachedError(pool, resource, most[resource], in_use.get(resource), wanted)

    def launches_in(self, hour: int) -> tuple[int, int]:
        """The hour that counts, and its launches; a clock that is a little behind begins no hour anew."""
        return (self.hour, self.launches_this_hour) if self.hour in {hour, hour + 1} else (hour, 0)


class InMemoryClaims:
    """Everything is checked before anything is changed, as in a transaction."""

    def __init__(self) -> None:
        self._kept: defaultdict[str, _OfCluster] = defaultdict(_OfCluster)
        self._owners: dict[str, tuple[str, str]] = {}
        self._lock = RLock()

    def epoch(self, cluster: str) -> int:
        """0 before the first plan."""
        return self._kept[cluster].epoch

    def reserve(
        self,
        cluster: str,
        epoch: int,
        launch: LaunchRecord,
        claims: Sequence[NodeClaim],
        limits: Mapping[str, Limits] = NO_LIMITS,
    ) -> None:
        """All or nothing."""
        if len(claims) > CLAIMS_A_RESERVATION:
            raise RefusedError(f"{len(claims)} claims in one reservation, at most {CLAIMS_A_RESERVATION}: split it")
        more = usage_of(claims)
        with self._lock:
            kept = self._kept[cluster]
            kept.expect_epoch(epoch)
            hour, launches = _rate(kept, claims, limits)
            if launch.id in kept.launches or any(claim.id in kept.claims for claim in claims):
                raise ConflictError(f"launch {launch.id} was reserved before")
            kept.expect_room(more, limits)
            kept.epoch += 1
            kept.hour, kept.launches_this_hour = hour, launches
            kept.use(more)
            kept.launches[launch.id] = launch
            kept.claims |= {claim.id: claim for claim in claims}

    def usage(self, cluster: str) -> Mapping[str, Resources]:
        """Without pools that count nothing."""
        with self._lock:
            return {pool: amounts for pool, amounts in sorted(self._kept[cluster].usage.items()) if amounts}

    def set_usage(self, cluster: str, epoch: int, usage: Mapping[str, Resources]) -> None:
        """Replace it under the epoch."""
        with self._lock:
            kept = self._kept[cluster]
            kept.expect_epoch(epoch)
            kept.epoch += 1
            kept.usage = dict(usage)

    def claims(self, cluster: str) -> tuple[NodeClaim, ...]:
        """Sorted by id."""
        with self._lock:
            return tuple(claim for _, claim in sorted(self._kept[cluster].claims.items()))

    def claim(self, cluster: str, claim_id: str) -> NodeClaim:
        """NotFoundError when it is gone."""
        claim = self._kept[cluster].claims.get(claim_id)
        if claim is None:
            raise NotFoundError(f"cluster {cluster} has no claim {claim_id}")
        return claim

    def save_claim(self, cluster: str, claim: NodeClaim) -> NodeClaim:
        """Under its version; gone removes it."""
        with self._lock:
            self._kept[cluster].expect_version(claim)
            return self._kept[cluster].store(claim)

    def settle_launch(self, cluster: str, launch_id: str, claims: Sequence[NodeClaim]) -> bool:
        """What is settled already is left alone."""
        with self._lock:
            kept = self._kept[cluster]
            changed = [claim for claim in claims if not _is_settled(claim, kept.claims.get(claim.id))]
            for claim in changed:
                kept.expect_version(claim)
                if self._owners.get(claim.instance_id, (cluster, claim.id)) != (cluster, claim.id):
                    raise ConflictError(f"instance {claim.instance_id} has an owner: {self._owners[claim.instance_id]}")
            for claim in changed:
                kept.store(claim if claim.instance_id else replace(claim, state=ClaimState.GONE))
                if claim.instance_id:
                    self._owners[claim.instance_id] = (cluster, claim.id)
            return kept.launches.pop(launch_id, None) is not None

    def hand_back_launch(self, cluster: str, launch_id: str, now: datetime) -> None:
        """Nothing when it is settled."""
        with self._lock:
            launches = self._kept[cluster].launches
            if launch_id in launches:
                launches[launch_id] = replace(launches[launch_id], lease_until=now)

    def launches(self, cluster: str) -> tuple[LaunchRecord, ...]:
        """Sorted by id."""
        with self._lock:
            return tuple(launch for _, launch in sorted(self._kept[cluster].launches.items()))

    def owner(self, instance_id: str) -> tuple[str, str] | None:
        """(cluster, claim id)."""
        return self._owners.get(instance_id)

    def start_retirements(self, cluster: str, claims: Sequence[NodeClaim], epoch: int | None) -> tuple[NodeClaim, ...]:
        """All or none."""
        if len(claims) > RETIREMENTS_AT_ONCE:
            raise RefusedError(f"{len(claims)} retirements at once, at most {RETIREMENTS_AT_ONCE}: split them")
        with self._lock:
            kept = self._kept[cluster]
            if epoch is not None:
                kept.expect_epoch(epoch)
            for claim in claims:
                kept.expect_version(claim)
            kept.epoch += bool(claims) and epoch is not None
            return tuple(kept.store(claim) for claim in claims)

    def take_turn(self, cluster: str, claim_id: str, epoch: int, now: datetime, next_at: datetime) -> NodeClaim:
        """Of many at once one wins."""
        with self._lock:
            claim = self.claim(cluster, claim_id)
            retirement = claim.retirement
            if retirement is None or retirement.epoch != epoch:
                stands = "withdrawn" if retirement is None else f"now epoch {retirement.epoch}"
                raise ConflictError(f"claim {claim_id}: its retirement {epoch} is {stands}")
            if retirement.next_at > now:
                raise ConflictError(f"claim {claim_id}: its next turn is at {retirement.next_at.isoformat()}")
            return self._kept[cluster].store(replace(claim, retirement=replace(retirement, next_at=next_at)))


def _rate(kept: _OfCluster, claims: Sequence[NodeClaim], limits: Mapping[str, Limits]) -> tuple[int, int]:
    """The hour the claims were made in, and its launches with one more, where they are limited; LimitReachedError."""
    most = limits.get(WHOLE_CLUSTER, Limits())
    if LAUNCHES not in most or not claims:
        return kept.hour, kept.launches_this_hour
    hour, launches = kept.launches_in(int(max(claim.created for claim in claims).timestamp()) // _HOUR_SECONDS)
    if launches >= most[LAUNCHES]:
        raise LimitReachedError(WHOLE_CLUSTER, LAUNCHES, most[LAUNCHES], launches, 1)
    return hour, launches + 1


def _is_settled(claim: NodeClaim, stored: NodeClaim | None) -> bool:
    """Whether it is stored already; ConflictError when something else is."""
    if stored is None:
        if not claim.instance_id:
            return True
        raise ConflictError(f"claim {claim.id} is gone and can't take instance {claim.instance_id}")
    if stored.instance_id and stored.instance_id != claim.instance_id:
        raise ConflictError(f"claim {claim.id} has instance {stored.instance_id}")
    return bool(stored.instance_id)
