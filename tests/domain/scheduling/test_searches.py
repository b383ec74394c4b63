"""Searches for contents of nodes: what they find is there, and what they say can't be isn't."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from nodewright.domain.scheduling.arrays import Ints, every
from nodewright.domain.scheduling.budget import Budget, Meter, never
from nodewright.domain.scheduling.knapsacks import ORDERS, Knapsacks, Offer, Order, Search, Worthwhile
from nodewright.domain.scheduling.problems import Problem

SEEDS = range(12)
WHATEVER = 10_000


def some(seed: int) -> tuple[Problem, Ints, np.random.Generator]:
    """A few kinds and items; of the second resource all nodes may have the same few."""
    draw = np.random.default_rng(seed)
    kinds, items = int(draw.integers(1, 7)), int(draw.integers(1, 5))
    room = draw.integers(1, 30, (kinds, 3)).astype(np.float64)
    demand = draw.integers(0, 8, (items, 3)).astype(np.float64)
    demand[:, 2] = np.maximum(demand[:, 2], 1)
    if seed % 2:
        room[:, 1], demand[:, 1] = draw.integers(1, 4), draw.integers(0, 2, items)
    allowed = every(room[:, None] >= demand, axis=2) & (draw.random((kinds, items)) < 0.8)
    none = np.full(kinds, -1)
    prices = np.sort(draw.integers(5, 60, kinds))
    problem = Problem(np.arange(kinds), prices, room, demand, allowed, none, np.zeros((kinds, 1)), none)
    return problem, draw.integers(1, 7, items), draw


def offers(problem: Problem, draw: np.random.Generator) -> Iterator[Offer]:
    for _ in ORDERS:
        yield Offer(draw.random(len(problem.demand)) * 20, problem.prices.astype(np.float64))


def best_of_all(problem: Problem, counts: Ints, offer: Offer) -> float:
    """The largest value by price of any content, by trying all."""
    best = 0.0
    for numbers in product(*(range(count + 1) for count in counts.tolist())):
        content = np.array(numbers)
        holds = every(content @ problem.demand <= problem.room) & every(problem.allowed | (content == 0))
        if holds.any():
            best = max(best, float((content @ offer.values / offer.prices[holds]).max()))
    return best


def looked(knapsacks: Knapsacks, counts: Ints, offer: Offer, how: Search) -> Worthwhile:
    return knapsacks.search(counts, offer, how, Meter(Budget(10**9), never))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_content_is_worth_more_than_a_narrow_search_says(seed: int) -> None:
    """Prices of resources are kept from search to search, also where values have changed since."""
    problem, counts, draw = some(seed)
    knapsacks = Knapsacks(problem)
    for number, (order, offer) in enumerate(zip(ORDERS, offers(problem, draw), strict=True)):
        found = looked(knapsacks, counts, offer, Search(order, 1 + number, 1 + number, (1e-3, -0.03, 0.2)[number]))
        assert best_of_all(problem, counts, offer) <= found.excess * (1 + 1e-9)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_broad_search_finds_the_best_content(seed: int, order: Order) -> None:
    problem, counts, draw = some(seed)
    for offer in offers(problem, draw):
        found = looked(Knapsacks(problem), counts, offer, Search(order, WHATEVER, WHATEVER, 1e-6))
        best = best_of_all(problem, counts, offer)
        assert found.best == pytest.approx(best) if best > 1 + 1e-6 else found.best == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_found_fits(seed: int) -> None:
    problem, counts, draw = some(seed)
    for offer in offers(problem, draw):
        for column in looked(Knapsacks(problem), counts, offer, Search("size", 3, 3)).columns:
            assert (column.counts <= counts).all()
            assert (column.counts @ problem.demand <= problem.room[column.row]).all()
            assert problem.allowed[column.row][column.counts > 0].all()


def test_a_search_that_is_cut_short_proves_nothing() -> None:
    problem, counts, draw = some(3)
    offer = next(offers(problem, draw))
    found = Knapsacks(problem).search(counts, offer, Search("size", 3, 3), Meter(Budget(0), never))
    assert found.excess == np.inf
    assert not found.columns
