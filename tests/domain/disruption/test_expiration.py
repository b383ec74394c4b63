"""Cases.md 21: a node past its time goes as safely as any, or stays as it is and says why."""

from datetime import timedelta
from typing import Any

import pytest

from nodewright.domain.disruption.expiration import Expiration
from nodewright.domain.disruption.method import Candidate, Proposal, Relocation
from nodewright.domain.plans import Launch, LaunchOffering, Unschedulable
from nodewright.domain.pods import PodKey
from tests.builders import NOW, USD, daemon_pod, pod, resources
from tests.domain.disruption.situations import HOUR, SECOND, budgeted, candidate, held, situation

METHOD = Expiration()
APP = pod("app")
DAY = 24 * HOUR
NODE = Launch(
    "default", "spot", (LaunchOffering("x.s", "a", USD),), USD, resources(cpu=1), ((PodKey("default", "app"),),)
)
HOMELESS = Relocation(homeless=(Unschedulable(PodKey("default", "app"), "LimitReached", "the pool is full"),))


def expired(name: str = "n", *, age: timedelta = 25 * HOUR, **more: object) -> Candidate:
    """Of a pool that expires after a day."""
    return candidate(name, APP, **{"created": NOW - age, "expire_after": DAY, **more})  # type: ignore[arg-type]


def propose(*candidates: Candidate, relocation: Relocation = Relocation()) -> Proposal:  # noqa: B008  frozen
    return METHOD.propose(situation(candidates, lambda _: relocation))


def going(proposal: Proposal) -> list[str]:
    return [each.node.name for each in proposal.command.candidates] if proposal.command else []


@pytest.mark.parametrize(("age", "goes"), [(DAY, True), (DAY - SECOND, False), (30 * DAY, True), (timedelta(), False)])
def test_a_node_goes_once_it_has_lived_for_expire_after(age: timedelta, goes: bool) -> None:
    assert going(propose(expired(age=age))) == (["n"] if goes else [])


def test_one_without_an_expiry_lives_for_ever() -> None:
    assert propose(expired(age=1000 * DAY, expire_after=None)) == Proposal()


def test_its_replacement_comes_first() -> None:
    relocation = Relocation(launches=(NODE,), awaited=("c-1",))
    command = propose(expired(), relocation=relocation).command
    assert command is not None
    assert (command.reason, command.relocation) == ("expired", relocation)


def test_they_go_one_at_a_time_the_oldest_first() -> None:
    assert going(propose(expired("young"), expired("old", age=40 * HOUR), expired("older", age=41 * HOUR))) == ["older"]


def test_a_pod_that_may_not_be_disrupted_keeps_it_untouched_and_the_next_goes() -> None:
    proposal = propose(expired("held", age=30 * HOUR, objections=held()), expired("free"))
    assert going(proposal) == ["free"]
    (blocked,) = proposal.blocked
    assert (blocked.candidate.node.name, blocked.why) == ("held", "expired, blocked by default/held forbids it")
    assert blocked.by is not None


def test_with_a_grace_period_the_drain_begins_now_and_ends_by_its_deadline() -> None:
    command = propose(expired(objections=held(), termination_grace_period=4 * HOUR)).command
    assert command is not None
    assert command.deadline == NOW + 4 * HOUR


def test_without_one_the_drain_has_no_end() -> None:
    command = propose(expired()).command
    assert command is not None
    assert command.deadline is None


def test_budgets_for_all_reasons_hold_it_and_others_do_not() -> None:
    (blocked,) = propose(expired(of=budgeted("0"))).blocked
    assert "its budgets let no more go now" in blocked.why
    assert going(propose(expired(of=budgeted("0", "Empty", "Drifted", "Underutilized")))) == ["n"]


@pytest.mark.parametrize(
    ("age", "grace", "goes"),
    [(28 * HOUR, 4 * HOUR, True), (28 * HOUR - SECOND, 4 * HOUR, False), (1000 * HOUR, None, False)],
)
def test_past_its_grace_period_neither_budgets_nor_a_lack_of_room_hold_it(
    age: timedelta, grace: timedelta | None, goes: bool
) -> None:
    shut = expired(age=age, of=budgeted("0"), termination_grace_period=grace)
    assert going(propose(shut)) == (["n"] if goes else [])
    full = expired(age=age, termination_grace_period=grace)
    assert going(propose(full, relocation=HOMELESS)) == (["n"] if goes else [])


def test_without_room_for_its_pods_it_stays_and_says_for_whom() -> None:
    (blocked,) = propose(expired(), relocation=HOMELESS).blocked
    assert blocked.why == "expired, but there is no other place for default/app: the pool is full"


def test_a_place_is_looked_for_only_where_nothing_else_holds_it() -> None:
    asked: list[str] = []

    def relocate(of: Candidate) -> Relocation:
        asked.append(of.node.name)
        return Relocation()

    held_back = [expired("a", age=40 * HOUR, objections=held()), expired("b", age=39 * HOUR, of=budgeted("0"))]
    METHOD.propose(situation([*held_back, expired("c")], relocate))
    assert asked == ["c"]


def test_a_pod_that_came_before_the_taint_has_no_place_planned_so_it_stays() -> None:
    planned = expired()
    came = candidate("n", APP, pod("late"), created=NOW - 25 * HOUR, expire_after=DAY)
    assert METHOD.objection(planned, came, NOW) == "default/late came to it"
    daemon = candidate("n", APP, daemon_pod("agent-x", "n", "agent"), expire_after=DAY)
    assert METHOD.objection(planned, daemon, NOW) == ""


def test_one_that_is_overdue_goes_all_the_same() -> None:
    grace: dict[str, Any] = {"created": NOW - 30 * HOUR, "expire_after": DAY, "termination_grace_period": HOUR}
    came = candidate("n", APP, pod("late"), **grace)
    assert METHOD.objection(candidate("n", APP, **grace), came, NOW) == ""


def test_a_pod_that_forbids_it_by_now_keeps_it_only_without_a_grace_period() -> None:
    assert "default/held" in METHOD.objection(expired(), expired(objections=held()), NOW)
    patient = expired(objections=held(), termination_grace_period=HOUR)
    assert METHOD.objection(patient, patient, NOW) == ""


def test_it_is_due_at_its_end_whatever_runs_there() -> None:
    assert METHOD.due(expired(age=HOUR)) == NOW + 23 * HOUR
    assert METHOD.due(expired(expire_after=None)) is None
