from datetime import timedelta

import pytest

from nodewright.domain.interruption import Interruption, UnreadableEventError
from nodewright.domain.interruption.state_change import STATE_CHANGE
from sandbox.lambdas.event_pattern import matches
from tests.builders import NOW
from tests.events.samples import Json, sample

LEAVING = ["stopping", "stopped", "shutting-down", "terminated"]


def told(state: Json) -> Interruption | None:
    return STATE_CHANGE.read(sample("StateChange", {"state": state}), NOW)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("stopping", "instance-stopped"),
        ("stopped", "instance-stopped"),
        ("shutting-down", "instance-gone"),
        ("terminated", "instance-gone"),
        ("Terminated", "instance-gone"),
        ("STOPPED", "instance-stopped"),
    ],
)
def test_an_instance_that_leaves_is_told(state: str, reason: str) -> None:
    found = told(state)
    assert found is not None
    assert (found.reason, found.deadline, found.cools_down, found.common) == (reason, None, False, True)


@pytest.mark.parametrize("state", ["pending", "running", "Running"])
def test_an_instance_that_comes_means_nothing(state: str) -> None:
    assert told(state) is None


@pytest.mark.parametrize("state", [None, "", "stop", "term", "stopping,stopped", "shutting", "down", 3, ["stopped"]])
def test_a_fragment_is_no_state(state: Json) -> None:
    with pytest.raises(UnreadableEventError, match=r"detail.state"):
        told(state)


@pytest.mark.parametrize(
    ("state", "wanted"),
    [*[(state, True) for state in LEAVING], ("Stopped", True), ("pending", False), ("running", False), ("stop", False)],
)
def test_its_rule_lets_exactly_those_through(state: str, wanted: bool) -> None:
    assert matches({"detail": dict(STATE_CHANGE.pattern)}, sample("StateChange", {"state": state})) is wanted


@pytest.mark.parametrize(("state", "stale"), [("stopped", True), ("stopping", True), ("terminated", False)])
def test_hours_later_only_an_end_is_still_true(state: str, stale: bool) -> None:
    found = told(state)
    assert found is not None
    assert found.is_stale(NOW + timedelta(hours=5)) is stale
