"""The best contents of every kind of node at given values of the pods, or a proof that none is worth its price."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Floats, Ints
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.linear_program import Column
from nodewright.domain.scheduling.problems import Problem
from nodewright.domain.scheduling.relaxed_knapsacks import Ceilings, RelaxedKnapsacks

Order = Literal["size", "density", "mass"]
"""Which items are decided on first: the largest, the most worth for what they take, or those that take most in all."""
ORDERS: Final[tuple[Order, ...]] = ("size", "density", "mass")


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """What pods are worth, and what kinds of node cost."""

    values: Floats
    prices: Floats
    """Of the rows, tolls included."""


@dataclass(frozen=True, slots=True)
class Search:
    """How to look."""

    order: Order
    width: int
    """States of each kind of node that a layer keeps."""
    kinds: int
    """The most promising ones are looked at."""
    worth: float = 1e-3
    """A content has to be worth so much more than its price: a tenth of a percent (planning.md)."""


@dataclass(frozen=True, slots=True, eq=False)
class Worthwhile:
    """Contents worth more than their node costs, and how far the values overstate what pods must cost."""

    columns: tuple[Column, ...]
    excess: float
    """No content is worth more than this times its price: values divided by it prove a bound (Farley)."""
    best: float = 0.0
    """The same of those that were found."""


class Knapsacks:
    """Branch and bound over many kinds of node at once, an item a layer.

    A layer keeps the most promising states of each kind; what it drops is remembered in `excess`, which stays a proof.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem, self._most = problem.narrowed()
        self._relaxed = RelaxedKnapsacks(self._problem)

    def search(self, counts: Ints, offer: Offer, how: Search, meter: Meter) -> Worthwhile:
        """Endless excess when the meter stops."""
        items = _ordered(self._problem, counts, offer, how.order)
        promise, judged = self._promise(offer, items, counts[items], how.kinds)
        best = np.argsort(-promise, kind="stable")[: how.kinds]
        rows = np.sort(best[promise[best] > 1 + how.worth])
        ceilings = self._relaxed.ceilings(offer.values, items, rows)
        stock = np.minimum(self._most[np.ix_(rows, items)], counts[items])
        tree = _Tree(self._problem, stock, offer, items, rows, ceilings, how)
        if not meter.spend(judged * self._relaxed.views // _JUDGED_A_UNIT) or not tree.grown(meter):
            return Worthwhile((), np.inf)
        promise[rows] = 0.0
        excess = max(1 + how.worth, float(promise.max(initial=0.0)), tree.dropped, tree.best)
        return Worthwhile(tuple(tree.columns()), excess, tree.best)

    def _promise(self, offer: Offer, items: Ints, stock: Ints, kinds: int) -> tuple[Floats, int]:
        """What each kind's content may be worth by its price, and of how many that was worked out anew.

        Old prices still prove something, so that those have to be judged anew that promise most by them: only where
        others then promise more than these all are.
        """
        promise = self._relaxed.most(offer.values, items, stock) / offer.prices
        fresh = np.zeros(len(promise), dtype=np.bool_)
        for number in (*(many * kinds for many in _JUDGED), len(promise)):
            best = np.argsort(-promise, kind="stable")
            if fresh[best[:kinds]].all():
                break
            judged = best[:number]
            self._relaxed.renew(offer.values, judged[~fresh[judged]])
            fresh[judged] = True
            promise = self._relaxed.most(offer.values, items, stock) / offer.prices
        return promise, int(fresh.sum())


_JUDGED_A_UNIT: Final = 2
"""Kinds × views that are judged for one pattern of the budget."""
_JUDGED: Final = (3, 9)
"""For each kind that is looked at: first so many, then more, then all."""
_EACH: Final = 4
"""Contents of one kind of node that one search brings."""
_PER_UNIT: Final = 256
"""States that cost as much as one pattern of the budget."""
_LAYER: Final = 2
"""Patterns of the budget that a layer costs anyhow."""


def _ordered(problem: Problem, counts: Ints, offer: Offer, order: Order) -> Ints:
    items = np.flatnonzero((offer.values > 0) & (counts > 0))
    shares = problem.demand[items] / np.maximum(problem.room.max(axis=0, initial=1), 1)
    size = shares.max(axis=1)
    key = {"size": size, "density": offer.values[items] / shares.sum(axis=1), "mass": counts[items] * size}[order]
    return items[np.argsort(-key, kind="stable")]


@dataclass(frozen=True, slots=True, eq=False)
class _States:
    """Contents under construction. What is small comes first in the arrays: this is the inner loop."""

    kind: Ints
    free: Floats
    """Resources × states."""
    value: Floats
    rest: Floats
    """Views × states: what is free, at the prices of the ceilings."""

    def __len__(self) -> int:
        return len(self.kind)


class _Tree:
    def __init__(
        self, problem: Problem, stock: Ints, offer: Offer, items: Ints, rows: Ints, ceilings: Ceilings, how: Search
    ) -> None:
        """`stock`: rows × items, as many as one may hold at most."""
        self.dropped = 0.0
        self._rows, self._items, self._width = rows, items, how.width
        self._demand, self._values = problem.demand[items], offer.values[items]
        self._stock = np.where(problem.allowed[np.ix_(rows, items)], stock, 0).T
        self._prices = offer.prices[rows]
        self._least = self._prices * (1 + how.worth)
        self._ceilings = ceilings
        self._stock[ceilings.losses(self._values) > ceilings.most - self._least] = 0
        self._all_items = len(problem.demand)
        free = np.maximum(problem.room[rows], 0.0).T
        self._states = _States(np.arange(len(rows)), free, np.zeros(len(rows)), ceilings.room)
        self._steps: list[tuple[int, Ints, Ints]] = []
        """Layers that changed something: of each state the one before, and how many of the item it got."""

    def grown(self, meter: Meter) -> bool:
        """Whether the meter let it finish."""
        for layer in range(len(self._items)):
            if not len(self._states):
                break
            most = self._most(layer)
            tried = self._branch(layer, most) if most.any() else 0
            if not meter.spend(_LAYER + tried // _PER_UNIT):
                return False
        return True

    @property
    def best(self) -> float:
        """The largest value by price."""
        return float((self._states.value / self._prices[self._states.kind]).max(initial=0.0))

    def columns(self) -> Iterator[Column]:
        """The best few of each kind."""
        chosen = _first(np.lexsort((-self._states.value, self._states.kind)), self._states.kind, _EACH)
        contents = np.zeros((len(chosen), self._all_items), dtype=np.int64)
        kinds, at = self._states.kind[chosen], chosen
        for layer, parent, many in reversed(self._steps):
            contents[:, self._items[layer]] = many[at]
            at = parent[at]
        return (Column(int(self._rows[kind]), content) for kind, content in zip(kinds, contents, strict=True))

    def _most(self, layer: int) -> Ints:
        """How many of the layer's item each state has room for."""
        holds: Floats = self._stock[layer][self._states.kind].astype(np.float64)
        for demand, free in zip(self._demand[layer].tolist(), self._states.free, strict=True):
            if demand > 0:
                holds = np.minimum(holds, free / demand)
        return holds.astype(np.int64)

    def _branch(self, layer: int, most: Ints) -> int:
        """Each state with every number of the item, as far as promising; how many were tried."""
        low, high = self._promising(layer, most) if most.sum() > _MANY * len(most) else (np.zeros_like(most), most)
        number = np.maximum(high - low + 1, 0)
        parent = np.repeat(np.arange(len(number)), number)
        many = np.arange(len(parent)) + (low - np.cumsum(number) + number)[parent]
        before = self._states
        kind = before.kind[parent]
        value = before.value[parent] + many * self._values[layer]
        rest = before.rest[:, parent] - many * self._ceilings.needs[layer][:, kind]
        promise = value + np.minimum.reduce(rest * self._ceilings.scales[layer + 1][:, kind], axis=0)
        kept = self._kept(kind, promise)
        parent, many = parent[kept], many[kept]
        free = before.free[:, parent] - many * self._demand[layer][:, None]
        self._states = _States(kind[kept], free, value[kept], rest[:, kept])
        self._steps.append((layer, parent, many))
        return len(promise)

    def _promising(self, layer: int, most: Ints) -> tuple[Ints, Ints]:
        """The least and the largest number of the item with which a state is worth going on with.

        What the free rest can be worth is the least of lines in that number, so that there is one range.
        """
        states = self._states
        scales = self._ceilings.scales[layer + 1][:, states.kind]
        slope = self._values[layer] - self._ceilings.needs[layer][:, states.kind] * scales
        short = self._least[states.kind] - states.value - states.rest * scales
        with np.errstate(divide="ignore", invalid="ignore"):
            bounds = short / slope
        low = np.where(slope > 0, bounds, 0.0).max(axis=0)
        high = np.where(slope < 0, bounds, most).min(axis=0)
        least = np.ceil(np.clip(low - _CLOSE, 0, most)).astype(np.int64)
        largest = np.floor(np.clip(high + _CLOSE, -1, most)).astype(np.int64)
        return least, largest

    def _kept(self, kind: Ints, promise: Floats) -> Ints:
        """What is worth going on with; the most promising of each kind."""
        promising = np.flatnonzero(promise > self._least[kind])
        if len(promising) <= self._width:
            return promising
        kind, promise = kind[promising], promise[promising] / self._prices[kind[promising]]
        order = np.lexsort((-promise, kind))
        first = np.searchsorted(kind[order], np.arange(len(self._rows) + 1))
        which = np.arange(len(order)) - first[kind[order]] < self._width
        if not which.all():
            self.dropped = max(self.dropped, float(promise[order[~which]].max()))
        return promising[order[which]]


_CLOSE: Final = 1e-9
_MANY: Final = 6
"""Of an item, on average; where there are fewer finding out which are promising takes longer than trying all."""


def _first(order: Ints, kind: Ints, many: int) -> Ints:
    """The first few of each kind, of states sorted by kind."""
    sorted_kinds = kind[order]
    within: Bools = np.arange(len(order)) - np.searchsorted(sorted_kinds, sorted_kinds) < many
    chosen: Ints = order[within]
    return chosen
