"""The ledger in memory: the same rules as the table, one lock short."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from nodewright.application.errors import ConflictError, NotFoundError, RefusedError
from nodewright.application.ports import DecisionRecord, Duty, Price, RegionCatalogue, UnavailableOffering
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.instance_facts import InstanceFacts

CLAIMS_A_RESERVATION = 96
PARTS = ("types", "offerings", "prices", "spot", "images")


@dataclass
class _OfCluster:
    """What is kept of one cluster."""

    epoch: int = 0
    claims: dict[str, NodeClaim] = field(default_factory=dict)
    launches: dict[str, LaunchRecord] = field(default_factory=dict)
    decisions: list[DecisionRecord] = field(default_factory=list)
    runs: dict[Duty, datetime] = field(default_factory=dict)


class InMemoryLedger:
    """Everything is checked before anything is changed, as in a transaction."""

    def __init__(self) -> None:
        self._connected: dict[str, ConnectedCluster] = {}
        self._of: defaultdict[str, _OfCluster] = defaultdict(_OfCluster)
        self._owners: dict[str, tuple[str, str]] = {}
        self._unavailable: dict[tuple[str, str, str], UnavailableOffering] = {}
        self._parts: dict[str, tuple[object, datetime]] = {}

    def clusters(self) -> tuple[ConnectedCluster, ...]:
        """Sorted by name."""
        return tuple(self._connected[name] for name in sorted(self._connected))

    def cluster(self, name: str) -> ConnectedCluster:
        """NotFoundError when it isn't connected."""
        if name not in self._connected:
            raise NotFoundError(f"cluster {name} is not connected: run `nodewright connect {name}`")
        return self._connected[name]

    def put_cluster(self, cluster: ConnectedCluster) -> None:
        """Add or replace."""
        self._connected[cluster.name] = cluster

    def remove_cluster(self, name: str) -> None:
        """Forget it."""
        self._connected.pop(name, None)

    def mark_unreachable(self, name: str, until: datetime | None) -> None:
        """Set or clear."""
        self._connected[name] = replace(self.cluster(name), unreachable_until=until)

    def epoch(self, cluster: str) -> int:
        """0 before the first plan."""
        return self._of[cluster].epoch

    def reserve(self, cluster: str, epoch: int, launch: LaunchRecord, claims: Sequence[NodeClaim]) -> None:
        """All or nothing."""
        kept = self._of[cluster]
        if len(claims) > CLAIMS_A_RESERVATION:
            raise RefusedError(f"{len(claims)} claims in one reservation, at most {CLAIMS_A_RESERVATION}: split it")
        if kept.epoch != epoch or launch.id in kept.launches or any(claim.id in kept.claims for claim in claims):
            raise ConflictError(f"cluster {cluster}: another planner was first, the epoch is {kept.epoch}")
        kept.epoch += 1
        kept.launches[launch.id] = launch
        kept.claims |= {claim.id: claim for claim in claims}

    def claims(self, cluster: str) -> tuple[NodeClaim, ...]:
        """Sorted by id."""
        return tuple(claim for _, claim in sorted(self._of[cluster].claims.items()))

    def claim(self, cluster: str, claim_id: str) -> NodeClaim:
        """NotFoundError when it is gone."""
        if claim_id not in self._of[cluster].claims:
            raise NotFoundError(f"cluster {cluster} has no claim {claim_id}")
        return self._of[cluster].claims[claim_id]

    def save_claim(self, cluster: str, claim: NodeClaim) -> NodeClaim:
        """Under its version; gone removes it."""
        self._expect_version(cluster, claim)
        saved = replace(claim, version=claim.version + 1)
        self._store(cluster, saved)
        return saved

    def settle_launch(self, cluster: str, launch_id: str, claims: Sequence[NodeClaim]) -> None:
        """What is settled already is left alone."""
        changed = [claim for claim in claims if not self._is_settled(cluster, claim)]
        for claim in changed:
            self._expect_version(cluster, claim)
            if claim.instance_id in self._owners:
                raise ConflictError(f"instance {claim.instance_id} has an owner: {self._owners[claim.instance_id]}")
        for claim in changed:
            state = claim.state if claim.instance_id else ClaimState.GONE
            self._store(cluster, replace(claim, state=state, version=claim.version + 1))
            if claim.instance_id:
                self._owners[claim.instance_id] = (cluster, claim.id)
        self._of[cluster].launches.pop(launch_id, None)

    def hand_back_launch(self, cluster: str, launch_id: str, now: datetime) -> None:
        """Nothing when it is settled."""
        launches = self._of[cluster].launches
        if launch_id in launches:
            launches[launch_id] = replace(launches[launch_id], lease_until=now)

    def launches(self, cluster: str) -> tuple[LaunchRecord, ...]:
        """Sorted by id."""
        return tuple(launch for _, launch in sorted(self._of[cluster].launches.items()))

    def owner(self, instance_id: str) -> tuple[str, str] | None:
        """(cluster, claim id)."""
        return self._owners.get(instance_id)

    def unavailable_offerings(self, now: datetime) -> tuple[UnavailableOffering, ...]:
        """Still cooling down, sorted by key."""
        return tuple(offering for _, offering in sorted(self._unavailable.items()) if offering.until > now)

    def mark_unavailable(self, offerings: Sequence[UnavailableOffering]) -> None:
        """Of two words on one offering the longer counts."""
        for one in sorted(offerings, key=lambda offering: offering.until):
            self._unavailable[one.instance_type, one.zone, one.capacity_type] = one

    def catalogue(self) -> RegionCatalogue:
        """NotFoundError while types or offerings are missing."""
        missing = [part for part in ("types", "offerings") if part not in self._parts]
        if missing:
            raise NotFoundError(f"the catalogue lacks {', '.join(missing)}: run the refresh function")
        content = {part: content for part, (content, _) in self._parts.items()}
        return RegionCatalogue(
            facts=cast("tuple[InstanceFacts, ...]", content["types"]),
            zones_by_type=cast("Mapping[str, frozenset[str]]", content["offerings"]),
            prices=(
                *cast("tuple[Price, ...]", content.get("prices", ())),
                *cast("tuple[Price, ...]", content.get("spot", ())),
            ),
            ages={part: taken for part, (_, taken) in self._parts.items()},
            images=cast("Mapping[str, str]", content.get("images", {})),
        )

    def put_catalogue_part(self, part: str, content: object, now: datetime) -> None:
        """RefusedError for a part nobody reads."""
        if part not in PARTS:
            raise RefusedError(f"the catalogue has no part {part!r}; its parts are {', '.join(PARTS)}")
        self._parts[part] = (content, now)

    def record_decision(self, cluster: str, decision: DecisionRecord) -> None:
        """Keep it."""
        self._of[cluster].decisions.append(decision)

    def decisions(self, cluster: str, limit: int) -> tuple[DecisionRecord, ...]:
        """Newest first."""
        newest = sorted(self._of[cluster].decisions, key=lambda decision: (decision.time, decision.id), reverse=True)
        return tuple(newest[:limit])

    def last_run(self, cluster: str, duty: Duty) -> datetime | None:
        """When its last snapshot was taken."""
        return self._of[cluster].runs.get(duty)

    def set_last_run(self, cluster: str, duty: Duty, snapshot: datetime) -> None:
        """Only ever later."""
        runs = self._of[cluster].runs
        runs[duty] = max(snapshot, runs.get(duty, snapshot))

    def _store(self, cluster: str, claim: NodeClaim) -> None:
        if claim.state is ClaimState.GONE:
            del self._of[cluster].claims[claim.id]
        else:
            self._of[cluster].claims[claim.id] = claim

    def _expect_version(self, cluster: str, claim: NodeClaim) -> None:
        stored = self._of[cluster].claims.get(claim.id)
        if stored is None or stored.version != claim.version:
            has = f"version {stored.version}" if stored else "gone"
            raise ConflictError(f"claim {claim.id} is {has}, not version {claim.version}")

    def _is_settled(self, cluster: str, claim: NodeClaim) -> bool:
        stored = self._of[cluster].claims.get(claim.id)
        if stored is None:
            if not claim.instance_id:
                return True
            raise ConflictError(f"claim {claim.id} is gone and can't take instance {claim.instance_id}")
        if stored.instance_id and stored.instance_id != claim.instance_id:
            raise ConflictError(f"claim {claim.id} has instance {stored.instance_id}")
        return bool(stored.instance_id)
