"""What a kind of node can hold at most in value, were pods divisible: many small linear programs, solved together.

Each has a row a resource. Their duals, prices of resources at which no pod is worth more than it takes, bound what any
free part of such a node can still be worth.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Floats, Ints
from nodewright.domain.scheduling.problems import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Ceilings:
    """What free resources can still be worth at most: kinds × views, the least of which counts."""

    room: Floats
    """Views × kinds: what an empty node has, at the prices of resources."""
    needs: Floats
    """Layers × views × kinds: what one of the layer's item takes, at the same prices."""
    scales: Floats
    """Layers × views × kinds: by what they have to be multiplied where the items of this layer and later are left.
    One more than there are layers."""

    @property
    def most(self) -> Floats:
        """What each kind's content can be worth."""
        return np.minimum.reduce(self.room * self.scales[0], axis=0)  # type: ignore[no-any-return]

    def losses(self, values: Floats) -> Floats:
        """Layers × kinds: by how much less a content can be worth with one of the layer's item in it."""
        tightest = (self.room * self.scales[0]).argmin(axis=0)
        each = np.arange(len(tightest))
        lost: Floats = self.needs[:, tightest, each] * self.scales[0, tightest, each] - values[:, None]
        return lost


class RelaxedKnapsacks:
    """Of all kinds of node of a problem. One after the other is quick: bases are kept.

    A view is a set of resources thought of as used up, for those may be long before others: of which all nodes have
    the same few.
    """

    def __init__(self, problem: Problem) -> None:
        self._allowed = problem.allowed
        self._scale = np.maximum(problem.room.max(axis=0, initial=1.0), 1.0)
        self._demand = problem.demand / self._scale
        self._used_up = np.array(list(_views(problem)))
        room = np.maximum(problem.room, 0.0) / self._scale
        self._room = np.where(self._used_up[None], 0.0, room[:, None])
        asks = (self._used_up[:, None] & (problem.demand > 0)).any(axis=2)
        self._able = problem.allowed[:, None] & ~asks
        kinds, self.views, resources = self._room.shape
        items = len(problem.demand)
        self._basis = np.tile(np.arange(items, items + resources), (kinds, self.views, 1))
        self._prices = np.ones(self._room.shape)

    def most(self, values: Floats, items: Ints, stock: Ints) -> Floats:
        """What each kind's content can be worth with these items at these values.

        At lower prices pods are worth more than they take, which counts as often as there are such pods: for large
        nodes and few pods that is less.
        """
        needs = self._prices @ self._demand[items].T
        gains = np.where(self._allowed[:, items], values[items], 0.0)[:, None]
        scale = _ratio(gains, needs).max(axis=2, initial=0.0)
        needs *= scale[:, :, None]
        room = np.einsum("kvr,kr->kv", self._prices, self._room[:, 0]) * scale
        worth = [part * room + np.maximum(gains - part * needs, 0.0) @ stock for part in _PARTS]
        least: Floats = np.minimum.reduce([room, *worth]).min(axis=1)
        return least

    def renew(self, values: Floats, kinds: Ints) -> None:
        """Work out the prices of these kinds at these values. Old ones do, too, but prove less."""
        room, basis = self._room[kinds], self._basis[kinds]
        gains = np.where(self._able[kinds], values, 0.0).reshape(-1, len(values))
        programs = _Programs(room.reshape(-1, room.shape[2]), self._demand, gains, basis.reshape(-1, basis.shape[2]))
        programs.solve()
        self._basis[kinds] = programs.basis.reshape(basis.shape)
        prices = np.maximum(programs.prices, 0.0).reshape(room.shape)
        for resource in np.flatnonzero(self._used_up.any(axis=0)).tolist():
            views = np.flatnonzero(self._used_up[:, resource])
            asking = np.flatnonzero(self._demand[:, resource] > 0)
            others = prices[:, views] @ self._demand[asking].T
            short = np.where(self._allowed[kinds][:, None, asking], values[asking] - others, 0.0)
            need = (short / self._demand[asking, resource]).max(axis=2, initial=0.0)
            prices[:, views, resource] += np.maximum(need, 0.0)
        largest = prices.max(axis=2, initial=0.0, keepdims=True)
        # Only their proportions count. Where no pod is worth anything now, one may be later: old prices stay.
        shares = np.maximum(prices / np.where(largest > 0, largest, 1.0), _NOTHING)
        self._prices[kinds] = np.where(largest > 0, shares, self._prices[kinds])

    def ceilings(self, values: Floats, items: Ints, kinds: Ints) -> Ceilings:
        """Of these kinds at these values, where items come to be decided on in this order."""
        prices = self._prices[kinds]
        room = np.einsum("kvr,kr->vk", prices, self._room[kinds, 0])
        needs = np.ascontiguousarray((prices @ self._demand[items].T).transpose(2, 1, 0))
        gains = np.where(self._allowed[np.ix_(kinds, items)], values[items], 0.0).T[:, None]
        scales = np.zeros((len(items) + 1, *room.shape))
        scales[:-1] = np.maximum.accumulate(_ratio(gains, needs)[::-1])[::-1]
        return Ceilings(room, needs, scales)


