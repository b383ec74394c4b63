"""Among plans of equal price the one with fewer nodes wins, then the more evenly filled: against all there are."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.quantities import CPU, Resources
from nodewright.domain.scheduling import Budget, solve
from tests.builders import USD, instance_type, options, pod, pods, pool, snapshot

Kinds = tuple[tuple[int, int], ...]
"""Cores that can be used, and price."""


def plan_of(kinds: Kinds, sizes: Sequence[int], budget: Budget | None = None) -> Plan:
    types = [
        instance_type(f"x.{number}", cpu=cores, memory="64Gi", on_demand=price, spot=None, zones=("a",))
        for number, (cores, price) in enumerate(kinds)
    ]
    waiting: list[Pod] = [pod(f"p-{number}", cpu=size, memory=0) for number, size in enumerate(sizes)]
    return solve(snapshot(waiting, pools=[options(types=types)]), budget or Budget())


def standing(plan: Plan, kinds: Kinds) -> tuple[int, int, list[Fraction]]:
    """Price, nodes, and how full each is, the fullest first."""
    largest = {price: max(cores for cores, each in kinds if each == price) for _, price in kinds}
    shares = [
        Fraction(launch.requests.get(CPU), 1000 * largest[launch.price // USD])
        for launch in plan.launches
        for _ in launch.nodes
    ]
    return plan.cost // USD, len(shares), sorted(shares, reverse=True)


def every_way(sizes: Sequence[int]) -> Iterator[list[list[int]]]:
    """Each partition of the pods."""
    if not sizes:
        yield []
        return
    for rest in every_way(sizes[1:]):
        for at in range(len(rest)):
            yield [*rest[:at], [sizes[0], *rest[at]], *rest[at + 1 :]]
        yield [[sizes[0]], *rest]


def best_of_all(kinds: Kinds, sizes: Sequence[int]) -> tuple[int, int, list[Fraction]]:
    """By trying everything; of kinds at one price the largest is the emptiest."""
    found = []
    for way in every_way(sizes):
        nodes = [_kind(kinds, sum(node)) for node in way]
        if all(nodes):
            price = sum(kind[1] for kind in nodes if kind)
            shares = [Fraction(sum(node), kind[0]) for node, kind in zip(way, nodes, strict=True) if kind]
            found.append((price, len(way), sorted(shares, reverse=True)))
    return min(found)


def _kind(kinds: Kinds, cores: int) -> tuple[int, int] | None:
    return min((kind for kind in kinds if kind[0] >= cores), key=lambda kind: (kind[1], -kind[0]), default=None)


DOUBLING: Kinds = ((4, 1), (8, 2), (16, 4))


@pytest.mark.parametrize("budget", [Budget(), Budget(columns=0)])
def test_one_node_comes_before_two_of_half_the_size_and_price(budget: Budget) -> None:
    assert standing(plan_of(DOUBLING, [4, 4], budget), DOUBLING) == (2, 1, [Fraction(1)])
    assert standing(plan_of(DOUBLING, [4] * 16, budget), DOUBLING)[:2] == (16, 4)


def test_limits_count_where_nodes_are_made_one() -> None:
    kinds: Kinds = ((4, 1), (9, 2))
    types = [instance_type(f"x.{n}", cpu=cores, on_demand=price, spot=None) for n, (cores, price) in enumerate(kinds)]
    tight = Resources({CPU: 8000})
    plan = solve(snapshot(pods(2, cpu=4, memory=0), pools=[options(pool(limits=tight), types, tight)]))
    assert [len(launch.nodes) for launch in plan.launches] == [2], "nine cores are more than the limit"


def test_pods_move_from_full_nodes_to_empty_ones_of_the_same_price() -> None:
    """The first alone would take four and leave one for the second."""
    kinds: Kinds = ((4, 1),)
    assert standing(plan_of(kinds, [1] * 5), kinds) == (2, 2, [Fraction(3, 4), Fraction(1, 2)])


def test_pods_change_places_where_none_can_move() -> None:
    kinds: Kinds = ((6, 1),)
    assert standing(plan_of(kinds, [4, 2, 3, 1]), kinds) == (2, 2, [Fraction(5, 6), Fraction(5, 6)])


def test_there_are_no_more_launches_for_it() -> None:
    """A hundred nodes of three and a last one of one: two of two, not a hundred different ones."""
    plan = plan_of(((3, 1),), [1] * 301)
    contents = {len(content) for launch in plan.launches for content in launch.nodes}
    assert (contents, len(plan.launches)) == ({3, 2}, 2)


def test_a_nodes_pods_are_divided_among_others_that_grow() -> None:
    """[5 1] and [5] on six cores each and [2 2] on four: two of eight cost as much."""
    kinds: Kinds = ((2, 1), (4, 2), (8, 4), (6, 3))
    assert standing(plan_of(kinds, [1, 2, 2, 5, 5]), kinds)[:2] == (8, 2)


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from([2, 3, 4, 5]),
    st.lists(st.tuples(st.integers(2, 16), st.integers(1, 5)), max_size=1),
    st.lists(st.integers(1, 5), min_size=1, max_size=6),
)
def test_no_plan_of_that_price_has_fewer_nodes(base: int, odd: list[tuple[int, int]], sizes: list[int]) -> None:
    kinds: Kinds = (*((base * times, times) for times in (1, 2, 4)), *odd)
    found, least = standing(plan_of(kinds, sizes), kinds), best_of_all(kinds, sizes)
    assert found[:2] == least[:2]


@pytest.mark.parametrize(
    ("kinds", "sizes"),
    [
        (((4, 1), (8, 2), (16, 4)), [2, 3, 5]),
        (((3, 1), (6, 2), (12, 4)), [3, 5, 5, 2, 5, 4, 4]),
        (((5, 1), (10, 2), (4, 3), (20, 4)), [3, 1, 4, 5, 1]),
        (((3, 1), (6, 2), (12, 4)), [4, 3, 3, 4, 2, 1]),
        (((2, 1), (4, 2), (15, 3), (8, 4)), [5, 2, 3, 4, 2, 3, 1]),
        (((4, 1), (7, 1), (8, 2), (16, 4)), [3, 1, 4, 1, 5, 3, 2]),
        (((11, 1), (4, 1), (8, 2), (16, 4)), [4, 3, 4, 5]),
        (((3, 1), (6, 2), (12, 4)), [2, 4, 4, 3, 3, 3]),
        (((5, 1), (10, 2), (20, 4)), [1, 3, 3, 2, 4, 1]),
        (((4, 1), (8, 2), (9, 2), (16, 4)), [4, 3, 5, 5, 3, 2]),
    ],
)
def test_no_plan_of_that_price_and_number_is_more_even(kinds: Kinds, sizes: list[int]) -> None:
    assert standing(plan_of(kinds, sizes), kinds) == best_of_all(kinds, sizes)
