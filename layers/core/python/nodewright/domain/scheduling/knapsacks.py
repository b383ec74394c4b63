"""The best contents of every kind of node at given values of the pods, or a proof that none is worth its price."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

import numpy as np

from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.linear_program import Column
from nodewright.domain.scheduling.problems import Problem

Order = Literal["size", "density", "mass"]
"""Which items are decided on first: the largest, the most worth for what they take, or those that take most in all."""
ORDERS: Final[tuple[Order, ...]] = ("size", "density", "mass")


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """What pods are worth, and what kinds of node cost."""

    values: Floats
    prices: Floats
    """Of the rows, tolls included."""


@dataclass(frozen=True, slots=True, eq=False)
class Worthwhile:
    """Contents worth more than their node costs, and how far the values overstate what pods must cost."""

    columns: tuple[Column, ...]
    excess: float
    """No content is worth more than this times its price: values divided by it prove a bound (Farley)."""


def worthwhile(problem: Problem, counts: Ints, offer: Offer, order: Order, width: int, meter: Meter) -> Worthwhile:
    """Branch and bound over all kinds at once, an item a layer.

    A layer keeps the `width` most promising states; what it drops is remembered in `excess`, which stays a
    proof. Kinds open to different items are searched apart: their bounds are tighter.
    """
    found: list[Column] = []
    excess = 1.0 + WORTH
    patterns, pattern_of = np.unique(problem.allowed, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        items = np.flatnonzero(pattern & (offer.values > 0) & (counts > 0))
        rows = np.flatnonzero(pattern_of.reshape(-1) == number)
        if len(items):
            search = _Search.of(
                problem, counts, offer, rows, items[_ordered(problem, counts, offer, rows, items, order)]
            )
            states, dropped = search.run(width, meter)
            found += search.columns(states, len(counts))
            excess = max(excess, dropped, search.best(states))
    return Worthwhile(tuple(found), excess)


WORTH: Final = 1e-3
"""A content has to be worth so much more than its price to be looked at: a tenth of a percent (planning.md)."""
_EACH: Final = 4
"""Contents of one kind of node that one search brings."""
_PER_UNIT: Final = 64
"""States that cost as much as one pattern of the budget."""


def _ordered(problem: Problem, counts: Ints, offer: Offer, rows: Ints, items: Ints, order: Order) -> Ints:
    shares = problem.demand[items] / np.maximum(problem.room[rows].max(axis=0), 1)
    size = shares.max(axis=1)
    key = {"size": size, "density": offer.values[items] / shares.sum(axis=1), "mass": counts[items] * size}[order]
    return np.argsort(-key, kind="stable")


@dataclass(frozen=True, slots=True, eq=False)
class _States:
    """Contents under construction."""

    row: Ints
    free: Floats
    value: Floats
    content: Ints
    """States × items of the search."""


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    rows: Ints
    room: Floats
    prices: Floats
    items: Ints
    demand: Floats
    stock: Ints
    values: Floats

    @classmethod
    def of(cls, problem: Problem, counts: Ints, offer: Offer, rows: Ints, items: Ints) -> "_Search":
        room, prices = problem.room[rows], offer.prices[rows]
        return cls(rows, room, prices, items, problem.demand[items], counts[items], offer.values[items])

    def run(self, width: int, meter: Meter) -> tuple[_States, float]:
        """The states after the last layer, and the largest ratio among those dropped; endless when the meter stops."""
        kinds = np.arange(len(self.rows))
        content = np.zeros((len(kinds), len(self.items)), dtype=np.int64)
        states, dropped = _States(kinds, np.maximum(self.room, 0), np.zeros(len(kinds)), content), 0.0
        for layer in range(len(self.items)):
            most = self._most(states, layer)
            if not meter.spend(1 + int(most.sum() + len(most)) // _PER_UNIT):
                return _States(kinds[:0], self.room[:0], states.value[:0], content[:0]), np.inf
            states, lost = self._next(states, layer, most, width)
            dropped = max(dropped, lost)
        return states, dropped

    def best(self, states: _States) -> float:
        """The largest value by price."""
        return float((states.value / self.prices[states.row]).max(initial=0.0))

    def columns(self, states: _States, items: int) -> Iterator[Column]:
        """The best few of each kind."""
        order = np.lexsort((-states.value, states.row))
        starts = np.searchsorted(states.row[order], states.row[order])
        for state in order[np.arange(len(order)) - starts < _EACH]:
            counts = np.zeros(items, dtype=np.int64)
            counts[self.items] = states.content[state]
            yield Column(int(self.rows[states.row[state]]), counts)

    def _most(self, states: _States, layer: int) -> Ints:
        """How many of the layer's item each state has room for."""
        demand = self.demand[layer]
        used = demand > 0
        holds: Floats = np.floor(states.free[:, used] / demand[used]).min(axis=1, initial=float(self.stock[layer]))
        return holds.astype(np.int64)

    def _next(self, states: _States, layer: int, most: Ints, width: int) -> tuple[_States, float]:
        """Each state with every number of the item, as far as promising; and the best of what is dropped of that."""
        parent = np.repeat(np.arange(len(most)), most + 1)
        many = np.arange(len(parent)) - np.repeat(np.cumsum(most + 1) - (most + 1), most + 1)
        row, free = states.row[parent], states.free[parent] - many[:, None] * self.demand[layer]
        value = states.value[parent] + many * self.values[layer]
        ratio = self._promise(row, free, value, layer + 1)
        kept, lost = _kept(ratio, width)
        content = states.content[parent[kept]]
        content[:, layer] = many[kept]
        return _States(row[kept], free[kept], value[kept], content), lost

    def _promise(self, row: Ints, free: Floats, value: Floats, layer: int) -> Floats:
        """The most the value can still become, by the price."""
        if layer < len(self.items):
            rates = _rates(self.demand[layer:], self.values[layer:])
            value = value + (free @ rates.T).min(axis=1)
        promise: Floats = value / self.prices[row]
        return promise