def _ratio(gains: Floats, needs: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gains > 0, np.minimum(gains / needs, _ENDLESS), 0.0)


def _views(problem: Problem) -> Iterator[Bools]:
    room = problem.room
    few = np.flatnonzero((room == room[:1]).all(axis=0) & (room[0] <= _FEW)).tolist()[:_MOST_FEW]
    for many in range(len(few) + 1):
        for used_up in combinations(few, many):
            yield np.isin(np.arange(room.shape[1]), used_up)


_FEW: Final = 16
_MOST_FEW: Final = 2
_PARTS: Final = (0.2, 0.5, 0.8)
_ENDLESS: Final = 1e30
_STEPS: Final = 60
_NOTHING: Final = 1e-9


class _Programs:
    """The simplex method, a step in each program at a time. Items come first, then a slack a resource."""

    def __init__(self, room: Floats, demand: Floats, gains: Floats, basis: Ints) -> None:
        programs, resources = room.shape
        self._columns = np.concatenate([demand, np.eye(resources)])
        self._gains = np.concatenate([gains, np.zeros((programs, resources))], axis=1)
        self.basis = basis.copy()
        self._inverse = np.linalg.inv(self._columns[basis].transpose(0, 2, 1))
        self._amounts = np.einsum("nij,nj->ni", self._inverse, room)
        earned = np.take_along_axis(self._gains, basis, axis=1)
        self.prices = np.einsum("nj,nji->ni", earned, self._inverse)
        self._open = np.arange(programs)
        self._least = float(gains.max(initial=0.0)) * _NOTHING

    def solve(self) -> None:
        """As far as it gets: prices that aren't the best ones still do, once they are scaled."""
        for _ in range(_STEPS):
            better = self._gains[self._open] - self.prices[self._open] @ self._columns.T
            enters = better.argmax(axis=1)
            gain = np.take_along_axis(better, enters[:, None], axis=1)[:, 0]
            able = gain > self._least
            self._open = self._open[able]
            if not len(self._open):
                return
            self._pivot(enters[able], gain[able])

    def _pivot(self, enters: Ints, gain: Floats) -> None:
        way = np.einsum("nij,nj->ni", self._inverse[self._open], self._columns[enters])
        with np.errstate(divide="ignore", invalid="ignore"):
            limits = np.where(way > _NOTHING, np.maximum(self._amounts[self._open], 0.0) / way, np.inf)
        leaves = limits.argmin(axis=1)
        at, each = self._open, np.arange(len(self._open))
        row = self._inverse[at, leaves] / way[each, leaves][:, None]
        self.prices[at] += gain[:, None] * row
        self._inverse[at] -= way[:, :, None] * row[:, None, :]
        self._inverse[at, leaves] = row
        self._amounts[at] -= limits[each, leaves][:, None] * way
        self._amounts[at, leaves] = limits[each, leaves]
        self.basis[at, leaves] = enters
