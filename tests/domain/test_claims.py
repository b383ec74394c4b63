from dataclasses import replace
from datetime import timedelta
from itertools import combinations_with_replacement

import pytest

from nodewright.domain.claims import ClaimState, advanced, withdrawn
from nodewright.domain.retirement import Retirement, Step
from tests.builders import NOW, claim

RETIREMENT = Retirement(epoch=1, reason="empty", started=NOW, not_before=NOW, next_at=NOW + timedelta(seconds=5))
WITHDRAWABLE = [Step.TAINT, Step.REPLACE, Step.DRAIN, Step.DETACH]


@pytest.mark.parametrize(("earlier", "later"), list(combinations_with_replacement(ClaimState, 2)))
def test_a_claim_only_moves_forward(earlier: ClaimState, later: ClaimState) -> None:
    assert advanced(claim(state=earlier), later).state is later
    assert advanced(claim(state=later), earlier) == claim(state=later)


@pytest.mark.parametrize("step", WITHDRAWABLE)
def test_a_retirement_can_be_withdrawn_before_its_instance_is_ended(step: Step) -> None:
    assert withdrawn(claim(retirement=replace(RETIREMENT, step=step))) == claim()


@pytest.mark.parametrize("step", sorted(set(Step) - set(WITHDRAWABLE)))
def test_later_there_is_no_way_back(step: Step) -> None:
    with pytest.raises(ValueError, match=f"claim c is past withdrawing.* {step}"):
        withdrawn(claim(retirement=replace(RETIREMENT, step=step)))


def test_withdrawing_what_is_not_retiring_changes_nothing() -> None:
    assert withdrawn(claim()) == claim()
