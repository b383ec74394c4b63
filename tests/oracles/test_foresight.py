"""What holds of every plan with pods that aren't there, on clusters that Hypothesis makes up."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, StandsFor
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import Snapshot
from tests.oracle import check
from tests.oracles.test_properties import encoded, examples
from tests.worlds import shown, worlds

pytestmark = pytest.mark.property

KINDS: tuple[StandsFor, ...] = ("itself", "itself", "expected", "headroom")


def foreseen(snapshot: Snapshot, seed: int) -> Snapshot:
    """The same with some of its pods not there."""
    chance = random.Random(seed)
    drawn = [replace(pod, stands_for=chance.choice(KINDS)) for pod in snapshot.pods]

    def of(kind: StandsFor) -> tuple[Pod, ...]:
        return tuple(pod for pod in drawn if pod.stands_for == kind)

    # Only a pod that is there can have had nodes bought for it in vain.
    there = {pod.key for pod in of("itself")}
    aside = {key: why for key, why in snapshot.set_aside.items() if key in there}
    return replace(snapshot, pods=of("itself"), expected=of("expected"), headroom=of("headroom"), set_aside=aside)


def fate(plan: Plan) -> tuple[object, ...]:
    """What becomes of pods that are there."""
    bought = Counter((launch.pool, node, launch.price) for launch in plan.launches for node in launch.nodes if node)
    return plan.nominations, plan.unschedulable, bought


@examples(0.5)
@given(worlds(), st.integers(min_value=0))
def test_no_hard_constraint_is_broken_and_each_has_an_answer(snapshot: Snapshot, seed: int) -> None:
    world = foreseen(snapshot, seed)
    note(shown(world))
    plan = solve(world)
    note(f"plan: {plan}")
    assert check(world, plan) == []
    assert len(plan.expected) == (0 if plan.truncated else len(world.expected))
    assert len(plan.headroom) == (0 if plan.truncated else len(world.headroom))


@examples(0.5)
@given(worlds(), st.integers(min_value=0))
def test_pods_that_are_there_fare_as_if_there_were_no_others(snapshot: Snapshot, seed: int) -> None:
    world = foreseen(snapshot, seed)
    note(shown(world))
    alone = solve(replace(world, expected=(), headroom=()))
    plan = solve(world)
    note(f"plan: {plan}")
    assert fate(plan) == fate(alone)
    assert plan.cost - plan.expected.cost - plan.headroom.cost == alone.cost


@examples(0.2)
@given(worlds(), st.integers(min_value=0))
def test_the_same_snapshot_gives_the_same_bytes(snapshot: Snapshot, seed: int) -> None:
    world = foreseen(snapshot, seed)
    note(shown(world))
    assert encoded(solve(world)) == encoded(solve(world))
