"""The laws of the Ledger port, for the table and for memory alike."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.application.errors import ConflictError, NotFoundError, RefusedError
from nodewright.application.ports import DecisionRecord, Ledger, Price, UnavailableOffering
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.instance_facts import GpuFacts, InstanceFacts
from tests.adapters.builders import NOW, claim, claims, cluster, launch

FACTS = (
    InstanceFacts("g5.xlarge", "amd64", 4, 16384, gpus=(GpuFacts("A10G", "NVIDIA", 1, 24576),)),
    InstanceFacts("m7g.large", "arm64", 2, 8192, clock_speed_mhz=2600),
)


def launched(one: NodeClaim, instance: str) -> NodeClaim:
    return replace(one, state=ClaimState.LAUNCHED, instance_id=instance, instance_type="m7g.large", zone="a")


# ---- Clusters


def test_clusters_come_back_as_they_were_put_sorted_by_name(ledger: Ledger) -> None:
    far = cluster("b", unreachable_until=NOW, refreshed=NOW, paused=True, scheduler_names=("one", "two"))
    ledger.put_cluster(far)
    ledger.put_cluster(cluster("a"))
    assert ledger.clusters() == (cluster("a"), far)
    assert ledger.cluster("b") == far


def test_a_cluster_that_is_put_again_is_replaced(ledger: Ledger) -> None:
    ledger.put_cluster(cluster(unreachable_until=NOW))
    ledger.put_cluster(cluster(version="1.38"))
    assert ledger.clusters() == (cluster(version="1.38"),)


def test_a_removed_cluster_is_not_found_and_removing_it_again_is_fine(ledger: Ledger) -> None:
    ledger.put_cluster(cluster())
    ledger.remove_cluster("prod")
    ledger.remove_cluster("prod")
    assert ledger.clusters() == ()
    with pytest.raises(NotFoundError, match="prod is not connected"):
        ledger.cluster("prod")


def test_unreachable_is_set_and_cleared_without_touching_the_rest(ledger: Ledger) -> None:
    ledger.put_cluster(cluster())
    ledger.mark_unreachable("prod", NOW)
    assert ledger.cluster("prod") == cluster(unreachable_until=NOW)
    ledger.mark_unreachable("prod", None)
    assert ledger.cluster("prod") == cluster()


def test_marking_a_cluster_that_is_not_connected_makes_none(ledger: Ledger) -> None:
    with pytest.raises(NotFoundError):
        ledger.mark_unreachable("prod", NOW)
    assert ledger.clusters() == ()


# ---- Claims and launches


def test_a_reservation_stores_claims_and_launch_and_counts_the_epoch_up(ledger: Ledger) -> None:
    reserved = claims("l1", 2)
    assert ledger.epoch("prod") == 0
    ledger.reserve("prod", 0, launch(count=2), reserved)
    assert ledger.epoch("prod") == 1
    assert ledger.claims("prod") == tuple(reserved)
    assert ledger.launches("prod") == (launch(count=2),)


@pytest.mark.parametrize("stale", [0, 2])
def test_a_reservation_under_another_epoch_changes_nothing(ledger: Ledger, stale: int) -> None:
    ledger.reserve("prod", 0, launch("l1"), claims("l1", 1))
    with pytest.raises(ConflictError):
        ledger.reserve("prod", stale, launch("l2"), claims("l2", 1))
    assert ledger.epoch("prod") == 1
    assert [one.id for one in ledger.launches("prod")] == ["l1"]
    assert [one.id for one in ledger.claims("prod")] == ["l1-00"]


def test_planners_of_different_clusters_do_not_meet(ledger: Ledger) -> None:
    ledger.reserve("prod", 0, launch(), claims("l1", 1))
    ledger.reserve("test", 0, launch(), claims("l1", 1))
    assert (ledger.epoch("prod"), ledger.epoch("test")) == (1, 1)


def test_a_full_reservation_of_96_fits_and_one_more_is_refused(ledger: Ledger) -> None:
    with pytest.raises(RefusedError, match="at most 96"):
        ledger.reserve("prod", 0, launch(count=97), claims("l1", 97))
    ledger.reserve("prod", 0, launch(count=96), claims("l1", 96))
    assert len(ledger.claims("prod")) == 96


def test_an_id_is_reserved_once(ledger: Ledger) -> None:
    ledger.reserve("prod", 0, launch(), claims("l1", 1))
    with pytest.raises(ConflictError):
        ledger.reserve("prod", 1, launch("l2"), claims("l1", 1))
    assert [one.id for one in ledger.launches("prod")] == ["l1"]


def test_a_claim_is_saved_under_its_version(ledger: Ledger) -> None:
    (first,) = claims("l1", 1)
    ledger.reserve("prod", 0, launch(), [first])
    saved = ledger.save_claim("prod", replace(first, node_name="ip-1"))
    assert (saved.node_name, saved.version) == ("ip-1", 1)
    assert ledger.claims("prod") == (saved,)
    with pytest.raises(ConflictError):
        ledger.save_claim("prod", replace(first, node_name="ip-2"))
    assert ledger.claims("prod") == (saved,)


def test_a_claim_that_was_never_reserved_cannot_be_saved(ledger: Ledger) -> None:
    with pytest.raises(ConflictError):
        ledger.save_claim("prod", claim())
    assert ledger.claims("prod") == ()


def test_a_claim_that_is_gone_is_not_listed_and_does_not_come_back(ledger: Ledger) -> None:
    ledger.reserve("prod", 0, launch(), claims("l1", 1))
    ledger.settle_launch("prod", "l1", [launched(claim(), "i-1")])
    (running,) = ledger.claims("prod")
    gone = ledger.save_claim("prod", replace(running, state=ClaimState.GONE))
    assert ledger.claims("prod") == ()
    with pytest.raises(ConflictError):
        ledger.save_claim("prod", gone)
    with pytest.raises(ConflictError):
        ledger.save_claim("prod", running)
    assert ledger.owner("i-1") == ("prod", "l1-00"), "events that come late still find whose it was"


@pytest.mark.parametrize("count", [1, 50, 96])
def test_settling_gives_claims_their_instances_and_the_rest_up(ledger: Ledger, count: int) -> None:
    reserved = claims("l1", count)
    ledger.reserve("prod", 0, launch(count=count), reserved)
    came = [launched(one, f"i-{one.id}") for one in reserved[: count - 1]]
    ledger.settle_launch("prod", "l1", [*came, reserved[-1]])
    assert ledger.claims("prod") == tuple(replace(one, version=1) for one in came)
    assert ledger.launches("prod") == ()
    assert all(ledger.owner(f"i-{one.id}") == ("prod", one.id) for one in came)
    assert ledger.owner("i-other") is None


def test_settling_twice_is_settling_once(ledger: Ledger) -> None:
    reserved = claims("l1", 3)
    came = [launched(reserved[0], "i-0"), launched(reserved[1], "i-1"), reserved[2]]
    ledger.reserve("prod", 0, launch(count=3), reserved)
    assert ledger.settle_launch("prod", "l1", came)
    moved = ledger.save_claim("prod", replace(ledger.claims("prod")[0], node_name="ip-0"))
    assert not ledger.settle_launch("prod", "l1", came)
    assert ledger.claims("prod") == (moved, replace(came[1], version=1))


def test_settling_what_was_half_settled_does_the_rest(ledger: Ledger) -> None:
    reserved = claims("l1", 3)
    ledger.reserve("prod", 0, launch(count=3), reserved)
    assert not ledger.settle_launch("prod", "other", [launched(reserved[0], "i-0")])
    assert len(ledger.launches("prod")) == 1
    rest = (launched(reserved[1], "i-1"), reserved[2])
    assert ledger.settle_launch("prod", "l1", [launched(reserved[0], "i-0"), *rest])
    assert [one.instance_id for one in ledger.claims("prod")] == ["i-0", "i-1"]
    assert ledger.launches("prod") == ()


def test_one_instance_has_one_owner(ledger: Ledger) -> None:
    reserved = claims("l1", 2)
    ledger.reserve("prod", 0, launch(count=2), reserved)
    ledger.settle_launch("prod", "other", [launched(reserved[0], "i-0")])
    with pytest.raises(ConflictError):
        ledger.settle_launch("prod", "l1", [launched(reserved[1], "i-0")])
    assert [one.instance_id for one in ledger.claims("prod")] == ["i-0", ""]
    assert ledger.owner("i-0") == ("prod", "l1-00")
    assert len(ledger.launches("prod")) == 1


def test_a_claim_that_is_made_anew_owns_its_instance_already(ledger: Ledger) -> None:
    (reserved,) = claims("l1", 1)
    ledger.reserve("prod", 0, launch(count=1), [reserved])
    ledger.settle_launch("prod", "l1", [launched(reserved, "i-0")])
    (came,) = ledger.claims("prod")
    ledger.save_claim("prod", replace(came, state=ClaimState.GONE))
    ledger.reserve("prod", 1, launch("l2", count=1), [reserved])
    ledger.settle_launch("prod", "l2", [launched(reserved, "i-0")])
    assert [one.instance_id for one in ledger.claims("prod")] == ["i-0"]
    assert ledger.owner("i-0") == ("prod", "l1-00")


@pytest.mark.parametrize("second", ["i-1", ""])
def test_one_claim_has_one_instance(ledger: Ledger, second: str) -> None:
    ledger.reserve("prod", 0, launch(), claims("l1", 1))
    ledger.settle_launch("prod", "l1", [launched(claim(), "i-0")])
    with pytest.raises(ConflictError, match="has instance i-0"):
        ledger.settle_launch("prod", "l1", [launched(claim(), second)])
    assert ledger.owner("i-1") is None


def test_a_claim_that_was_given_up_takes_no_instance(ledger: Ledger) -> None:
    ledger.reserve("prod", 0, launch(), claims("l1", 1))
    ledger.settle_launch("prod", "l1", claims("l1", 1))
    with pytest.raises(ConflictError, match="gone"):
        ledger.settle_launch("prod", "l1", [launched(claim(), "i-0")])
    assert ledger.owner("i-0") is None


def test_settling_from_an_old_reading_of_a_claim_is_a_conflict(ledger: Ledger) -> None:
    ledger.reserve("prod", 0, launch(), claims("l1", 1))
    changed = ledger.save_claim("prod", replace(claim(), price=1))
    with pytest.raises(ConflictError):
        ledger.settle_launch("prod", "l1", [launched(claim(), "i-0")])
    assert ledger.claims("prod") == (changed,)
    assert len(ledger.launches("prod")) == 1


def test_a_launch_that_is_handed_back_loses_its_lease_only(ledger: Ledger) -> None:
    ledger.reserve("prod", 0, launch(), claims("l1", 1))
    ledger.hand_back_launch("prod", "l1", NOW)
    assert ledger.launches("prod") == (launch(lease_until=NOW),)


def test_handing_back_a_settled_launch_does_not_revive_it(ledger: Ledger) -> None:
    ledger.hand_back_launch("prod", "l1", NOW)
    assert ledger.launches("prod") == ()


# ---- Offerings


def test_an_offering_cools_down_until_its_time(ledger: Ledger) -> None:
    one = UnavailableOffering("m5.large", "us-east-1a", "spot", "ICE", NOW + timedelta(minutes=3))
    every = UnavailableOffering("*", "*", "spot", "quota", NOW + timedelta(minutes=1))
    ledger.mark_unavailable([one, every])
    assert ledger.unavailable_offerings(NOW) == (every, one)
    assert ledger.unavailable_offerings(NOW + timedelta(minutes=1)) == (one,)
    assert ledger.unavailable_offerings(NOW + timedelta(minutes=3)) == ()


def test_of_two_words_on_one_offering_the_longer_counts(ledger: Ledger) -> None:
    short = UnavailableOffering("m5.large", "a", "spot", "short", NOW + timedelta(minutes=1))
    long = replace(short, reason="long", until=NOW + timedelta(minutes=5))
    ledger.mark_unavailable([long, short])
    assert ledger.unavailable_offerings(NOW) == (long,)


def test_many_offerings_cool_down_at_once(ledger: Ledger) -> None:
    until = NOW + timedelta(minutes=3)
    ledger.mark_unavailable([UnavailableOffering(f"m{n:03d}.x", "a", "spot", "ICE", until) for n in range(180)])
    assert len(ledger.unavailable_offerings(NOW)) == 180
    ledger.mark_unavailable([])


# ---- Catalogue


def test_there_is_no_catalogue_before_types_and_offerings_are_known(ledger: Ledger) -> None:
    with pytest.raises(NotFoundError, match="types, offerings"):
        ledger.catalogue()
    ledger.put_catalogue_part("types", FACTS, NOW)
    with pytest.raises(NotFoundError, match="lacks offerings"):
        ledger.catalogue()


def test_the_catalogue_is_what_its_parts_were(ledger: Ledger) -> None:
    on_demand = (Price("m7g.large", "on-demand", "", 81_600_000),)
    spot = (Price("m7g.large", "spot", "us-east-1a", 30_000_001),)
    parts = {
        "types": FACTS,
        "offerings": {"m7g.large": frozenset({"us-east-1a", "us-east-1b"})},
        "prices": on_demand,
        "spot": spot,
        "images": {"/aws/service/x": "ami-1"},
    }
    for index, (part, content) in enumerate(parts.items()):
        ledger.put_catalogue_part(part, content, NOW + timedelta(minutes=index))
    catalogue = ledger.catalogue()
    assert catalogue.facts == FACTS
    assert catalogue.zones_by_type == parts["offerings"]
    assert catalogue.prices == (*on_demand, *spot)
    assert catalogue.images == parts["images"]
    assert catalogue.ages == {part: NOW + timedelta(minutes=index) for index, part in enumerate(parts)}


def test_a_part_is_replaced_whole(ledger: Ledger) -> None:
    ledger.put_catalogue_part("offerings", {}, NOW)
    for minute in range(4):
        ledger.put_catalogue_part("types", FACTS[: minute % 2 + 1], NOW + timedelta(minutes=minute))
        assert ledger.catalogue().facts == FACTS[: minute % 2 + 1]


def test_a_part_nobody_reads_is_refused(ledger: Ledger) -> None:
    with pytest.raises(RefusedError, match="no part 'weather'"):
        ledger.put_catalogue_part("weather", (), NOW)


# ---- Decisions and runs


def test_decisions_come_newest_first(ledger: Ledger) -> None:
    made = [
        DecisionRecord(f"d{n}", NOW + timedelta(seconds=n), "provision", f"{n} nodes", {"pods": ["a/b"], "n": n})
        for n in range(3)
    ]
    for decision in made:
        ledger.record_decision("prod", decision)
    assert ledger.decisions("prod", 2) == (made[2], made[1])
    assert ledger.decisions("prod", 9) == (made[2], made[1], made[0])
    assert ledger.decisions("test", 9) == ()


def test_a_run_is_remembered_and_never_turned_back(ledger: Ledger) -> None:
    assert ledger.last_run("prod", "provision") is None
    ledger.set_last_run("prod", "provision", NOW)
    ledger.set_last_run("prod", "provision", NOW - timedelta(microseconds=1))
    assert ledger.last_run("prod", "provision") == NOW
    assert ledger.last_run("prod", "reconcile") is None
    ledger.set_last_run("prod", "provision", NOW + timedelta(microseconds=1))
    assert ledger.last_run("prod", "provision") == NOW + timedelta(microseconds=1)
