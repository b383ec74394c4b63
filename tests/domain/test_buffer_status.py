"""What a capacity buffer's status comes to say."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.domain.buffer_status import (
    PROVISIONING,
    READY,
    RESOLVED,
    TOLD,
    BufferReading,
    BufferStatus,
    Condition,
    UnitRoom,
    status_of,
    unit_rooms,
)
from nodewright.domain.plans import Foresight, Nomination, Unschedulable
from nodewright.domain.pods import PodKey
from tests.builders import NOW

SPARE = PodKey("shop", "spare")


def reading(units: int = 3, reason: str = RESOLVED, told: BufferStatus = BufferStatus()) -> BufferReading:  # noqa: B008
    wanted = BufferStatus(replicas=units if reason == RESOLVED else None, template="unit")
    return BufferReading(SPARE, 7, "12", reason, "as read", wanted, told)


def said(status: BufferStatus, kind: str) -> tuple[str, str, str]:
    found = status.condition(kind)
    return ("", "", "") if found is None else (found.status, found.reason, found.message)


@pytest.mark.parametrize(
    ("units", "room", "status", "reason", "message"),
    [
        (3, UnitRoom(there=3), "True", "FitsExistingCapacity", "all units (3) fit on nodes that are there"),
        (3, UnitRoom(there=1), "False", "RequiresNewCapacity", "1 of 3 units fit on nodes that are there, 2 on nodes"),
        (3, UnitRoom(1, 2, "LimitReached: cpu"), "False", "RequiresNewCapacity", "nothing is bought for 2: LimitReach"),
        (0, UnitRoom(), "False", "BufferEmpty", "the buffer wants no units"),
    ],
)
def test_it_is_said_whether_there_is_room_for_the_units(
    units: int, room: UnitRoom, status: str, reason: str, message: str
) -> None:
    status_now = status_of(reading(units), room, NOW)
    assert said(status_now, READY) == ("True", RESOLVED, "as read")
    assert said(status_now, PROVISIONING)[:2] == (status, reason)
    assert message in said(status_now, PROVISIONING)[2]
    assert (status_now.replicas, status_now.template) == (units, "unit")


def test_a_buffer_that_cant_be_read_is_not_ready_and_keeps_nothing() -> None:
    status = status_of(reading(reason="PodTemplateNotFound"), None, NOW)
    assert said(status, READY) == ("False", "PodTemplateNotFound", "as read")
    assert said(status, PROVISIONING)[:2] == ("False", "NotReadyForProvisioning")
    assert status.replicas is None


def test_while_it_isnt_known_what_becomes_of_units_what_was_told_stays() -> None:
    assert status_of(reading(), None, NOW).condition(PROVISIONING) is None
    told = status_of(reading(), UnitRoom(there=3), NOW)
    assert status_of(reading(told=told), None, NOW + timedelta(hours=1)) == told


def test_told_again_it_is_the_same_and_a_condition_keeps_its_time_until_it_turns() -> None:
    hour = timedelta(hours=1)
    told = status_of(reading(), UnitRoom(there=1), NOW)
    assert status_of(reading(told=told), UnitRoom(there=1), NOW + hour) == told
    other = status_of(reading(told=told), UnitRoom(there=2), NOW + hour).condition(PROVISIONING)
    turned = status_of(reading(told=told), UnitRoom(there=3), NOW + hour).condition(PROVISIONING)
    assert other is not None
    assert turned is not None
    assert (other.since, turned.since) == (NOW, NOW + hour)


def test_the_generation_that_was_read_is_named() -> None:
    told = status_of(reading(), UnitRoom(there=3), NOW)
    newer = status_of(replace(reading(told=told), generation=8), UnitRoom(there=3), NOW)
    assert [each.generation for each in newer.conditions] == [8, 8, 8]


def written_over(status: BufferStatus) -> BufferStatus:
    """As by another autoscaler with the same strategy."""
    theirs = {
        READY: Condition(READY, "True", "AttributesSetSuccessfully", "ready", NOW),
        PROVISIONING: Condition(PROVISIONING, "True", "CapacityProvisioned", "", NOW),
    }
    conditions = tuple(theirs.pop(each.type, each) for each in status.conditions)
    return replace(status, replicas=9, conditions=(*conditions, *theirs.values()))


@pytest.mark.parametrize("room", [UnitRoom(there=1), None])
def test_who_writes_over_it_has_the_last_word_until_there_is_something_else_to_say(room: UnitRoom | None) -> None:
    over = written_over(status_of(reading(), UnitRoom(there=1), NOW))
    assert status_of(reading(told=over), room, NOW + timedelta(hours=1)) == over
    changed = status_of(reading(told=over), UnitRoom(there=2), NOW)
    assert said(changed, PROVISIONING)[:2] == ("False", "RequiresNewCapacity")
    assert said(changed, READY) == ("True", RESOLVED, "as read")
    assert changed.replicas == 3
    assert status_of(reading(told=written_over(changed)), UnitRoom(there=2), NOW) == written_over(changed)


@pytest.mark.parametrize(
    "other",
    [
        replace(reading(), generation=8),
        replace(reading(), message="as read anew"),
        replace(reading(), wanted=BufferStatus(replicas=3, template="other")),
    ],
)
def test_another_reading_is_something_else_to_say(other: BufferReading) -> None:
    over = written_over(status_of(reading(), UnitRoom(there=1), NOW))
    again = status_of(replace(other, told=over), None, NOW)
    assert said(again, READY) == ("True", RESOLVED, other.message)
    assert said(again, PROVISIONING) == said(over, PROVISIONING)


def test_what_another_said_before_we_said_anything_is_written_over() -> None:
    status = status_of(reading(told=written_over(BufferStatus())), UnitRoom(there=1), NOW)
    assert said(status, PROVISIONING)[:2] == ("False", "RequiresNewCapacity")


def test_conditions_of_others_stay_where_they_are() -> None:
    other = Condition("LimitedByQuotas", "True", "ResourceQuotasAllocated", "", NOW)
    status = status_of(reading(told=BufferStatus((other,))), UnitRoom(there=3), NOW)
    assert [each.type for each in status.conditions] == ["LimitedByQuotas", READY, PROVISIONING, TOLD]
    assert status.conditions[0] == other
    unknown = status_of(reading(), None, NOW)
    later = status_of(reading(told=unknown), UnitRoom(there=3), NOW)
    assert [each.type for each in later.conditions] == [READY, PROVISIONING, TOLD]


def test_units_belong_to_the_buffer_in_whose_name_they_are() -> None:
    def unit(buffer: str, number: int) -> PodKey:
        return PodKey("shop", f"{buffer}-headroom-{number}")

    headroom = Foresight(
        nominations=(
            Nomination("ready", (unit("spare", 0), unit("a-headroom-1", 0))),
            Nomination("starting", (unit("spare", 1),)),
        ),
        left=(
            Unschedulable(unit("spare", 2), "LimitReached", "first"),
            Unschedulable(unit("spare", 3), "NoInstanceType", "then"),
        ),
    )
    assert unit_rooms(headroom, {"ready"}) == {
        SPARE: UnitRoom(1, 2, "LimitReached: first"),
        PodKey("shop", "a-headroom-1"): UnitRoom(there=1),
    }
