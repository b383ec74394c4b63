from datetime import timedelta

import pytest

from nodewright.domain.budgets import Census
from nodewright.domain.disruption.emptiness import TOGETHER, Emptiness
from nodewright.domain.disruption.method import Candidate, Proposal
from nodewright.domain.pools import ConsolidationPolicy, NodePool
from tests.builders import NOW, daemon_pod, pod, pool
from tests.domain.disruption.situations import FREE, HOUR, MINUTE, SECOND, budgeted, candidate, held, situation

METHOD = Emptiness()
APP = pod("app")


def propose(*candidates: Candidate, **pools: Census) -> Proposal:
    return METHOD.propose(situation(candidates, pools=pools))


def going(proposal: Proposal) -> list[str]:
    return [each.node.name for each in proposal.command.candidates] if proposal.command else []


@pytest.mark.parametrize("policy", ["WhenEmpty", "WhenEmptyOrUnderutilized"])
def test_an_empty_node_goes_under_either_policy(policy: ConsolidationPolicy) -> None:
    proposal = propose(candidate(of=pool(consolidation_policy=policy, consolidate_after=timedelta())))
    assert going(proposal) == ["n"]
    assert proposal.command is not None
    assert (proposal.command.reason, proposal.command.deadline) == ("empty", None)
    assert proposal.command.relocation.launches == ()


def test_one_with_a_pod_stays_and_daemons_and_static_pods_are_none() -> None:
    static = pod("static", annotations={"kubernetes.io/config.mirror": "hash"})
    others = candidate("m", daemon_pod("agent-x", "m", "agent"), static)
    assert going(propose(candidate("n", APP), others)) == ["m"]


@pytest.mark.parametrize(
    ("after", "since", "goes"),
    [
        (timedelta(), NOW, True),
        (5 * MINUTE, NOW - 5 * MINUTE, True),
        (5 * MINUTE, NOW - 5 * MINUTE + SECOND, False),
        (None, NOW - 24 * HOUR, False),  # Never
        (timedelta(), None, False),  # reconcile hasn't looked at it yet
    ],
)
def test_it_waits_for_consolidate_after_from_the_last_pod_event_on(
    after: timedelta | None, since: object, goes: bool
) -> None:
    of = pool(consolidate_after=after, budgets=())
    assert going(propose(candidate(of=of, last_pod_event=since))) == (["n"] if goes else [])


def test_one_that_a_pod_is_to_come_to_stays_without_a_word() -> None:
    assert propose(candidate(expected="default/p, for which it was bought, waits")) == Proposal()


def test_one_that_a_pod_forbids_to_disrupt_stays_and_says_so() -> None:
    (blocked,) = propose(candidate(objections=held())).blocked
    assert "empty, blocked by default/held forbids it" in blocked.why
    assert blocked.by is not None
    assert blocked.by.key == ("default", "held")


def test_as_many_go_as_the_budget_lets_the_longest_empty_first() -> None:
    of = budgeted("2")
    ages = zip("abcd", (1, 4, 2, 3), strict=True)
    nodes = [candidate(name, of=of, last_pod_event=NOW - age * MINUTE) for name, age in ages]
    proposal = propose(*nodes)
    assert going(proposal) == ["b", "d"]
    assert ["its budgets let no more go now" in each.why for each in proposal.blocked] == [True, True]


def test_what_is_under_way_already_counts() -> None:
    assert going(propose(candidate(of=budgeted("2")), default=Census(10, 2))) == []


def test_pools_have_budgets_of_their_own_and_only_those_for_emptiness_count() -> None:
    shut, free = budgeted("0", "Empty"), budgeted("0", "Drifted", "Underutilized", name="free")
    nodes = [candidate("a", of=shut), candidate("b", of=free)]
    assert going(propose(*nodes, free=Census(1, 0))) == ["b"]


def test_no_more_than_some_go_together() -> None:
    assert len(going(propose(*(candidate(f"n-{number:03d}") for number in range(TOGETHER + 5))))) == TOGETHER


def test_a_pod_that_came_before_the_taint_keeps_it() -> None:
    planned = candidate()
    assert METHOD.objection(planned, candidate("n", APP), NOW) == "default/app came to it"
    assert METHOD.objection(planned, candidate(objections=held()), NOW) == "default/held forbids it"
    assert METHOD.objection(planned, planned, NOW) == ""


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (FREE, NOW - HOUR),
        (pool(consolidate_after=90 * MINUTE), NOW + 30 * MINUTE),
        (pool(consolidate_after=None), None),
    ],
)
def test_it_is_due_when_it_was_empty_for_long_enough(of: NodePool, expected: object) -> None:
    assert METHOD.due(candidate(of=of)) == expected
    assert METHOD.due(candidate("n", APP, of=of)) is None
