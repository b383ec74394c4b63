"""What few pods cost at least, against every way to share them out."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewright.domain.scheduling import AT_ONCE, Budget, solve
from nodewright.domain.scheduling.bounds import MOST_STATES, bound
from nodewright.domain.scheduling.covering import covering
from nodewright.domain.scheduling.problems import Problem
from tests.builders import pods, snapshot
from tests.domain.scheduling.test_packing_parts import problem


def least(whole: Problem, counts: tuple[int, ...]) -> int:
    """By trying every node for every content, one after the other."""
    rows = range(len(whole.prices))

    def holds(row: int, content: tuple[int, ...]) -> bool:
        meant = all(whole.allowed[row, item] for item, number in enumerate(content) if number)
        return bool(meant and (np.array(content) @ whole.demand <= whole.room[row]).all())

    @cache
    def of(left: tuple[int, ...]) -> int:
        if not any(left):
            return 0
        contents = product(*(range(number + 1) for number in left))
        return min(
            int(whole.prices[row]) + of(tuple(a - b for a, b in zip(left, content, strict=True)))
            for content in contents
            if any(content)
            for row in rows
            if holds(row, content)
        )

    return of(counts)


@st.composite
def few(draw: st.DrawFn) -> tuple[Problem, tuple[int, ...]]:
    """Up to three items on up to four kinds of node, of which the last holds anything."""
    items, rows = draw(st.integers(1, 3)), draw(st.integers(0, 3))
    number = st.integers(1, 9)
    demand = [[draw(number), draw(number)] for _ in range(items)]
    room = [[draw(st.integers(1, 20)), draw(st.integers(1, 20))] for _ in range(rows)]
    fits = [[all(a <= b for a, b in zip(one, have, strict=True)) for one in demand] for have in room]
    allowed = [[fit and draw(st.booleans()) for fit in each] for each in fits]
    prices = sorted(draw(st.lists(st.integers(1, 30), min_size=rows, max_size=rows)))
    anything = problem([*prices, 40], [*room, [9, 9]], demand, allowed=np.array([*allowed, [True] * items]))
    return anything, tuple(draw(st.integers(1, 3)) for _ in range(items))


@given(few())
def test_no_way_to_share_pods_out_is_cheaper_and_one_is_as_cheap(drawn: tuple[Problem, tuple[int, ...]]) -> None:
    whole, counts = drawn
    assert covering(whole, np.array(counts)) == least(whole, counts)


@given(few())
def test_other_bounds_are_no_higher(drawn: tuple[Problem, tuple[int, ...]]) -> None:
    whole, counts = drawn
    assert bound(whole, np.array(counts)) == least(whole, counts)


def test_too_many_ways_are_left_to_what_divided_pods_would_cost() -> None:
    whole = problem([5], [[10]], [[3]])
    exact, divided = MOST_STATES - 1, MOST_STATES
    assert bound(whole, np.array([exact])) == 5 * -(-exact // 3)
    assert bound(whole, np.array([divided])) == 5 * divided * 3 // 10


def test_all_groups_share_the_ways_that_are_tried() -> None:
    """The first is shared out, the second isn't any more."""
    apart = problem([5, 5], [[10], [10]], [[3], [3]], allowed=np.eye(2, dtype=np.bool_))
    many = MOST_STATES - 100
    assert bound(apart, np.array([many, many])) == 5 * -(-many // 3) + 5 * many * 3 // 10


@pytest.mark.parametrize("many", [1, 2, 5, 13, 40])
def test_a_plan_of_few_alike_pods_is_proven_to_be_the_cheapest(many: int) -> None:
    """What pods that can be divided would cost is less: half a node is bought whole."""
    for budget in (AT_ONCE, Budget()):
        plan = solve(snapshot(pods(many, cpu="1900m")), budget)
        assert plan.bound == plan.cost > 0