def _kept(ratio: Floats, width: int) -> tuple[Ints, float]:
    promising = np.flatnonzero(ratio > 1 + WORTH)
    if len(promising) <= width:
        return promising, 0.0
    order = promising[np.argsort(-ratio[promising], kind="stable")]
    return np.sort(order[:width]), float(ratio[order[width]])


def _rates(demand: Floats, values: Floats) -> Floats:
    """Prices of resources at which no item is worth more than it takes: vertices × resources.

    Each resource alone, and the corners of each of the first pairs' hulls. Any of them bounds what free
    resources can still be worth.
    """
    with np.errstate(divide="ignore"):
        alone = (values[:, None] / demand).max(axis=0)
    found = [np.where(np.arange(len(alone)) == at, rate, 0.0) for at, rate in enumerate(alone) if np.isfinite(rate)]
    for first, second in _PAIRS:
        if second < demand.shape[1]:
            for rates in _corners(demand[:, first] / values, demand[:, second] / values):
                corner = np.zeros(demand.shape[1])
                corner[[first, second]] = rates
                found.append(corner)
    if not found:
        return np.full((1, demand.shape[1]), np.inf)
    return np.array(found)


_PAIRS: Final = ((0, 1), (0, 2), (1, 2))


def _corners(x: Floats, y: Floats) -> Iterator[tuple[float, float]]:
    """(a, b) ≥ 0 with a·x + b·y ≥ 1 for every point, tight at two of them: edges of the hull towards the origin."""
    hull: list[tuple[float, float]] = []
    for point in sorted(set(zip(x.tolist(), y.tolist(), strict=True))):
        while len(hull) > 1 and _is_above(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    for (x1, y1), (x2, y2) in pairwise(hull):
        det = x1 * y2 - x2 * y1
        if y2 < y1 and det < 0:
            yield (y2 - y1) / det, (x1 - x2) / det


def _is_above(one: tuple[float, float], two: tuple[float, float], three: tuple[float, float]) -> bool:
    """Whether the middle one isn't below the line between the others."""
    return (two[0] - one[0]) * (three[1] - one[1]) - (two[1] - one[1]) * (three[0] - one[0]) <= 0
