from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from nodewright.domain.budgets import UNLIMITED, BudgetReason, Census, allowed, census
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.pools import DisruptionBudget
from nodewright.domain.retirement import Reason, Step
from nodewright.domain.retiring import begin
from tests.builders import NOW, claim, node, pool

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
#: A Thursday.
DAY = datetime.fromisoformat("2026-01-01T00:00:00+00:00")


def left(*budgets: DisruptionBudget, total: int = 10, disrupting: int = 0, reason: BudgetReason = "Empty") -> int:
    return allowed(pool(budgets=budgets), reason, Census(total, disrupting), NOW)


@pytest.mark.parametrize(
    ("nodes", "total", "disrupting", "expected"),
    [
        ("10%", 10, 0, 1),
        ("10%", 11, 0, 2),  # rounds up
        ("10%", 1, 0, 1),
        ("10%", 0, 0, 0),
        ("10%", 10, 1, 0),
        ("25%", 10, 1, 2),
        ("100%", 7, 2, 5),
        ("0%", 10, 0, 0),
        ("1%", 1, 0, 1),
        ("33%", 100, 0, 33),  # exactly, though 0.33 × 100 is more in floating point
        ("0", 10, 0, 0),
        ("5", 10, 2, 3),
        ("5", 3, 0, 5),
        ("5", 10, 9, 0),  # never less than nothing
    ],
)
def test_a_budget_is_a_number_or_a_share_rounded_up_less_what_is_under_way(
    nodes: str, total: int, disrupting: int, expected: int
) -> None:
    assert left(DisruptionBudget(nodes), total=total, disrupting=disrupting) == expected


@pytest.mark.parametrize("nodes", ["", "ten", "-1", "1.5", "10 %", "%", "10%%", "²"])
def test_what_can_not_be_read_lets_nothing_be_disrupted(nodes: str) -> None:
    assert left(DisruptionBudget(nodes)) == 0


def test_of_several_budgets_the_tightest_decides() -> None:
    assert left(DisruptionBudget("50%"), DisruptionBudget("2"), DisruptionBudget("90%")) == 2


def test_one_that_can_not_be_read_closes_the_others_too() -> None:
    assert left(DisruptionBudget("50%"), DisruptionBudget("many")) == 0


def test_without_an_active_budget_nothing_is_bounded() -> None:
    assert left() == UNLIMITED
    assert left(DisruptionBudget("0", "0 0 * * *", HOUR)) == UNLIMITED


@pytest.mark.parametrize(
    ("reasons", "reason", "expected"),
    [
        ((), "Empty", 1),
        ((), "Expired", 1),
        (("Empty",), "Empty", 1),
        (("Empty", "Drifted"), "Drifted", 1),
        (("Drifted",), "Empty", UNLIMITED),
        (("Empty", "Drifted", "Underutilized"), "Expired", UNLIMITED),
    ],
)
def test_a_budget_counts_for_the_reasons_it_names_and_for_all_where_it_names_none(
    reasons: tuple[str, ...], reason: BudgetReason, expected: int
) -> None:
    assert left(DisruptionBudget("1", reasons=reasons), reason=reason) == expected


NIGHT = ("0 22 * * *", 8 * HOUR)
OFFICE = ("0 9 * * MON-FRI", 8 * HOUR)


@pytest.mark.parametrize(
    ("schedule", "duration", "moment", "active"),
    [
        # From the hit on, to the very second before its duration is over.
        (*NIGHT, DAY + 22 * HOUR - SECOND, False),
        (*NIGHT, DAY + 22 * HOUR, True),
        (*NIGHT, DAY + 30 * HOUR - SECOND, True),
        (*NIGHT, DAY + 30 * HOUR, False),
        # Over midnight, and over the end of a year.
        (*NIGHT, DAY + HOUR, True),
        ("@yearly", HOUR, DAY + 30 * MINUTE, True),
        ("@yearly", HOUR, DAY - SECOND, False),
        ("@annually", HOUR, DAY, True),
        ("@monthly", HOUR, DAY, True),
        ("@monthly", HOUR, DAY + 24 * HOUR, False),
        ("@weekly", HOUR, DAY + 3 * 24 * HOUR, True),  # Sunday
        ("@weekly", HOUR, DAY, False),
        ("@daily", HOUR, DAY + 59 * MINUTE, True),
        ("@midnight", HOUR, DAY + 61 * MINUTE, False),
        ("@hourly", 10 * MINUTE, DAY + 13 * HOUR + 9 * MINUTE, True),
        ("@hourly", 10 * MINUTE, DAY + 13 * HOUR + 10 * MINUTE, False),
        # A duration longer than the schedule's interval never ends.
        ("@hourly", 61 * MINUTE, DAY + 13 * HOUR + 30 * MINUTE, True),
        # Days of the week by name: Thursday is one, Saturday isn't.
        (*OFFICE, DAY + 10 * HOUR, True),
        (*OFFICE, DAY + 58 * HOUR, False),
        # 7 is Sunday too.
        ("0 0 * * 7", HOUR, DAY + 3 * 24 * HOUR, True),
        # Either of day of month and day of week where both are given.
        ("0 0 13 * THU", HOUR, DAY, True),
        ("0 0 13 * THU", HOUR, DAY + 12 * 24 * HOUR, True),
        ("0 0 13 * THU", HOUR, DAY + 24 * HOUR, False),
        # A leap day is years away, not an error.
        ("0 0 29 2 *", HOUR, DAY, False),
    ],
)
def test_a_budget_is_active_while_its_schedule_hit_less_than_its_duration_ago_in_utc(
    schedule: str, duration: timedelta, moment: datetime, active: bool
) -> None:
    budget = DisruptionBudget("0", schedule, duration)
    assert allowed(pool(budgets=(budget,)), "Empty", Census(10, 0), moment) == (0 if active else UNLIMITED)


@pytest.mark.parametrize(
    ("schedule", "duration"),
    [
        ("0 9 * *", HOUR),
        ("0 0 9 * * *", HOUR),
        ("61 * * * *", HOUR),
        ("@reboot", HOUR),
        ("nightly", HOUR),
        ("0 0 31 2 *", HOUR),  # never
        ("0 9 * * *", None),
        ("", HOUR),
    ],
)
def test_a_schedule_that_can_not_be_read_lets_nothing_be_disrupted(schedule: str, duration: timedelta | None) -> None:
    assert left(DisruptionBudget("5", schedule, duration)) == 0


def member(name: str, **changes: object) -> NodeClaim:
    return claim(name, **{"state": ClaimState.INITIALIZED, "node_name": name, **changes})


def leaving(name: str, reason: Reason = "expired", step: Step = Step.TAINT, **when: datetime) -> NodeClaim:
    begun = begin(member(name), reason, NOW, **when)  # type: ignore[arg-type]
    assert begun is not None
    assert begun.retirement is not None
    return replace(begun, retirement=replace(begun.retirement, step=step))


def test_counted_are_initialized_nodes_and_of_them_those_not_ready_or_leaving_whoever_wants_it() -> None:
    claims = [
        member("fine"),
        member("not-ready"),
        member("deleted"),
        member("lost"),
        leaving("retiring", "spot-interruption"),
        leaving("ending", step=Step.TERMINATE),
        leaving("later", "scheduled-event", not_before=NOW + HOUR),
        member("other", pool="other"),
        claim("starting"),
    ]
    nodes = [
        node("fine"),
        node("not-ready", ready=False),
        node("deleted", terminating=True),
        node("retiring"),
        node("later"),
        node("other"),
    ]
    assert census(claims, nodes, NOW) == {"default": Census(6, 4), "other": Census(1, 0)}
