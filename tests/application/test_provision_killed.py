"""Provision killed between any two calls: the next run finishes with the same request and buys nothing twice."""

from contextlib import suppress
from datetime import timedelta

import pytest

from nodewright.application.reservations import LAUNCH_TIMEOUT, encode_request
from nodewright.domain.claims import ClaimState
from tests.application.killing import KilledError
from tests.application.provisioning import SMALL, SPOT, killed_at, world
from tests.application.world import CLUSTER, LEASE
from tests.builders import pod, pods

CALLS = 25  # more than a run that buys two launches makes


@pytest.mark.parametrize("calls", range(1, CALLS))
def test_killed_after_any_call_the_next_run_finishes_and_buys_nothing_twice(calls: int) -> None:
    waiting = (*pods(4, cpu="900m"), pod("large", cpu="6"))
    undisturbed, killed = world(*waiting), world(*waiting)
    undisturbed.provision()
    assert len(undisturbed.fuse.made) < CALLS
    killed.fuse.renew(calls)
    with suppress(KilledError):
        killed.provision()
    killed.wait_and_provision()
    killed.assert_whole(5)
    assert len(killed.running) == len(undisturbed.running)
    requests = {call.launch_id: call for call in killed.fleet.calls}
    assert all(call == requests[call.launch_id] for call in killed.fleet.calls)


@pytest.mark.parametrize("calls", range(1, CALLS))
def test_killed_again_while_finishing_nothing_is_bought_twice(calls: int) -> None:
    here = world(*pods(4, cpu="900m"), pod("large", cpu="6"))
    killed_at(here, "InMemoryFleet.launch")
    here.later(LEASE)
    here.fuse.renew(calls)
    with suppress(KilledError):
        here.provision()
    here.wait_and_provision()
    here.assert_whole(5)
    assert len(here.running) == 2


def test_killed_between_reservation_and_launch_the_same_request_is_sent_later() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryLedger.reserve")
    (record,) = here.ledger.launches(CLUSTER)
    assert (here.fleet.calls, len(here.claims)) == ([], 2)
    here.wait_and_provision()
    assert [encode_request(call) for call in here.fleet.calls] == [record.request]
    here.assert_whole(4)


def test_killed_before_what_came_is_stored_the_same_request_finds_it() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryFleet.launch")
    assert {claim.state for claim in here.claims} == {ClaimState.RESERVED}
    here.wait_and_provision()
    assert here.fleet.calls[0] == here.fleet.calls[1]
    assert len(here.running) == 2
    here.assert_whole(4)


def test_nobody_touches_a_launch_while_its_owner_may_live() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryLedger.reserve")
    here.fuse.renew()
    here.later(LEASE - timedelta(seconds=1))
    here.provision()
    assert here.fleet.calls == []
    assert {claim.state for claim in here.claims} == {ClaimState.RESERVED}


def test_past_its_deadline_a_launch_is_given_up_and_its_pods_planned_anew_in_the_same_run() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryLedger.reserve")
    given_up = {claim.id for claim in here.claims}
    here.fuse.renew()
    here.later(LAUNCH_TIMEOUT + timedelta(seconds=1))
    assert here.provision().launched == 2
    assert not given_up & {claim.id for claim in here.claims}
    here.assert_whole(4)


def test_past_its_deadline_what_a_launch_did_buy_is_kept() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryFleet.launch")
    here.fuse.renew()
    here.later(LAUNCH_TIMEOUT + timedelta(seconds=1))
    here.provision()
    assert len(here.fleet.calls) == 1
    assert len(here.running) == 2
    here.assert_whole(4)


def test_an_instance_that_died_before_its_launch_was_finished_is_bought_anew() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryFleet.launch")
    here.fleet.terminate([here.running[0].id])
    here.wait_and_provision()
    assert len(here.fleet.instances) == 3
    here.assert_whole(4)


def test_what_a_finished_launch_lacked_cools_down_and_is_bought_elsewhere_in_the_same_run() -> None:
    here = world(*pods(4, cpu="900m"), of=SMALL)
    killed_at(here, "InMemoryLedger.reserve")
    here.fleet.room = dict(SPOT)
    here.wait_and_provision()
    assert {instance.capacity_type for instance in here.running} == {"on-demand"}
    assert len(here.observer.plans) == 2  # the killed run's, and one that knew of what cools down
    here.assert_whole(4)


def test_a_finished_launch_that_is_refused_is_planned_anew_in_the_same_run() -> None:
    here = world(*pods(4, cpu="900m"))
    killed_at(here, "InMemoryLedger.reserve")
    here.fleet.templates.clear()  # so EC2 refuses the old request
    here.wait_and_provision()
    assert "no launch template" in here.problems()
    here.assert_whole(4)
