from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from nodewright.domain.claims import NodeClaim
from nodewright.domain.interruption import Interruption, read
from nodewright.domain.interruption.deciding import retiring
from nodewright.domain.retirement import Reason, Retirement, Step
from nodewright.domain.retiring import begin
from tests.builders import NOW, claim
from tests.events.samples import INSTANCE, Json, of

DAY = timedelta(days=1)
START = NOW + timedelta(days=13, hours=22)


def told(name: str, **detail: Json) -> Interruption:
    found = read(of(name, INSTANCE, detail=detail), NOW)
    assert found is not None
    return found


def decided(now: datetime, known: NodeClaim, interruption: Interruption, lead: timedelta = DAY) -> Retirement | None:
    found = retiring(known, interruption, lead, now)
    return found.retirement if found else None


def under_way(reason: Reason, **changes: object) -> NodeClaim:
    begun = begin(claim(version=7), reason, NOW)
    assert begun is not None
    assert begun.retirement is not None
    return replace(begun, retirement=replace(begun.retirement, **changes), version=8)  # type: ignore[arg-type]


def test_a_spot_notice_takes_the_node_now_and_by_its_deadline() -> None:
    found = decided(NOW, claim(version=7), told("SpotInterruption"))
    assert found is not None
    assert (found.reason, found.next_at, found.deadline) == ("spot-interruption", NOW, NOW + timedelta(minutes=2))


@pytest.mark.parametrize("name", ["SpotInterruption", "StateChange"])
def test_the_same_again_changes_nothing(name: str) -> None:
    once = retiring(claim(version=7), told(name), DAY, NOW)
    assert once is not None
    assert retiring(replace(once, version=8), told(name), DAY, NOW + timedelta(seconds=30)) is None


@pytest.mark.parametrize("known", ["empty", "expired", "rebalance", "scheduled-event", "pool-deleted"])
def test_a_spot_notice_takes_over_what_is_under_way_where_it_stands(known: Reason) -> None:
    found = decided(NOW, under_way(known, step=Step.DRAIN), told("SpotInterruption"))
    assert found is not None
    assert (found.reason, found.step, found.epoch) == ("spot-interruption", Step.DRAIN, 9)


def test_a_warning_that_comes_after_the_end_changes_nothing() -> None:
    assert decided(NOW, under_way("instance-gone"), told("SpotInterruption")) is None


@pytest.mark.parametrize("step", [Step.TERMINATE, Step.FORGET])
@pytest.mark.parametrize("state", ["shutting-down", "terminated", "stopping"])
def test_the_end_we_made_ourselves_changes_nothing(step: Step, state: str) -> None:
    assert decided(NOW, under_way("spot-interruption", step=step), told("StateChange", state=state)) is None


def test_a_scheduled_event_begins_the_lead_before_its_start() -> None:
    found = decided(NOW, claim(version=7), told("ScheduledEvent"))
    assert found is not None
    assert (found.not_before, found.next_at, found.deadline) == (START - DAY, START - DAY, START)
    assert not found.has_begun(NOW)


def test_a_scheduled_event_within_the_lead_begins_at_once() -> None:
    found = decided(NOW, claim(version=7), told("ScheduledEvent"), lead=timedelta(days=30))
    assert found is not None
    assert found.not_before == NOW


def test_a_scheduled_event_told_again_changes_nothing() -> None:
    once = retiring(claim(version=7), told("ScheduledEvent"), DAY, NOW)
    assert once is not None
    assert decided(NOW + DAY, replace(once, version=8), told("ScheduledEvent", statusCode="ongoing")) is None


@pytest.mark.parametrize("start", ["Sat, 10 Jan 2026 10:00:00 GMT", "Tue, 20 Jan 2026 10:00:00 GMT"])
def test_a_scheduled_event_that_moved_moves_its_retirement(start: str) -> None:
    once = retiring(claim(version=7), told("ScheduledEvent"), DAY, NOW)
    assert once is not None
    moved = told("ScheduledEvent", startTime=start)
    found = decided(NOW, replace(once, version=8), moved)
    assert found is not None
    assert moved.deadline is not None
    assert (found.not_before, found.deadline, found.epoch) == (moved.deadline - DAY, moved.deadline, 9)


def test_a_scheduled_event_that_is_put_off_stops_no_drain_that_has_begun() -> None:
    draining = under_way("scheduled-event", step=Step.DRAIN, deadline=NOW + timedelta(hours=1))
    assert decided(NOW, draining, told("ScheduledEvent")) is None


def test_a_node_that_is_leaving_anyway_leaves_on_and_gets_the_deadline() -> None:
    found = decided(NOW + timedelta(hours=1), under_way("pool-deleted", step=Step.DRAIN), told("ScheduledEvent"))
    assert found is not None
    assert (found.not_before, found.deadline, found.step) == (NOW, START, Step.DRAIN)
