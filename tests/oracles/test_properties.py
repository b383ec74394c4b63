"""What holds of every plan, judged by the oracle on clusters that Hypothesis makes up."""

import os
import random
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import msgspec
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from nodewright.domain.plans import Plan
from nodewright.domain.scheduling import AT_ONCE, Budget, proposals, solve
from nodewright.domain.snapshot import Snapshot
from tests.oracle import check, crowded, placeable
from tests.worlds import shown, worlds

pytestmark = pytest.mark.property

EXAMPLES = int(os.environ.get("NODEWRIGHT_EXAMPLES", "300"))
T = TypeVar("T")


def examples(share: float = 1.0) -> settings:
    """The same ones each time; a slow judge is no health problem."""
    return settings(
        max_examples=max(1, round(EXAMPLES * share)),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


@examples()
@given(worlds())
def test_no_hard_constraint_is_broken_and_nobody_left_who_could_be_placed(snapshot: Snapshot) -> None:
    note(shown(snapshot))
    plan = solve(snapshot)
    note(f"plan: {plan}")
    assert check(snapshot, plan) == []
    assert placeable(snapshot, plan) == []


@examples(0.3)
@given(worlds())
def test_the_same_holds_of_plans_that_are_wanted_at_once(snapshot: Snapshot) -> None:
    note(shown(snapshot))
    plan = solve(snapshot, AT_ONCE)
    note(f"plan: {plan}")
    assert check(snapshot, plan) == []
    assert placeable(snapshot, plan) == []
    assert plan.bound is None or plan.bound <= plan.cost


@examples(0.3)
@given(worlds(), st.sampled_from((AT_ONCE, Budget())))
def test_planned_as_thousands_are_no_hard_constraint_is_broken_either(snapshot: Snapshot, budget: Budget) -> None:
    note(shown(snapshot))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proposals, "_FEW", 0)
        plan = solve(snapshot, budget)
    note(f"plan: {plan}")
    assert check(snapshot, plan) == []


@examples(0.3)
@given(worlds())
def test_spreads_take_the_domains_that_can_be_had(snapshot: Snapshot) -> None:
    note(shown(snapshot))
    plan = solve(snapshot)
    note(f"plan: {plan}")
    assert crowded(snapshot, plan) == []


@examples(0.3)
@given(worlds())
def test_the_same_snapshot_gives_the_same_bytes(snapshot: Snapshot) -> None:
    note(shown(snapshot))
    assert encoded(solve(snapshot)) == encoded(solve(snapshot))


@examples(0.3)
@given(worlds(), st.integers(min_value=0))
def test_the_order_of_the_input_does_not_change_the_cost(snapshot: Snapshot, seed: int) -> None:
    note(shown(snapshot))
    assert solve(shuffled(snapshot, random.Random(seed))).cost == solve(snapshot).cost


@examples(0.3)
@given(worlds(), st.integers(min_value=0, max_value=200))
def test_a_small_budget_breaks_nothing(snapshot: Snapshot, patterns: int) -> None:
    note(shown(snapshot))
    assert check(snapshot, solve(snapshot, Budget(patterns=patterns))) == []


@examples(0.3)
@given(worlds(), st.integers(min_value=0, max_value=12))
def test_time_that_runs_out_breaks_nothing(snapshot: Snapshot, looks: int) -> None:
    note(shown(snapshot))
    assert check(snapshot, solve(snapshot, expired=after(looks))) == []


def shuffled(snapshot: Snapshot, rng: random.Random) -> Snapshot:
    """The same cluster, listed otherwise."""
    return replace(
        snapshot,
        pods=mixed(snapshot.pods, rng),
        rooms=mixed(snapshot.rooms, rng),
        pools=mixed(snapshot.pools, rng),
        daemon_sets=mixed(snapshot.daemon_sets, rng),
        bystanders=mixed(snapshot.bystanders, rng),
        namespaces=dict(mixed(tuple(snapshot.namespaces.items()), rng)),
    )


def mixed(items: tuple[T, ...], rng: random.Random) -> tuple[T, ...]:
    return tuple(rng.sample(items, len(items)))


def after(looks: int) -> Callable[[], bool]:
    """A clock that has run out after so many looks at it."""
    left = iter([False] * looks)
    return lambda: next(left, True)


def encoded(plan: Plan) -> bytes:
    return msgspec.json.encode(plan, enc_hook=dict)
