"""The truth-keeper against a world in memory."""

from contextlib import suppress
from datetime import timedelta

import pytest

from nodewright.adapters.memory import Mishap
from nodewright.application.errors import NotFoundError, UnavailableError, UnreachableError
from nodewright.application.launching import assign
from nodewright.application.ports import FleetRequest
from nodewright.application.reconcile import MISSED_AFTER
from nodewright.application.reservations import LAUNCH_TIMEOUT, encode_request
from nodewright.domain.claims import ClaimState, LaunchRecord
from nodewright.domain.nominations import PATIENCE
from nodewright.domain.retiring import begin
from nodewright.domain.rooms import STARTUP_PATIENCE
from tests.application.killing import KilledError
from tests.application.world import CLUSTER, LEASE, MINUTE, NOW, World, connected
from tests.builders import node, pod, pods, pool

OLD = NOW - timedelta(seconds=30)


def world(*, waiting: int = 4) -> World:
    """Pods are half a minute old."""
    made = World()
    made.cluster.add(*pods(waiting, cpu="900m", created=OLD))
    return made


def provisioned() -> World:
    here = world()
    here.provision()
    return here


def test_nodes_that_joined_are_taken_forward() -> None:
    here = provisioned()
    here.join()
    report = here.reconcile()
    assert (report.outcome, report.moved) == ("reconciled", 2)
    assert {claim.state for claim in here.claims} == {ClaimState.INITIALIZED}
    assert {claim.node_name for claim in here.claims} == set(here.cluster.nodes)


def test_a_second_look_moves_nothing() -> None:
    here = provisioned()
    here.join()
    here.reconcile()
    before = here.claims
    assert here.reconcile().moved == 0
    assert here.claims == before


def test_pods_nobody_told_of_wake_provision() -> None:
    here = world()
    assert here.reconcile().missed_pods == 4
    assert here.hinted("provision") == 1


def test_a_pod_whose_own_webhook_is_on_its_way_does_not() -> None:
    here = World()
    here.cluster.add(pod(created=NOW - MISSED_AFTER + timedelta(seconds=1)))
    assert here.reconcile().missed_pods == 0
    here.later(timedelta(seconds=1))
    assert here.reconcile().missed_pods == 1


def test_pods_a_node_is_coming_for_do_not_wake_provision() -> None:
    here = provisioned()
    assert here.reconcile().missed_pods == 0
    here.join(ready=False)
    assert here.reconcile().missed_pods == 0
    assert here.hinted("provision") == 0


def test_pods_that_did_not_fit_on_their_node_after_all_wake_provision() -> None:
    here = provisioned()
    here.join()
    here.reconcile()
    here.later(PATIENCE + timedelta(seconds=1))
    assert here.reconcile().missed_pods == 4
    here.bind_nominated()
    assert here.reconcile().missed_pods == 0


def test_pods_whose_node_has_just_become_ready_wake_nobody() -> None:
    here = provisioned()
    here.join()
    assert [here.reconcile().missed_pods, here.reconcile().missed_pods] == [0, 0]
    here.later(PATIENCE / 2)
    assert here.reconcile().missed_pods == 0
    assert here.hinted("provision") == 0


def test_pods_whose_node_starts_for_too_long_wake_provision() -> None:
    here = provisioned()
    here.later(STARTUP_PATIENCE + timedelta(seconds=1))
    assert here.reconcile().missed_pods == 4


def test_a_pod_that_makes_room_by_preemption_does_not_wake_provision() -> None:
    here = World()
    here.cluster.add(pod(created=OLD, nominated_node_name="n"), node("n"))
    assert here.reconcile().missed_pods == 0
    del here.cluster.nodes["n"]
    assert here.reconcile().missed_pods == 1


def test_a_launch_whose_owner_died_is_finished() -> None:
    here = killed_at("InMemoryFleet.launch")
    here.later(LEASE)
    assert here.reconcile().finished == 1
    here.assert_whole(4)
    assert len(here.running) == 2
    assert here.hinted("provision") == 0


