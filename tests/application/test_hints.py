from collections.abc import Callable
from datetime import timedelta

import pytest

from nodewright.adapters.memory import InMemoryLedger, RecordedHints, RecordingObserver, VirtualClock
from nodewright.application.errors import (
    ConflictError,
    NotFoundError,
    OutsideError,
    RefusedError,
    UnavailableError,
)
from nodewright.application.hints import await_second, carry_out, is_answered, is_overtaken
from tests.application.world import CLUSTER, NOW


def carried_out(run: Callable[[], object], hints: RecordedHints) -> RecordingObserver:
    observer = RecordingObserver()
    carry_out(CLUSTER, run, duty="provision", hints=hints, observer=observer, clock=VirtualClock(NOW))
    return observer


def failing(error: Exception) -> Callable[[], object]:
    def run() -> object:
        raise error

    return run


def test_a_run_that_succeeds_sends_nothing() -> None:
    hints = RecordedHints()
    assert carried_out(lambda: None, hints).problems == []
    assert hints.sent == []


@pytest.mark.parametrize("error", [UnavailableError("throttled"), ConflictError("somebody was first")])
def test_what_may_succeed_later_sends_one_new_hint(error: OutsideError) -> None:
    hints = RecordedHints()
    observer = carried_out(failing(error), hints)
    assert [(hint.cluster, hint.duty) for hint in hints.sent] == [(CLUSTER, "provision")]
    assert observer.problems == [(CLUSTER, "provision", f"{error}; trying again")]


def test_the_new_hint_is_no_double_of_the_one_being_carried_out() -> None:
    hints = RecordedHints()
    hints.send(CLUSTER, "provision", NOW)
    carried_out(failing(UnavailableError("throttled")), hints)
    assert len(hints.sent) == 2


@pytest.mark.parametrize("error", [RefusedError("no right to do it"), NotFoundError("no such cluster")])
def test_what_cannot_succeed_is_told_and_not_tried_again(error: OutsideError) -> None:
    hints = RecordedHints()
    assert carried_out(failing(error), hints).problems == [(CLUSTER, "provision", str(error))]
    assert hints.sent == []


def test_a_fault_of_ours_is_seen() -> None:
    with pytest.raises(KeyError):
        carried_out(failing(KeyError("x")), RecordedHints())


@pytest.mark.parametrize(
    ("sent", "snapshot", "answered"),
    [
        pytest.param(100, None, False, id="nothing ran yet"),
        pytest.param(100, 90, False, id="the snapshot is older"),
        pytest.param(100, 500, False, id="later hints of its second were merged into it"),
        pytest.param(100, 1000, True, id="its second was over"),
        pytest.param(900, 1040, True, id="its second was just over"),
        pytest.param(None, 5000, False, id="urgent"),
    ],
)
def test_a_snapshot_answers_hints_of_seconds_that_were_over(
    sent: int | None, snapshot: int | None, answered: bool
) -> None:
    ledger = InMemoryLedger()
    if snapshot is not None:
        ledger.set_last_run(CLUSTER, "provision", NOW + timedelta(milliseconds=snapshot))
    moment = None if sent is None else NOW + timedelta(milliseconds=sent)
    assert is_answered(ledger, CLUSTER, "provision", moment) is answered


@pytest.mark.parametrize(("sent", "now", "waited"), [(100, 200, 850), (900, 910, 140), (100, 3000, 0), (None, 100, 0)])
def test_one_waits_for_the_end_of_a_hints_second(sent: int | None, now: int, waited: int) -> None:
    started = NOW + timedelta(milliseconds=now)
    clock = VirtualClock(started)
    await_second(None if sent is None else NOW + timedelta(milliseconds=sent), clock)
    assert clock.now() - started == timedelta(milliseconds=waited)


def test_what_was_urgent_is_urgent_again() -> None:
    hints, observer = RecordedHints(), RecordingObserver()
    run = failing(UnavailableError("throttled"))
    carry_out(CLUSTER, run, duty="provision", hints=hints, observer=observer, clock=VirtualClock(NOW), urgent=True)
    assert [hint.urgent for hint in hints.sent] == [True]


@pytest.mark.parametrize(("snapshot", "overtaken"), [(None, False), (-500, False), (0, False), (49, False), (50, True)])
def test_an_urgent_hint_is_overtaken_by_a_snapshot_after_it(snapshot: int | None, overtaken: bool) -> None:
    ledger = InMemoryLedger()
    if snapshot is not None:
        ledger.set_last_run(CLUSTER, "provision", NOW + timedelta(milliseconds=snapshot))
    assert is_overtaken(ledger, CLUSTER, "provision", NOW) is overtaken
