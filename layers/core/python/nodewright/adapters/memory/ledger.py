"""The ledger in memory: the same rules as the table."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import cast

from nodewright.adapters.memory.claims import InMemoryClaims
from nodewright.application.errors import ConflictError, NotFoundError, RefusedError
from nodewright.application.ports import DecisionRecord, Duty, Price, RegionCatalogue, UnavailableOffering
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.instance_facts import InstanceFacts
from nodewright.domain.set_aside import ShapeAside

PARTS = ("types", "offerings", "prices", "spot", "images")


@dataclass
class _OfCluster:
    """What is kept of one cluster."""

    decisions: list[DecisionRecord] = field(default_factory=list)
    runs: dict[Duty, datetime] = field(default_factory=dict)
    aside: dict[str, ShapeAside] = field(default_factory=dict)


class InMemoryLedger(InMemoryClaims):
    """Everything that must be remembered."""

    def __init__(self) -> None:
        super().__init__()
        self._connected: dict[str, ConnectedCluster] = {}
        self._of: defaultdict[str, _OfCluster] = defaultdict(_OfCluster)
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

    def shapes_aside(self, cluster: str) -> tuple[ShapeAside, ...]:
        """Sorted by key."""
        return tuple(shape for _, shape in sorted(self._of[cluster].aside.items()))

    def save_shape_aside(self, cluster: str, shape: ShapeAside) -> ShapeAside:
        """Add or replace it, where it is as it was read."""
        with self._lock:
            known = self._of[cluster].aside.get(shape.shape)
            if known is not None and known.version != shape.version:
                raise ConflictError(f"shape {shape.shape} is at version {known.version}, not {shape.version}")
            saved = replace(shape, version=shape.version + 1)
            self._of[cluster].aside[shape.shape] = saved
            return saved

    def last_run(self, cluster: str, duty: Duty) -> datetime | None:
        """When its last snapshot was taken."""
        return self._of[cluster].runs.get(duty)

    def set_last_run(self, cluster: str, duty: Duty, snapshot: datetime) -> None:
        """Only ever later."""
        runs = self._of[cluster].runs
        runs[duty] = max(snapshot, runs.get(duty, snapshot))
