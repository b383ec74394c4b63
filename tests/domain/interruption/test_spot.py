from datetime import timedelta

import pytest

from nodewright.domain.interruption import Interruption, UnreadableEventError
from nodewright.domain.interruption.spot import SPOT
from tests.builders import NOW
from tests.events.samples import Json, sample

LATER = NOW + timedelta(seconds=20)


def told(**detail: Json) -> Interruption:
    return SPOT.read(sample("SpotInterruption", {name.replace("_", "-"): each for name, each in detail.items()}), LATER)


@pytest.mark.parametrize("action", ["terminate", "stop"])
def test_two_minutes_are_left_from_when_ec2_said_so(action: str) -> None:
    told_of = told(instance_action=action)
    assert (told_of.reason, told_of.deadline) == ("spot-interruption", NOW + timedelta(minutes=2))
    assert told_of.retires
    assert told_of.cools_down


def test_hibernation_has_begun_already() -> None:
    assert told(instance_action="hibernate").deadline == NOW


def test_the_instance_is_never_taken_from_the_odd_arn() -> None:
    assert told(instance_id="i-0aaa").instance_ids == ("i-0aaa",)


@pytest.mark.parametrize("name", [None, "", "i-", "vol-0abc", "0b662ef9931388ba0", "i-0abc ", "I-0ABC", 5, ["i-0abc"]])
def test_without_an_instance_it_is_refused(name: Json) -> None:
    with pytest.raises(UnreadableEventError, match=r"detail.instance-id"):
        told(instance_id=name)


@pytest.mark.parametrize("action", [None, "", "reboot", ["terminate"]])
def test_an_action_nobody_documented_is_refused(action: Json) -> None:
    with pytest.raises(UnreadableEventError, match=r"detail.instance-action"):
        told(instance_action=action)


@pytest.mark.parametrize(("minutes", "stale"), [(0, False), (9, False), (10, True), (600, True)])
def test_what_it_warned_of_has_happened_or_never_will_after_ten_minutes(minutes: int, stale: bool) -> None:
    assert told().is_stale(NOW + timedelta(minutes=minutes)) is stale
