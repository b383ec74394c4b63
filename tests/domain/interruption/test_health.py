from datetime import UTC, datetime, timedelta

import pytest

from nodewright.domain.interruption import Interruption, UnreadableEventError
from nodewright.domain.interruption.health import HEALTH, UNDATED_GRACE
from tests.builders import NOW
from tests.events.samples import INSTANCE, OTHER, Json, sample

START = datetime(2026, 1, 15, 10, tzinfo=UTC)


def told(**detail: Json) -> Interruption:
    found = read(**detail)
    assert found is not None
    return found


def read(**detail: Json) -> Interruption | None:
    return HEALTH.read(sample("ScheduledEvent", detail), NOW)


def test_every_instance_is_told_once_and_nothing_else() -> None:
    found = told(affectedEntities=[{"entityValue": each} for each in (OTHER, "vol-0abc", INSTANCE, OTHER, "h-0abc")])
    assert found.instance_ids == (OTHER, INSTANCE)


def test_it_is_announced_for_its_start() -> None:
    found = told()
    assert (found.reason, found.deadline, found.scheduled, found.retires) == ("scheduled-event", START, True, True)


def test_the_start_may_be_in_iso_format() -> None:
    assert told(startTime="2026-01-15T10:00:00Z").deadline == START


@pytest.mark.parametrize("text", [None, ""])
def test_without_a_start_an_hour_is_left(text: Json) -> None:
    assert told(startTime=text).deadline == NOW + UNDATED_GRACE == NOW + timedelta(hours=1)


@pytest.mark.parametrize("text", ["soon", 17, "Thu, 15 Jan 2026 10:00:00", "2026-01-15T10:00:00", ["x"]])
def test_a_start_that_cannot_be_read_is_refused(text: Json) -> None:
    with pytest.raises(UnreadableEventError, match=r"detail.startTime"):
        told(startTime=text)


@pytest.mark.parametrize("status", ["upcoming", "open", "ongoing", None])
def test_until_it_is_closed_it_holds(status: Json) -> None:
    assert told(statusCode=status).retires


def test_closed_it_is_withdrawn_also_for_what_is_resolved() -> None:
    found = told(statusCode="closed", affectedEntities=[{"entityValue": INSTANCE, "status": "RESOLVED"}])
    assert (found.withdraws, found.retires, found.instance_ids) == (True, False, (INSTANCE,))


def test_what_is_resolved_is_affected_no_more() -> None:
    entities: Json = [{"entityValue": INSTANCE, "status": "RESOLVED"}, {"entityValue": OTHER, "status": "PENDING"}]
    assert told(affectedEntities=entities).instance_ids == (OTHER,)


@pytest.mark.parametrize(
    "detail",
    [
        {"service": "RDS"},
        {"service": None},
        {"eventTypeCategory": "issue"},
        {"eventTypeCategory": "accountNotification"},
        {"eventTypeCategory": None},
    ],
)
def test_other_services_and_mere_news_mean_nothing(detail: dict[str, Json]) -> None:
    assert read(**detail) is None


@pytest.mark.parametrize("entities", [[], None, [{"entityValue": "vol-0abc"}], [{}, "i-0abc", {"entityValue": 3}]])
def test_without_an_instance_it_means_nothing(entities: Json) -> None:
    assert read(affectedEntities=entities) is None


@pytest.mark.parametrize("entities", ["i-0abc", 3, {"entityValue": "i-0abc"}])
def test_entities_that_are_no_list_are_refused(entities: Json) -> None:
    with pytest.raises(UnreadableEventError, match=r"detail.affectedEntities"):
        read(affectedEntities=entities)