@pytest.mark.parametrize("call", ["claims", "settle_launch"])
def test_nodes_of_a_launch_that_two_runs_finish_are_told_and_counted_once(
    monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    here = killed_at("InMemoryFleet.launch")
    here.later(LEASE)
    launcher, real = here.launcher(), getattr(here.ledger, call)
    rivals = iter((here.launcher(),))

    def overtaken(*args: object) -> object:
        for rival in rivals:
            rival.finish(CLUSTER, here.market().lookup)
        return real(*args)

    monkeypatch.setattr(here.ledger, call, overtaken)
    launcher.finish(CLUSTER, here.market().lookup)
    told = [instance.id for _, _, answer in here.observer.launches for instance in answer.instances]
    assert sorted(told) == sorted(instance.id for instance in here.running)


def test_what_a_run_stored_that_died_half_way_is_told_with_the_rest_by_the_one_that_finishes_it() -> None:
    here = killed_at("InMemoryFleet.launch")
    lookup = here.market().lookup
    first, *_ = assign(here.claims, here.running, lookup)
    here.ledger.settle_launch(CLUSTER, "half of it", [first])
    here.later(LEASE)
    assert here.reconcile().finished == 1
    told = [instance.id for _, _, answer in here.observer.launches for instance in answer.instances]
    assert sorted(told) == sorted(instance.id for instance in here.running)
    assert len(told) == 2


def test_pods_of_a_launch_that_was_given_up_wake_provision_in_the_same_run() -> None:
    here = killed_at("InMemoryLedger.reserve")
    here.later(timedelta(minutes=6))
    report = here.reconcile()
    assert (report.finished, report.missed_pods) == (1, 4)
    assert (here.claims, here.hinted("provision")) == ((), 1)


def test_a_live_launch_is_left_to_its_owner() -> None:
    here = killed_at("InMemoryLedger.reserve")
    assert here.reconcile().finished == 0
    assert len(here.ledger.launches(CLUSTER)) == 1


def test_the_market_is_read_only_when_something_is_to_be_finished() -> None:
    here = provisioned()
    here.fuse.renew()
    here.reconcile()
    assert "InMemoryLedger.catalogue" not in here.fuse.made


def test_nodes_are_registered_though_a_launch_cannot_be_finished() -> None:
    here = provisioned()
    here.join()
    _left_half_done(here, "another")
    here.fleet.mishaps = [Mishap.THROTTLED]
    with pytest.raises(UnavailableError):
        here.reconcile()
    assert {claim.state for claim in here.claims} == {ClaimState.INITIALIZED}


def test_a_throttled_launch_keeps_no_other_from_being_finished() -> None:
    here = killed_at("InMemoryLedger.reserve")
    _left_half_done(here, "another")
    here.fleet.mishaps = [Mishap.THROTTLED]
    here.later(LEASE)
    with pytest.raises(UnavailableError):
        here.reconcile()
    assert [launch.id for launch in here.ledger.launches(CLUSTER)] == ["another"]


def _left_half_done(here: World, launch: str) -> None:
    """A launch without claims that anybody may finish now."""
    request = encode_request(FleetRequest(launch, 1, "spot", (), {}))
    record = LaunchRecord(launch, (), request, here.clock.now(), here.clock.now() + LAUNCH_TIMEOUT)
    here.ledger.reserve(CLUSTER, here.ledger.epoch(CLUSTER), record, ())


@pytest.mark.parametrize("calls", range(1, 20))
def test_killed_after_any_call_the_next_run_ends_right(calls: int) -> None:
    here = killed_at("InMemoryFleet.launch")
    here.join()
    here.later(LEASE)
    here.fuse.renew(calls)
    with suppress(KilledError):
        here.reconcile()
    here.fuse.renew()
    here.later(MINUTE)
    here.reconcile()  # finishes the launch, if that wasn't done
    here.reconcile()  # registers what it brought
    here.assert_whole(4)
    assert len(here.running) == 2
    assert {claim.state for claim in here.claims} == {ClaimState.INITIALIZED}
    assert all(n.labels["karpenter.sh/initialized"] == "true" for n in here.cluster.nodes.values())


def test_a_hint_delivered_twice_is_carried_out_once() -> None:
    here = world()
    assert here.reconcile(NOW).outcome == "reconciled"
    assert here.reconcile(NOW).outcome == "stale-hint"


def test_it_looks_when_the_hints_second_is_over_so_that_it_sees_all_that_was_merged_into_it() -> None:
    here = world()
    here.clock.advance_to(NOW + timedelta(milliseconds=100))
    here.reconcile(here.clock.now())
    last = here.ledger.last_run(CLUSTER, "reconcile")
    assert last is not None
    assert last >= NOW + timedelta(seconds=1)


def test_a_paused_cluster_is_left_alone() -> None:
    here = world()
    here.ledger.put_cluster(connected(paused=True))
    assert here.reconcile().outcome == "paused"
    assert here.hints.sent == []


def test_a_cluster_that_does_not_answer_is_marked_skipped_and_welcomed_back() -> None:
    here = world()
    here.cluster.reachable = False
    with pytest.raises(UnavailableError):
        here.reconcile()
    assert here.ledger.cluster(CLUSTER).unreachable(here.clock.now())
    assert here.reconcile().outcome == "unreachable"
    here.cluster.reachable = True
    here.later(MINUTE)
    assert here.reconcile().outcome == "reconciled"
    assert here.ledger.cluster(CLUSTER).unreachable_until is None


def test_a_cluster_that_is_not_connected_is_named() -> None:
    here = world()
    here.ledger.remove_cluster(CLUSTER)
    with pytest.raises(NotFoundError, match=CLUSTER):
        here.reconcile()


def killed_at(what: str, *more: object) -> World:
    """Provision was killed right after its first call of this."""
    probe, here = world(), world()
    for each in (probe, here):
        each.cluster.add(pool(), *more)  # type: ignore[arg-type]
    probe.provision()
    here.fuse.renew(probe.fuse.made.index(what) + 1)
    with pytest.raises(match=what):
        here.provision()
    here.fuse.renew()
    return here


def test_a_retirement_whose_message_got_lost_is_sent_on() -> None:
    here = provisioned()
    first = here.claims[0]
    wanted = begin(first, "expired", here.clock.now())
    assert wanted is not None
    here.ledger.start_retirements(CLUSTER, [wanted], None)
    assert here.reconcile().redriven == 0, "its own message may be on its way"
    here.later(MINUTE)
    assert here.reconcile().redriven == 1
    assert [turn.claim_id for turn in here.turns.waiting] == [first.id]


def test_retirements_are_sent_on_though_the_cluster_does_not_answer() -> None:
    here = provisioned()
    wanted = begin(here.claims[0], "expired", here.clock.now())
    assert wanted is not None
    here.ledger.start_retirements(CLUSTER, [wanted], None)
    here.later(MINUTE)
    here.cluster.reachable = False
    with pytest.raises(UnreachableError):
        here.reconcile()
    assert len(here.turns.waiting) == 1


def test_a_node_that_somebody_deletes_begins_to_retire() -> None:
    here = provisioned()
    here.join()
    here.reconcile()
    here.cluster.remove_node(here.claims[0].node_name)
    assert here.reconcile().deleted == 1
    retirement = here.claims[0].retirement
    assert retirement is not None
    assert retirement.reason == "node-deleted"


def test_a_node_that_is_still_to_join_is_not_taken_for_a_deleted_one() -> None:
    here = provisioned()
    assert here.reconcile().deleted == 0
