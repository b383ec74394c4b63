"""Under limits plans place as many pods as can be, the important ones first, and at what that costs at least."""

from collections.abc import Sequence

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.limits import NODES, Limits
from nodewright.domain.pods import Pod
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import PoolOptions
from tests.builders import instance_type, offering, options, pod, pool, snapshot, term
from tests.oracle import check
from tests.oracles.limited import POOL, ZONE, best, came_to
from tests.oracles.test_properties import examples
from tests.worlds import shown

pytestmark = pytest.mark.property

GIB = 2**30


@st.composite
def types(draw: st.DrawFn) -> tuple[InstanceType, ...]:
    """Up to four sizes at prices that are only roughly in proportion."""
    found = []
    for size in draw(st.lists(st.sampled_from((1, 2, 3, 4, 6, 8)), min_size=1, max_size=4, unique=True)):
        memory = size * draw(st.sampled_from((1, 2, 4)))
        price = size * draw(st.sampled_from((0.8, 1.0, 1.1, 1.5)))
        zones = draw(st.sampled_from((("a",), ("b",), ("a", "b"))))
        offered = [offering(zone, price=price * dearer) for zone, dearer in zip(zones, (1.0, 1.05), strict=False)]
        found.append(instance_type(f"x.{size}", cpu=size, memory=f"{memory}Gi", offerings=offered))
    return tuple(found)


def limits() -> st.SearchStrategy[Limits]:
    """What remains of one thing or several."""
    names = st.lists(st.sampled_from((NODES, "cpu", "memory")), min_size=1, max_size=3, unique=True)
    several = st.fixed_dictionaries({
        NODES: st.integers(1, 3),
        "cpu": st.integers(2, 10).map(lambda cores: cores * 1000),
        "memory": st.integers(3, 24).map(lambda gib: gib * GIB),
    })  # fmt: skip
    return st.builds(lambda some, amounts: Limits({name: amounts[name] for name in some}), names, several)


@st.composite
def pools(draw: st.DrawFn) -> tuple[PoolOptions, ...]:
    """One under limits, or another one beside it under limits or none."""
    first = options(pool("one"), draw(types()), draw(limits()))
    if draw(st.booleans()):
        return (first,)
    weight = draw(st.sampled_from((0, 0, 5)))
    return first, options(pool("two", weight=weight), draw(types()), draw(st.none() | limits()))


@st.composite
def waiting(draw: st.DrawFn) -> tuple[Pod, ...]:
    """Up to six; some choose a pool or a zone, some don't share nodes, some are more important."""
    ranks = draw(st.sampled_from(((0,), (0,), (0, 7))))
    choices = draw(st.sampled_from(((None,), (None, {POOL: "one"}), (None, {ZONE: "a"}))))
    lonely = draw(st.sampled_from((0, 0, 0, 2)))
    return tuple(
        pod(
            f"p-{number}",
            cpu=draw(st.sampled_from(("500m", "1", "1500m", "2", "3"))),
            memory=draw(st.sampled_from(("512Mi", "1Gi", "2Gi", "4Gi"))),
            priority=draw(st.sampled_from(ranks)),
            selector=draw(st.sampled_from(choices)),
            labels={"app": "w"} if number < lonely else {},
            anti_affinity=(term("kubernetes.io/hostname"),) if number < lonely else (),
        )
        for number in range(draw(st.integers(2, 6)))
    )


def weighed(offered: Sequence[PoolOptions]) -> bool:
    return len({each.pool.weight for each in offered}) > 1


@examples(0.1)
@given(waiting(), pools())
def test_as_many_as_can_be_are_placed_and_hardly_anything_cheaper_does(
    some: tuple[Pod, ...], offered: tuple[PoolOptions, ...]
) -> None:
    world = snapshot(some, pools=offered)
    note(shown(world))
    plan = solve(world)
    note(f"plan: {plan}")
    left, cost = best(world)
    assert check(world, plan) == []
    assert came_to(world, plan)[0] == left
    # Weights of pools are a rule, and of several choices of pods that are as many any may be made.
    assert weighed(offered) or plan.unschedulable or plan.cost <= cost * DEARER


DEARER = 1.15
"""Of a few in a thousand such worlds the plan is dearer than the best one, by a tenth so far."""
