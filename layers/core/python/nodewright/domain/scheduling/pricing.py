"""What a pod of each item is worth: prices that steer a packing, and duals that prove a bound."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.problems import Problem


def item_prices(problem: Problem, worth: Floats) -> Iterator[Floats]:
    """Several ways, none of which wins alone (planning.md, "Greedy that works").

    By resource prices (`worth`: good for small pods), by how many whole ones fit a node (good for large pods),
    the sum of both, and by the share of a node each takes in its scarcest resource.
    """
    shares = _by_share(problem)
    # A pod that asks for nothing the prices value must still be worth placing.
    resources = np.maximum(worth, shares * 1e-6)
    wholes = _by_wholes(problem)
    yield resources
    yield wholes
    yield resources + wholes
    yield shares


def duals(problem: Problem, counts: Ints) -> Floats:
    """Prices per unit of each resource under which no node is worth more than it costs, and all
    pods together as much as possible, as far as prices of two resources and lifting the rest go.
    """
    total = counts @ problem.demand
    prices = problem.prices.astype(np.float64)
    found = [_single(problem, prices, total)]
    found += [_pair(problem, prices, total, pair) for pair in combinations(_broad(problem), 2)]
    lifted = [_lift(problem, prices, each) for each in found]
    return max(lifted, key=lambda each: float(total @ each))


def _broad(problem: Problem) -> Sequence[int]:
    """Resources worth pairing: where there are many, those that most items ask for."""
    resources = range(problem.demand.shape[1])
    return (
        resources
        if len(resources) <= _MANY
        else [each for each in resources if 2 * (problem.demand[:, each] > 0).sum() > len(problem.demand)]
    )


_MANY = 8


def _by_share(problem: Problem) -> Floats:
    room = np.where(problem.room > 0, problem.room, np.inf)[:, None, :]
    cost = problem.prices[:, None] * (problem.demand / room).max(axis=2)
    least: Floats = np.where(problem.allowed, cost, np.inf).min(axis=0)
    return least


def _by_wholes(problem: Problem) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        fits = np.floor(problem.room[:, None, :] / problem.demand)
    many = np.where(problem.demand > 0, fits, np.inf).min(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = problem.prices[:, None] / many
    least: Floats = np.where(problem.allowed, cost, np.inf).min(axis=0)
    return least


def _single(problem: Problem, prices: Floats, total: Floats) -> Floats:
    """All weight on the one resource that proves most."""
    most = _bounds(problem, prices)
    finite = np.where(np.isfinite(most), most, 0)
    best = int(np.argmax(finite * total))
    value = np.zeros(len(total))
    value[best] = finite[best]
    return value


def _bounds(problem: Problem, slack: Floats) -> Floats:
    """The highest price of each resource alone."""
    room = problem.room
    with np.errstate(divide="ignore", invalid="ignore"):
        most: Floats = np.where(room > 0, slack[:, None] / room, np.inf).min(axis=0)
    return most


def _pair(problem: Problem, prices: Floats, total: Floats, pair: tuple[int, int]) -> Floats:
    """The best prices of two resources: one is free, the other as high as it then may be.

    What they prove together is concave in the free one, so its peak is closed in on.
    """
    first, second = pair
    value = np.zeros(len(total))
    low, high = 0.0, float(_bounds(problem, prices)[first])
    if not np.isfinite(high):
        return value
    points = np.zeros(0)
    for _ in range(_ROUNDS):
        points = np.linspace(low, high, _POINTS)
        proven = total[first] * points + total[second] * _other(problem, prices, pair, points)
        peak = int(np.argmax(proven))
        low, high = points[max(peak - 1, 0)], points[min(peak + 1, _POINTS - 1)]
    value[first] = (low + high) / 2
    other = _other(problem, prices, pair, value[first : first + 1])
    value[second] = other[0] if np.isfinite(other[0]) else 0
    return value


_ROUNDS = 12
_POINTS = 17


def _other(problem: Problem, prices: Floats, pair: tuple[int, int], points: Floats) -> Floats:
    """The highest price of the second resource at each price of the first."""
    first, second = problem.room[:, pair[0]], problem.room[:, pair[1]]
    slack = np.maximum(prices[:, None] - first[:, None] * points, 0)
    some = second > 0
    if not some.any():
        return np.zeros(len(points))
    most: Floats = (slack[some] / second[some][:, None]).min(axis=0)
    return most


def _lift(problem: Problem, prices: Floats, value: Floats) -> Floats:
    """Raise what still can be raised, resource by resource."""
    lifted = value.copy()
    for resource in range(len(value)):
        slack = np.maximum(prices - np.maximum(problem.room, 0) @ lifted, 0)
        more = _bounds(problem, slack)[resource]
        lifted[resource] += more if np.isfinite(more) else 0
    return lifted
