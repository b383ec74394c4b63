"""What holds for every method, and their order."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.domain.disruption import METHODS
from nodewright.domain.disruption.deadlines import deadlines, next_deadline
from nodewright.domain.disruption.method import Method, Proposal
from nodewright.domain.retirement import VOLUNTARY
from tests.builders import NOW, pod
from tests.domain.disruption.situations import HOUR, MINUTE, budgeted, candidate, held, situation

BOTH = candidate(expire_after=HOUR)
every = pytest.mark.parametrize("method", METHODS, ids=[method.reason for method in METHODS])


def test_what_must_go_comes_before_what_may() -> None:
    assert [method.reason for method in METHODS] == ["expired", "empty"]


@every
def test_what_it_starts_is_our_own_choice_so_it_can_be_withdrawn(method: Method) -> None:
    assert method.reason in VOLUNTARY


@every
def test_it_proposes_what_is_due_and_nothing_where_nothing_is(method: Method) -> None:
    command = method.propose(situation([BOTH])).command
    assert command is not None
    assert (command.reason, command.candidates) == (method.reason, (BOTH,))
    assert method.propose(situation([candidate("n", pod("app"))])) == Proposal()
    assert method.propose(situation([])) == Proposal()


@every
def test_it_keeps_to_budgets_and_says_so(method: Method) -> None:
    proposal = method.propose(situation([replace(BOTH, pool=budgeted("0"))]))
    assert proposal.command is None
    assert "budgets" in proposal.blocked[0].why


@every
def test_it_never_goes_against_a_pod_that_could_hold_the_drain_for_ever(method: Method) -> None:
    proposal = method.propose(situation([replace(BOTH, objections=held())]))
    assert proposal.command is None
    assert proposal.blocked[0].by is not None


@every
def test_what_it_proposes_now_was_due(method: Method) -> None:
    moment = method.due(BOTH)
    assert moment is not None
    assert moment <= NOW


def test_the_next_deadline_is_the_first_that_is_still_to_come() -> None:
    nodes = [
        candidate("old", pod("app"), expire_after=HOUR),
        candidate("empty", of=budgeted("1", after=90 * MINUTE)),
        candidate("young", pod("app"), created=NOW, expire_after=HOUR),
    ]
    assert sorted(deadlines(nodes, METHODS)) == [NOW - 23 * HOUR, NOW + 30 * MINUTE, NOW + HOUR]
    assert next_deadline(nodes, METHODS, NOW) == NOW + 30 * MINUTE
    assert next_deadline(nodes, METHODS, NOW + HOUR) is None
    assert next_deadline([], METHODS, NOW - timedelta(days=9)) is None
