"""Searches for node contents prove what they say: whatever they leave out, a bound is one (planning.md, Farley)."""

from collections.abc import Iterator
from functools import cache
from itertools import product
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.budget import Budget, Meter, never
from nodewright.domain.scheduling.generating import every_kind, generate, narrow_first
from nodewright.domain.scheduling.knapsacks import ORDERS, Knapsacks, Offer, Order, Search
from nodewright.domain.scheduling.linear_program import Column, Master
from nodewright.domain.scheduling.packing import pack
from nodewright.domain.scheduling.problems import Problem

NO_LIMITS = np.zeros((1, 0))


def made_up(seed: int, first: int = 4, kinds: int = 3) -> tuple[Problem, Ints]:
    """Some kinds of node and a few pods of up to three items, few of some a node, or on some kinds only.

    `first`: at most so many pods of the first item, of others four.
    """
    rng = Random(seed)
    items = rng.randint(1, 3)
    room = [[rng.choice((1900, 3900, 7900)), rng.choice((3, 7, 15)), rng.choice((4, 8, 29))] for _ in range(kinds)]
    demand = [[rng.choice((0, 250, 900, 1500)), rng.choice((0, 1, 2, 5)), 1] for _ in range(items)]
    demand[0] = [250, 1, 1]
    for most in rng.sample((1, 2, 5), rng.randint(0, 2)):
        room = [[*each, most] for each in room]
        demand = [[*each, rng.randint(0, 1)] for each in demand]
    rooms, demands = np.array(room, dtype=np.float64), np.array(demand, dtype=np.float64)
    free = np.array([[item == 0 or rng.random() < 0.8 for item in range(items)] for _ in range(kinds)])
    allowed = (rooms[:, None] >= demands).all(axis=2) & free
    whole = Problem(
        offering=np.arange(kinds),
        prices=np.array(sorted(rng.randint(50, 400) * 1_000_000 for _ in range(kinds))),
        room=rooms,
        demand=demands,
        allowed=allowed,
        purse=np.full(kinds, -1),
        usage=np.zeros((kinds, 0)),
        block=np.zeros(kinds, dtype=np.int64),
    )
    able = np.flatnonzero(allowed.any(axis=0))
    return whole.part(able), np.array([rng.randint(1, 4 if item else first) for item in able], dtype=np.int64)


def contents(problem: Problem, counts: Ints, row: int) -> Iterator[Ints]:
    """All that one kind of node holds."""
    for each in product(*(range(count + 1) for count in counts.tolist())):
        content = np.array(each, dtype=np.int64)
        if (content @ problem.demand <= problem.room[row]).all() and problem.allowed[row][content > 0].all():
            yield content


def least_cost(problem: Problem, counts: Ints) -> int:
    """Of all pods, by trying everything."""
    choices = {
        (tuple(content.tolist()), int(problem.prices[row]))
        for row in range(len(problem.prices))
        for content in contents(problem, counts, row)
        if content.any()
    }

    @cache
    def cost(left: tuple[int, ...]) -> int:
        if not any(left):
            return 0
        first = next(item for item, count in enumerate(left) if count)
        return min(
            price + cost(tuple(max(0, a - b) for a, b in zip(left, content, strict=True)))
            for content, price in choices
            if content[first]
        )

    return cost(tuple(counts.tolist()))


def without_end() -> Meter:
    return Meter(Budget(patterns=10**9), never)


@given(st.integers(0, 2**32), st.sampled_from(ORDERS), st.sampled_from((1, 3, 50)), st.sampled_from((1, 2, 9)))
def test_no_content_is_worth_more_than_a_search_says_however_narrow_it_is(
    seed: int, order: Order, width: int, kinds: int
) -> None:
    problem, counts = made_up(seed, first=25)
    rng = Random(seed + 1)
    values: Floats = np.array([rng.choice((0.0, 1.0, 30.0, 90.0, 400.0)) * 1e6 for _ in counts])
    prices = problem.prices.astype(np.float64)
    knapsacks = Knapsacks(problem)
    for factor in (1.0, 0.7, 1.4):
        how = Search(order, width, kinds)
        found = knapsacks.search(counts, Offer(values * factor, prices), how, without_end())
        best = max(
            float(content @ values) * factor / prices[row]
            for row in range(len(prices))
            for content in contents(problem, counts, row)
        )

        assert best <= found.excess * (1 + 1e-9)
        for column in found.columns:
            assert any(np.array_equal(column.counts, each) for each in contents(problem, counts, column.row))


@given(st.integers(0, 2**32))
def test_what_pods_were_worth_in_searches_before_makes_no_proof_wrong(seed: int) -> None:
    """Of many kinds of node only few are looked at anew: others are judged by what was found out earlier."""
    problem, counts = made_up(seed, kinds=15)
    rng, knapsacks = Random(seed + 1), Knapsacks(problem)
    prices = problem.prices.astype(np.float64)
    for _ in range(4):
        values: Floats = np.array([rng.choice((0.0, 0.0, 1e-3, 30.0, 90.0)) * 1e6 for _ in counts])
        found = knapsacks.search(counts, Offer(values, prices), Search("size", 50, 1), without_end())
        best = max(
            float(content @ values) / prices[row]
            for row in range(len(prices))
            for content in contents(problem, counts, row)
        )

        assert best <= found.excess * (1 + 1e-9)


@given(st.integers(0, 2**32))
def test_a_broad_search_finds_the_best_content_that_is_worth_its_price(seed: int) -> None:
    problem, counts = made_up(seed, first=25)
    values, prices = problem.demand @ np.linspace(3e4, 9e6, problem.demand.shape[1]), problem.prices.astype(np.float64)
    found = Knapsacks(problem).search(counts, Offer(values, prices), Search("size", 1_000, 9), without_end())
    best = max(
        float(content @ values) / prices[row]
        for row in range(len(prices))
        for content in contents(problem, counts, row)
    )

    assert best <= 1.001 or found.best == pytest.approx(best)


@given(st.integers(0, 2**32))
def test_what_pods_must_cost_at_least_is_no_more_than_the_cheapest_plan(seed: int) -> None:
    problem, counts = made_up(seed)
    master = Master(problem, counts, NO_LIMITS)
    greedy = pack(problem, counts, NO_LIMITS, without_end())
    master.add([Column(pattern.row, pattern.counts) for pattern in greedy.patterns])
    for searches in (narrow_first(problem), every_kind()):
        generated = generate(problem, master, counts, 0.0, without_end(), searches)
        assert generated is not None
        assert generated.bound <= least_cost(problem, counts)


def test_a_search_that_is_cut_proves_nothing() -> None:
    problem, counts = made_up(1)
    offer = Offer(np.full(len(counts), 1e12), problem.prices.astype(np.float64))
    found = Knapsacks(problem).search(counts, offer, Search("size", 20, 9), Meter(Budget(patterns=0), never))

    assert (found.columns, found.excess) == ((), np.inf)
