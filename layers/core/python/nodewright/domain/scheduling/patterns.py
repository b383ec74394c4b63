"""What to put on one node: a good filling of every kind of node at once."""

from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Floats, Ints


def fill(room: Floats, demand: Floats, allowed: Bools, left: Ints, values: Floats) -> Ints:
    """Nodes × items: how many of each item, of at most `left`, to put on each node for much value.

    Adaptive density: always the item with most value for what it takes, where a resource weighs more
    the scarcer it has become on that node. At first half of what fits, then an eighth at a time: scarcity
    hardly changes the choice while a quarter of everything is free.
    """
    useful = np.flatnonzero(allowed.any(axis=0) & (left > 0))
    counts = np.zeros(allowed.shape, dtype=np.int64)
    if len(useful):
        counts[:, useful] = _filled(room, demand[useful], allowed[:, useful], left[useful], values[useful])
    return counts


def _filled(room: Floats, demand: Floats, allowed: Bools, left: Ints, values: Floats) -> Ints:
    counts = np.zeros(allowed.shape, dtype=np.int64)
    filling = _Filling(room, demand, allowed, left, values)
    while len(filling.nodes):
        chosen, fits = filling.densest()
        if not fits.all():
            counts[filling.nodes[~fits]] = filling.content[~fits]
            filling.keep(fits)
            chosen = chosen[fits]
        filling.add(chosen)
    return counts


_COARSE: Final = 2
_FINE: Final = 8
_SLIGHT: Final = 16
"""What takes no more than this part of what is free changes scarcity little."""
_FULL: Final = 4
_EMPTY: Final = 1e-9


class _Filling:
    """The nodes that may still hold more. Arrays are kept compact: this is the planner's inner loop."""

    def __init__(self, room: Floats, demand: Floats, allowed: Bools, left: Ints, values: Floats) -> None:
        self.nodes = np.arange(len(room))
        self.content = np.zeros(allowed.shape, dtype=np.int64)
        self._room = room
        self._free = room.copy()
        self._stock = np.where(allowed, left, 0)
        self._demand = demand
        self._divisor = np.where(demand > 0, demand, np.nan)
        self._transposed = np.ascontiguousarray(demand.T)
        self._values = values

    def densest(self) -> tuple[Ints, Bools]:
        """The best item of each node, and whether there is any."""
        may = self._stock > 0
        for resource, amounts in enumerate(self._transposed):
            may &= self._free[:, resource, None] >= amounts
        weights = self._room / np.maximum(self._free, _EMPTY) ** 2
        density = self._values / (weights @ self._transposed)
        density *= may
        chosen = density.argmax(axis=1)
        fits: Bools = may[np.arange(len(chosen)), chosen]
        return chosen, fits

    def keep(self, nodes: Bools) -> None:
        """Drop the others."""
        self.nodes, self.content = self.nodes[nodes], self.content[nodes]
        self._room, self._free, self._stock = self._room[nodes], self._free[nodes], self._stock[nodes]

    def add(self, chosen: Ints) -> None:
        """Some of the chosen item on each node."""
        rows = np.arange(len(chosen))
        # Whole numbers below 2**53 divide exactly enough; what isn't asked for gives nan, which fmin skips.
        holds = np.fmin.reduce(self._free / self._divisor[chosen], axis=1)
        many = np.minimum(holds, self._stock[rows, chosen]).astype(np.int64)
        empty = (self._free > self._room / _FULL).all(axis=1)
        step = np.maximum(many // np.where(empty, _COARSE, _FINE), np.minimum(many, holds // _SLIGHT))
        step = np.maximum(step.astype(np.int64), 1)
        self.content[rows, chosen] += step
        self._stock[rows, chosen] -= step
        self._free -= step[:, None] * self._demand[chosen]
