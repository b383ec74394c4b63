"""Retirements of claims, for the table and for memory alike (architecture §4, rules 3 and 4)."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from nodewright.application.errors import ConflictError, NotFoundError, RefusedError
from nodewright.application.retirement_ports import NodeLedger
from nodewright.domain.claims import ClaimState, NodeClaim, withdrawn
from nodewright.domain.retirement import Retirement, Step
from tests.adapters.builders import NOW, claim, claims, launch
from tests.adapters.contracts.racing import at_once

SECOND = timedelta(seconds=1)
LATER = NOW + timedelta(seconds=10)


def retiring(one: NodeClaim, epoch: int = 1, **changes: object) -> NodeClaim:
    retirement = Retirement(epoch, "spot-interruption", NOW, NOW, NOW, deadline=NOW + timedelta(minutes=2))
    return replace(one, retirement=replace(retirement, **changes))  # type: ignore[arg-type]


def started(ledger: NodeLedger, epoch: int = 1, **changes: object) -> NodeClaim:
    """A claim `l1-00` on its way out."""
    ledger.reserve("prod", 0, launch(), claims("l1", 1))
    (one,) = ledger.start_retirements("prod", [retiring(claim(), epoch, **changes)], None)
    return one


def turn(ledger: NodeLedger, epoch: int = 1, now: datetime = NOW, next_at: datetime = LATER) -> NodeClaim:
    return ledger.take_turn("prod", "l1-00", epoch, now, next_at)


# ---- starting


def test_claims_start_to_retire_together(ledger: NodeLedger) -> None:
    ledger.reserve("prod", 0, launch(count=3), claims("l1", 3))
    first, _, third = ledger.claims("prod")
    begun = ledger.start_retirements("prod", [retiring(first, replacements=("l2-00",)), retiring(third)], None)
    assert [one.version for one in begun] == [1, 1]
    assert ledger.claims("prod") == (begun[0], claim("l1-01"), begun[1])


def test_where_one_changed_meanwhile_none_is_started(ledger: NodeLedger) -> None:
    ledger.reserve("prod", 0, launch(count=2), claims("l1", 2))
    first, second = ledger.claims("prod")
    changed = ledger.save_claim("prod", replace(second, node_name="ip-1"))
    with pytest.raises(ConflictError):
        ledger.start_retirements("prod", [retiring(first), retiring(second)], 1)
    assert ledger.claims("prod") == (first, changed)
    assert ledger.epoch("prod") == 1


def test_a_claim_that_is_gone_does_not_start(ledger: NodeLedger) -> None:
    with pytest.raises(ConflictError):
        ledger.start_retirements("prod", [retiring(claim())], None)
    assert ledger.claims("prod") == ()


def test_a_voluntary_retirement_needs_the_epoch_and_counts_it_up(ledger: NodeLedger) -> None:
    ledger.reserve("prod", 0, launch(count=2), claims("l1", 2))
    first, second = ledger.claims("prod")
    with pytest.raises(ConflictError):
        ledger.start_retirements("prod", [retiring(first, reason="empty")], 0)
    assert ledger.claims("prod") == (first, second)
    ledger.start_retirements("prod", [retiring(first, reason="empty")], 1)
    assert ledger.epoch("prod") == 2
    with pytest.raises(ConflictError):
        ledger.reserve("prod", 1, launch("l2"), claims("l2", 1))


def test_a_forced_retirement_leaves_the_epoch_to_the_planner(ledger: NodeLedger) -> None:
    started(ledger)
    assert ledger.epoch("prod") == 1


def test_nothing_to_start_changes_nothing(ledger: NodeLedger) -> None:
    assert ledger.start_retirements("prod", [], 0) == ()
    assert ledger.epoch("prod") == 0


def test_99_start_at_once_and_one_more_is_refused(ledger: NodeLedger) -> None:
    for number in range(2):
        ledger.reserve("prod", number, launch(f"l{number}", 50), claims(f"l{number}", 50))
    everybody = [retiring(one) for one in ledger.claims("prod")]
    with pytest.raises(RefusedError, match="at most 99"):
        ledger.start_retirements("prod", everybody, 2)
    ledger.start_retirements("prod", everybody[:99], 2)
    assert sum(one.retirement is not None for one in ledger.claims("prod")) == 99


# ---- turns


def test_a_turn_is_taken_when_it_is_due_and_moves_the_next_one_on(ledger: NodeLedger) -> None:
    started(ledger)
    taken = turn(ledger)
    assert taken == ledger.claim("prod", "l1-00")
    assert taken.retirement is not None
    assert (taken.retirement.next_at, taken.version) == (LATER, 2)
    with pytest.raises(ConflictError, match="its next turn is at 2026-11-30T12:00:10"):
        turn(ledger, now=LATER - timedelta(microseconds=1))
    again = turn(ledger, now=LATER, next_at=LATER + SECOND)
    assert again.retirement is not None
    assert again.retirement.next_at == LATER + SECOND


def test_of_twelve_messages_at_once_one_gets_the_turn(ledger: NodeLedger) -> None:
    started(ledger)

    def deliver(number: int) -> bool:
        try:
            turn(ledger, next_at=LATER + number * SECOND)
        except ConflictError:
            return False
        return True

    assert sum(at_once(deliver, 12)) == 1
    assert ledger.claim("prod", "l1-00").version == 2


@pytest.mark.parametrize("epoch", [1, 3])
def test_a_message_of_another_retirement_is_dropped(ledger: NodeLedger, epoch: int) -> None:
    started(ledger, epoch=2)
    with pytest.raises(ConflictError, match=f"its retirement {epoch} is now epoch 2"):
        turn(ledger, epoch)
    turn(ledger, 2)


def test_a_message_of_a_withdrawn_retirement_is_dropped(ledger: NodeLedger) -> None:
    serving = ledger.save_claim("prod", withdrawn(started(ledger)))
    with pytest.raises(ConflictError, match="its retirement 1 is withdrawn"):
        turn(ledger)
    assert ledger.claims("prod") == (serving,)


def test_a_message_for_a_claim_that_is_gone_finds_nothing(ledger: NodeLedger) -> None:
    ledger.save_claim("prod", replace(started(ledger), state=ClaimState.GONE))
    with pytest.raises(NotFoundError, match="l1-00"):
        turn(ledger)
    assert ledger.claims("prod") == ()


def test_a_claim_that_does_not_retire_has_no_turns(ledger: NodeLedger) -> None:
    ledger.reserve("prod", 0, launch(), claims("l1", 1))
    with pytest.raises(ConflictError, match="withdrawn"):
        turn(ledger)


# ---- beside others


def test_who_read_before_a_turn_was_taken_cannot_undo_it(ledger: NodeLedger) -> None:
    before = started(ledger)
    taken = turn(ledger)
    with pytest.raises(ConflictError):
        ledger.save_claim("prod", replace(before, node_name="ip-1"))
    assert ledger.claim("prod", "l1-00") == taken


def test_what_a_turn_did_is_saved_and_the_next_turn_goes_by_it(ledger: NodeLedger) -> None:
    started(ledger)
    taken = turn(ledger)
    saved = ledger.save_claim("prod", retiring(taken, step=Step.DRAIN, next_at=LATER + SECOND))
    assert ledger.claims("prod") == (saved,)
    with pytest.raises(ConflictError):
        turn(ledger, now=LATER)
    assert turn(ledger, now=LATER + SECOND, next_at=LATER + 2 * SECOND).retirement is not None


def test_a_new_retirement_after_a_withdrawal_has_turns_of_its_own(ledger: NodeLedger) -> None:
    serving = ledger.save_claim("prod", withdrawn(started(ledger)))
    ledger.start_retirements("prod", [retiring(serving, 2)], None)
    with pytest.raises(ConflictError):
        turn(ledger, 1)
    turn(ledger, 2)


def test_a_retirement_that_is_withdrawn_and_one_that_goes_on_do_not_both_win(ledger: NodeLedger) -> None:
    before = started(ledger)
    went_on = ledger.save_claim("prod", retiring(before, step=Step.TERMINATE))
    with pytest.raises(ConflictError):
        ledger.save_claim("prod", withdrawn(before))
    assert ledger.claims("prod") == (went_on,)
