from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from nodewright.adapters.memory import (
    InMemoryDirectory,
    InMemoryEc2Catalogue,
    InMemoryImages,
    InMemoryLedger,
    RecordingObserver,
)
from nodewright.application.errors import UnavailableError
from nodewright.application.ports import Price
from nodewright.application.refresh import PARTS, Refresh
from nodewright.domain.clusters import ConnectedCluster
from tests.application.world import CLUSTER, FACTS, NOW, ZONES, connected, parameters, prices

LATER = NOW + timedelta(hours=1)
#: What EKS doesn't know.
OURS = {
    "paused": True,
    "unreachable_until": LATER,
    "scheduler_names": ("mine",),
    "limit_usd_per_hour": 7,
    "launches_per_hour": 9,
}


class FailingCatalogue(InMemoryEc2Catalogue):
    def on_demand_prices(self) -> tuple[Price, ...]:
        raise UnavailableError("the price list is throttled")


@dataclass
class Directory(InMemoryDirectory):
    """`meanwhile` is what somebody else does while EKS is asked."""

    ledger: InMemoryLedger = field(default_factory=InMemoryLedger)
    meanwhile: dict[str, ConnectedCluster | None] = field(default_factory=dict)
    throttled: set[str] = field(default_factory=set)

    def describe(self, name: str) -> ConnectedCluster:
        if name in self.throttled:
            raise UnavailableError("EKS is throttled")
        if name in self.meanwhile:
            changed = self.meanwhile[name]
            self.ledger.remove_cluster(name) if changed is None else self.ledger.put_cluster(changed)
        return super().describe(name)


class Region:
    def __init__(self, catalogue: type[InMemoryEc2Catalogue] = InMemoryEc2Catalogue) -> None:
        self.ledger = InMemoryLedger()
        self.observer = RecordingObserver()
        self.directory = Directory({CLUSTER: connected(version="1.38", token_hashes=())}, self.ledger)
        every = prices()
        self.catalogue = catalogue(
            FACTS,
            {facts.name: frozenset(ZONES) for facts in FACTS},
            tuple(p for p in every if p.capacity_type == "spot"),
            tuple(p for p in every if p.capacity_type == "on-demand"),
        )
        images = InMemoryImages(parameters("1.37") | parameters("1.38"))
        self.refresh = Refresh(self.ledger, self.catalogue, images, self.directory, self.observer)
        self.ledger.put_cluster(connected(**OURS))


def test_all_parts_are_refreshed_where_none_is_named() -> None:
    region = Region()
    assert region.refresh((), NOW) == dict.fromkeys(PARTS, "ok")
    stored = region.ledger.catalogue()
    assert {facts.name for facts in stored.facts} == {facts.name for facts in FACTS}
    assert set(stored.prices) == set(prices())
    assert stored.zones_by_type["m5.large"] == frozenset(ZONES)
    assert stored.ages == dict.fromkeys(("types", "offerings", "prices", "spot", "images"), NOW)


def test_only_named_parts_are_refreshed() -> None:
    region = Region()
    region.refresh(("types", "offerings"), NOW)
    assert region.refresh(("spot",), LATER) == {"spot": "ok"}
    assert region.ledger.catalogue().ages == {"types": NOW, "offerings": NOW, "spot": LATER}


def test_an_unknown_part_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="no such part weather; there are types, offerings"):
        Region().refresh(("types", "weather"), NOW)


def test_a_part_that_fails_keeps_no_other_from_being_refreshed() -> None:
    region = Region(FailingCatalogue)
    results = region.refresh((), NOW)
    assert results["prices"] == "the price list is throttled"
    assert [part for part, result in results.items() if result != "ok"] == ["prices"]
    assert region.observer.problems == [("", "refresh prices", "the price list is throttled")]


def test_images_of_the_versions_in_use_are_stored() -> None:
    region = Region()
    region.refresh(("clusters", "types", "offerings", "images"), NOW)
    wanted = region.refresh.images.by_parameters(list(parameters("1.38")))
    assert region.ledger.catalogue().images == wanted
    assert len(wanted) >= 8


def test_a_clusters_facts_are_refreshed_and_what_is_ours_stays() -> None:
    region = Region()
    region.refresh(("clusters",), LATER)
    assert region.ledger.cluster(CLUSTER) == connected(version="1.38", refreshed=LATER, **OURS)


def test_a_token_made_while_eks_was_asked_is_kept() -> None:
    region = Region()
    region.directory.meanwhile[CLUSTER] = connected(token_hashes=("new", "old"))
    region.refresh(("clusters",), NOW)
    assert region.ledger.cluster(CLUSTER).token_hashes == ("new", "old")


def test_a_cluster_disconnected_meanwhile_stays_away() -> None:
    region = Region()
    region.directory.meanwhile[CLUSTER] = None
    assert region.refresh(("clusters",), NOW) == {"clusters": "ok"}
    assert region.ledger.clusters() == ()


def test_a_cluster_eks_does_not_know_is_told_and_kept() -> None:
    region = Region()
    region.ledger.put_cluster(connected(name="deleted"))
    assert region.refresh(("clusters",), NOW) == {"clusters": "ok"}
    assert region.ledger.cluster(CLUSTER).version == "1.38"
    assert region.observer.problems[0][0] == "deleted"
    assert "nodewright disconnect" in region.observer.problems[0][2]


def test_a_cluster_that_cannot_be_described_keeps_no_other_from_being_refreshed() -> None:
    region = Region()
    region.directory.throttled.add("a-first")
    region.ledger.put_cluster(connected(name="a-first"))
    assert region.refresh(("clusters",), NOW) == {"clusters": "a-first: EKS is throttled"}
    assert region.ledger.cluster(CLUSTER).version == "1.38"
