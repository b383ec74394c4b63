"""What to put on one node: a good filling of every kind of node at once."""

from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Floats, Ints


def fill(room: Floats, demand: Floats, allowed: Bools, left: Ints, values: Floats, kept: Ints | None = None) -> Ints:
    """Nodes × items: how many of each item, of at most `left` (of each node's own, if it has two dimensions), to put
    on each node for much value. `kept`: what is on them already and stays, which fits and is part of `left`.

    Adaptive density: always the item with most value for what it takes, where a resource weighs more
    the scarcer it has become on that node. At first half of what fits, then an eighth at a time: scarcity
    hardly changes the choice while a quarter of everything is free.
    """
    useful = np.flatnonzero((allowed & (left > 0)).any(axis=0))
    counts = np.zeros(allowed.shape, dtype=np.int64)
    if len(useful):
        some = counts[:, useful] if kept is None else kept[:, useful]
        filling = _Filling(room, demand[useful], allowed[:, useful], left[..., useful], values[useful], some)
        counts[:, useful] = some + _added(filling, some)
    return counts


def _added(filling: "_Filling", kept: Ints) -> Ints:
    counts = np.zeros_like(kept)
    while len(filling.nodes):
        full = filling.add_densest()
        if full is not None:
            counts[filling.nodes[full]] = filling.content(full)
            filling.keep(~full)
    return counts


_COARSE: Final = 1 / 2
_FINE: Final = 1 / 8
_SLIGHT: Final = 1 / 16
"""What takes no more than this part of what is free changes scarcity little."""
_FULL: Final = 4
_EMPTY: Final = 1e-9


class _Filling:
    """The nodes that may still hold more. This is the planner's inner loop: few calls, compact arrays."""

    def __init__(self, room: Floats, demand: Floats, allowed: Bools, left: Ints, values: Floats, kept: Ints) -> None:
        self.nodes = np.arange(len(room))
        self._room = room
        self._free = room - kept @ demand
        # Their order in memory counts: parts of them are looked at flat.
        self._first = np.where(allowed, left - kept, 0).astype(np.float64, order="C")
        self._demand = demand
        self._divisor = np.where(demand > 0, demand, np.nan)
        self._transposed = np.ascontiguousarray(demand.T)
        self._parts = np.array([_FINE, _COARSE])
        self._begin(self._first.copy(), (self._first > 0) * values)
        self._forget_large(self.nodes)

    def content(self, nodes: Bools) -> Ints:
        """What is on these."""
        return (self._first[nodes] - self._stock[nodes]).astype(np.int64)

    def keep(self, nodes: Bools) -> None:
        """Drop the others."""
        self.nodes = self.nodes[nodes]
        self._room, self._free, self._first = self._room[nodes], self._free[nodes], self._first[nodes]
        self._begin(self._stock[nodes], self._values[nodes])

    def add_densest(self) -> Bools | None:
        """Some of the best item on each node; the nodes that hold no more, if any, and then nothing is added."""
        chosen, holds = self._densest()
        # A minimum is found sooner than all are asked; nan is not more than one either.
        if not holds.min() >= 1:
            self._forget_large(np.flatnonzero(~(holds >= 1)))
            chosen, holds = self._densest()
            full = ~(holds >= 1)
            if full.any():
                return full
        self._add(chosen, holds)
        return None

    def _begin(self, stock: Floats, values: Floats) -> None:
        self._stock, self._values = stock, values
        self._flat_stock, self._flat_values = stock.reshape(-1), values.reshape(-1)
        self._starts = np.arange(len(stock)) * stock.shape[1]

    def _densest(self) -> tuple[Ints, Floats]:
        """The item of most value for what it takes on each node, and how many fit; none where none has any value."""
        weights = self._room / np.square(np.maximum(self._free, _EMPTY))
        chosen = (self._values / np.dot(weights, self._transposed)).argmax(axis=1)
        # Whole numbers below 2**53 divide exactly enough; what isn't asked for gives nan, which fmin skips.
        holds = np.fmin.reduce(self._free / self._divisor.take(chosen, axis=0), axis=1)
        holds[self._flat_values.take(self._starts + chosen) <= 0] = 0
        return chosen, holds

    def _forget_large(self, nodes: Ints) -> None:
        """What doesn't fit never will, and has no value. Looked for only where such a thing comes first."""
        free = self._free.T.take(nodes, axis=1)
        self._values[nodes] *= (free[:, :, None] >= self._transposed[:, None, :]).all(axis=0)

    def _add(self, chosen: Ints, holds: Floats) -> None:
        places = self._starts + chosen
        stock = self._flat_stock.take(places)
        many = np.minimum(holds, stock)
        step = np.maximum(many * self._part(), np.minimum(many, holds * _SLIGHT))
        step = np.floor(np.maximum(step, 1))
        stock -= step
        self._flat_stock[places] = stock
        if stock.min() == 0:
            self._flat_values[places[stock == 0]] = 0
        self._free -= step[:, None] * self._demand.take(chosen, axis=0)

    def _part(self) -> Floats:
        """Of what fits, on each node."""
        if len(self._parts) > 1:
            empty = (self._free * _FULL > self._room).all(axis=1)
            if empty.any():
                return self._parts.take(empty)
            self._parts = self._parts[:1]
        return self._parts
