"""What holds for every kind of event."""

import json
from datetime import timedelta

import pytest

from nodewright.domain.interruption import EVENTS, Event, UnreadableEventError, read
from sandbox.lambdas.event_pattern import matches
from tests.builders import NOW
from tests.events.samples import INSTANCE, NAMES, Json, sample, text, without_none

EVERY = pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.name)


def rule(event: Event) -> dict[str, Json]:
    """The event pattern of its rule."""
    wanted: dict[str, Json] = {"source": [event.source], "detail-type": [event.detail_type]}
    return {**wanted, "detail": dict(event.pattern)} if event.pattern else wanted  # type: ignore[arg-type]


def test_there_is_a_sample_of_each_and_each_sample_is_of_one() -> None:
    assert sorted(event.name for event in EVENTS) == NAMES


@EVERY
def test_its_pattern_picks_its_sample_and_no_other(event: Event) -> None:
    assert [name for name in NAMES if matches(rule(event), sample(name))] == [event.name]


@EVERY
def test_its_sample_is_read_and_names_the_instance(event: Event) -> None:
    told = read(sample(event.name), NOW)
    assert told is not None
    assert told.instance_ids[0] == INSTANCE
    assert told.event_id == sample(event.name)["id"]
    assert told.noticed == NOW


@EVERY
@pytest.mark.parametrize("field", ["id", "detail"])
def test_what_lacks_a_field_is_refused_by_name(event: Event, field: str) -> None:
    with pytest.raises(UnreadableEventError, match=rf"{event.detail_type}.*{field} is missing"):
        read(without_none({**sample(event.name), field: None}), NOW)


@EVERY
@pytest.mark.parametrize("detail", ["", 3, [], ["i-0abc"]])
def test_details_of_another_kind_are_refused(event: Event, detail: Json) -> None:
    with pytest.raises(UnreadableEventError, match="detail is"):
        read({**sample(event.name), "detail": detail}, NOW)


@EVERY
@pytest.mark.parametrize("time", [None, "", "yesterday", 7, "2026-01-01T12:00:00"])
def test_without_a_readable_time_it_counts_as_sent_now(event: Event, time: Json) -> None:
    told = read(sample(event.name, time=time), NOW + timedelta(hours=3))
    assert told is not None
    assert told.noticed == NOW + timedelta(hours=3)


@EVERY
def test_a_clock_that_is_ahead_of_ours_does_not_move_it_into_the_future(event: Event) -> None:
    told = read(sample(event.name, time="2026-01-01T12:01:00Z"), NOW)
    assert told is not None
    assert told.noticed == NOW


@pytest.mark.parametrize("name", NAMES)
def test_a_message_cut_anywhere_is_no_event(name: str) -> None:
    whole = text(name)
    for end in range(0, len(whole) - 3, 40):
        with pytest.raises(ValueError, match=r"."):
            json.loads(whole[:end])
        with pytest.raises(UnreadableEventError, match="no EventBridge event"):
            read(whole[:end], NOW)


@pytest.mark.parametrize("raw", [None, [], "text", 3, {}, {"source": "aws.ec2"}, {"detail-type": "AWS Health Event"}])
def test_what_is_no_event_is_refused(raw: object) -> None:
    with pytest.raises(UnreadableEventError, match="no EventBridge event"):
        read(raw, NOW)


def test_an_event_of_another_kind_means_nothing() -> None:
    assert read({"source": "aws.ec2", "detail-type": "EBS Volume Notification", "detail": {}}, NOW) is None
    assert read({"source": ["aws.ec2"], "detail-type": {}, "detail": {}}, NOW) is None
