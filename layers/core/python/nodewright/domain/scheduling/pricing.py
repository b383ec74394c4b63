"""What a pod of each item is worth: prices that steer a packing, and duals that prove a bound."""

from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Floats, Ints
from nodewright.domain.scheduling.fluid import cheapest_mix
from nodewright.domain.scheduling.problems import Problem
from nodewright.domain.scheduling.singles import single_resources


def item_prices(problem: Problem, worth: Floats) -> tuple[Floats, ...]:
    """Several ways, none of which wins alone (planning.md, "Greedy that works").

    By resource prices (`worth`: good for small pods), by how many whole ones fit a node (good for large pods),
    the sum of both, and by the share of a node each takes in its scarcest resource.
    """
    shares = _by_share(problem)
    resources = np.maximum(worth, shares * _SOMETHING)
    wholes = by_wholes(problem)
    return resources, wholes, resources + wholes, shares


def placeable(problem: Problem, values: Floats) -> Floats:
    """The values; where a pod is worth nothing, as little as makes it worth placing."""
    return np.maximum(values, _by_share(problem) * _SOMETHING)


_SOMETHING: Final = 1e-6
"""A pod that asks for nothing the prices value must still be worth placing."""


def packing_prices(problem: Problem, worth: Floats) -> tuple[Floats, ...]:
    """Those that greedy packings are made with.

    Resource prices do badly where a node holds one pod of a group: nearly all that such a pod is worth is then the
    price of its place.
    """
    prices = item_prices(problem, worth)
    return (prices[1], prices[3]) if len(single_resources(problem)) else prices


def duals(problem: Problem, counts: Ints) -> Floats:
    """Prices per unit of each resource under which no node is worth more than it costs, and all pods together as
    much as possible: what they cost if they could be divided.
    """
    total = counts @ problem.demand
    asked = (total > 0) & (problem.room > 0).any(axis=0) & _broad(problem)
    values = np.zeros(len(total))
    if asked.any():
        supply = np.maximum(problem.room[:, asked], 0) / total[asked]
        values[asked] = cheapest_mix(supply, problem.prices.astype(np.float64)) / total[asked]
    return values


def _broad(problem: Problem) -> Bools:
    """Resources worth a price: where there are many, those that most items ask for."""
    asking: Bools = 2 * (problem.demand > 0).sum(axis=0) > len(problem.demand)
    return asking if len(asking) > _MANY else np.ones(len(asking), dtype=np.bool_)


_MANY: Final = 32


def _by_share(problem: Problem) -> Floats:
    room = np.where(problem.room > 0, problem.room, np.inf)[:, None, :]
    cost = problem.prices[:, None] * (problem.demand / room).max(axis=2)
    least: Floats = np.where(problem.allowed, cost, np.inf).min(axis=0)
    return least


def by_wholes(problem: Problem) -> Floats:
    """What a pod of each item costs among its like, on the kind of node that is cheapest for them; endless where none
    holds it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        fits = np.floor(problem.room[:, None, :] / problem.demand)
    many = np.where(problem.demand > 0, fits, np.inf).min(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        cost = problem.prices[:, None] / many
    least: Floats = np.where(problem.allowed, cost, np.inf).min(axis=0)
    return least
