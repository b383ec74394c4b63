"""Nodes that a plan opens in one tier for entangled pods.

A node keeps every offering that still holds what is on it; it counts as the cheapest of those. What a further
pod costs is by how much that price rises, so contents end on the cheapest type that holds them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints, every
from nodewright.domain.scheduling.cells import cells_of
from nodewright.domain.scheduling.demands import Demands
from nodewright.domain.scheduling.remembering import Remembering
from nodewright.domain.scheduling.steps import Need, Step
from nodewright.domain.scheduling.tiers import Tier

_NEVER: Final = 2**62


class Opened:
    """The offerings of a tier by locality, and the nodes opened there."""

    def __init__(self, place: Tier, localities: Ints, masks: Sequence[Bools], demands: Demands) -> None:
        self.place = place
        self.locality = localities
        self.room = demands.of_rows(place)
        self._masks = masks
        self.usage = place.usage.copy()
        """What a node planned as each offering takes of the limits (reserves.py)."""
        self._cells = cells_of(place, localities, masks, self.room, self.usage)
        self._listed = np.zeros(len(place.prices), dtype=np.bool_)
        for cell in self._cells:
            self._listed[cell] = True
        self._cell_of = np.full(len(place.prices), -1)
        for number, cell in enumerate(self._cells):
            self._cell_of[cell] = number
        self._cell_locality = np.array([localities[cell[0]] for cell in self._cells], dtype=np.int64)
        self._open_to: dict[int, Bools] = {}
        """Mask → cells with offerings that it leaves."""
        self._combined: dict[tuple[int, int], int] = {}
        self._combos: list[Bools] = list(masks)
        self.remaining = place.remaining.copy()
        self.row = np.zeros(0, dtype=np.int64)
        self.load = np.zeros((0, self.room.shape[1]), dtype=np.int64)
        self._spare = self.load.copy()
        self.combo = np.zeros(0, dtype=np.int64)
        self.site = np.zeros(0, dtype=np.int64)
        self._remembered = Remembering()
        self._holders: dict[tuple[int, bytes], Bools] = {}

    @property
    def affordable(self) -> Bools:
        """Offerings of which the limits allow one node more."""
        return every(self.usage <= self.remaining[self.place.purse_of])

    def holding(self, wanted: Ints) -> Bools:
        """Offerings large enough for one such pod."""
        return every(self.room >= wanted)

    def allowed(self, node: int) -> Bools:
        """Offerings that all pods of a node may use, whatever their size."""
        return self._combos[int(self.combo[node])]

    def within(self, need: Need, sites: Bools) -> Step | None:
        """A node that holds it as it is: the least crowded, then the one left with least."""
        if not len(self.row):
            return None
        found = np.flatnonzero(self._may_join(need, sites) & self._holds(need))
        if not len(found):
            return None
        crowds = need.crowds[self.locality[self.row[found]]]
        best = found[np.lexsort((found, self._spare[found, 0], crowds))[0]]
        return Step(0, int(crowds.min()), int(self.row[best]), int(best))

    def grown(self, need: Need, sites: Bools, below: int) -> Step | None:
        """The node that gets dearer by least, if that is no more than `below`."""
        if not len(self.row):
            return None
        joinable = self._may_join(need, sites)
        cells = self._cell_of[self.row]
        if not self.place.limited and need.wanted.ndim == 1:
            return self._remembered_growth(need, joinable, below)
        several = np.unique(cells[joinable]).tolist()
        return self._least(need, ((np.flatnonzero(joinable & (cells == cell)), cell) for cell in several), below)

    def _remembered_growth(self, need: Need, joinable: Bools, below: int) -> Step | None:
        """Where no limits change what nodes may become."""
        question = ("growth", need.mask, need.wanted.tobytes())
        rises, rows = self._remembered.ask(question, lambda nodes: self._growths(need, nodes))
        found = np.where(joinable, rises, _NEVER)
        least = int(found.min())
        if least == _NEVER or least > below:
            return None
        nodes = np.flatnonzero(found == least)
        nodes = nodes[np.unique(self._cell_of[self.row[nodes]], return_index=True)[1]]
        crowds = need.crowds[self.locality[rows[nodes]]]
        best = np.lexsort((nodes, crowds))[0]
        return Step(least, int(crowds[best]), int(rows[nodes[best]]), int(nodes[best]))

    def moved(self, need: Need, free: Bools, below: int) -> Step | None:
        """The same, of nodes that have to be in another locality for it; `free`: nodes × where each may be."""
        fine = free & (need.localities & need.opening)
        open_cells = np.flatnonzero(self._open_cells(need)).tolist()
        return self._least(need, ((self._movable(cell, fine), cell) for cell in open_cells), below)

    def within_move(self, free: Bools) -> Bools:
        """Offerings, elsewhere, that some node may become; `free`: nodes × where each may be."""
        found = np.zeros(len(self.place.prices), dtype=np.bool_)
        for cell, rows in enumerate(self._cells):
            for node in self._movable(cell, free).tolist():
                mine = self.remaining[self.place.purse_of[rows[0]]] + self.usage[self.row[node]]
                found[rows] |= every(self.room[rows] >= self.load[node]) & every(self.usage[rows] <= mine)
        return found

    def elsewhere(self, node: int, localities: Bools) -> Iterator[int]:
        """The cheapest offering that a node may become as it is, in each cell of these localities."""
        for cell in np.flatnonzero(localities[self._cell_locality]).tolist():
            rows = self._cells[cell]
            if self.place.market_of[rows[0]] == self.place.market_of[self.row[node]]:
                mine = self.remaining[self.place.purse_of[rows[0]]] + self.usage[self.row[node]]
                fits = self.allowed(node)[rows] & every(self.room[rows] >= self.load[node])
                fits &= every(self.usage[rows] <= mine)
                if fits.any():
                    yield int(rows[fits.argmax()])

    def become(self, node: int, row: int) -> None:
        """Plan a node as another offering."""
        self._pay(int(self.row[node]), -1)
        self._pay(row, 1)
        self.row[node] = row
        self._spare[node] = self.room[row] - self.load[node]
        self._remembered.touch(node)

    def _movable(self, cell: int, free: Bools) -> Ints:
        """Nodes that may come to be in a cell where they aren't."""
        first = self._cells[cell][0]
        same_market = self.place.market_of[self.row] == self.place.market_of[first]
        return np.flatnonzero(free[:, self.locality[first]] & same_market & (self._cell_of[self.row] != cell))

    def barred(self, need: Need) -> Bools:
        """Nodes that have no offering for it where they are, whatever their size."""
        found: Bools = ~self._open_cells(need)[self._cell_of[self.row]]
        return found

    def fresh(self, need: Need) -> Step | None:
        """The cheapest new node; of equals the one where fewest pods are, and within limits where fewest nodes are.

        For where limits allow no more, those to come can only be where nodes are.
        """
        mask = self._large_enough(need) & (need.localities & need.opening)[self.locality]
        if self.place.limited:
            mask &= self.affordable
        if need.rows is not None:
            mask &= need.rows
        if (need.group > need.whole).any():
            large = np.unique(self._cell_of[mask & every(self.room >= need.group)])
            mask &= np.isin(self._cell_of, large[large >= 0])
        if not mask.any():
            return None
        found = np.flatnonzero(mask)
        crowds = need.crowds[self.locality[found]]
        nodes = need.nodes[self.locality[found]] if self.place.limited else found
        best = np.lexsort((found, nodes, crowds, self.place.prices[found]))[0]
        return Step(int(self.place.prices[found[best]]), int(crowds[best]), int(found[best]))

    def put(self, step: Step, need: Need, site: int) -> int:
        """Do it; the site of the node, which is `site` where it is a new one."""
        if step.node is None:
            self.row = np.append(self.row, step.row)
            self.load = np.vstack([self.load, need.whole])
            self._spare = np.vstack([self._spare, self.room[step.row] - need.whole])
            self.combo = np.append(self.combo, self._first_combo(need))
            self.site = np.append(self.site, site)
            self._remembered.add()
            self._pay(step.row, 1)
            return site
        node = step.node
        self.load[node] += need.wanted if need.wanted.ndim == 1 else need.wanted[node]
        self.combo[node] = self._combine(int(self.combo[node]), need.mask)
        self.become(node, step.row)
        return int(self.site[node])

    def _holds(self, need: Need) -> Bools:
        """Nodes that have room for it as they are."""
        if need.wanted.ndim > 1:
            return every(self._spare >= need.wanted) & self._masks[need.mask][self.row]

        def answer(nodes: Ints) -> Ints:
            fits = self._masks[need.mask][self.row[nodes]] & every(self._spare[nodes] >= need.wanted)
            return fits[None].astype(np.int64)

        fits: Bools = self._remembered.ask(("room", need.mask, need.wanted.tobytes()), answer)[0] > 0
        return fits

    def _large_enough(self, need: Need) -> Bools:
        """Offerings worth opening that hold what a new node needs."""
        key = (need.mask, need.whole.tobytes())
        if key not in self._holders:
            self._holders[key] = self._listed & self._masks[need.mask] & every(self.room >= need.whole)
        return self._holders[key]

    def _open_cells(self, need: Need) -> Bools:
        """Cells with offerings for it."""
        if need.mask not in self._open_to:
            mask = self._masks[need.mask]
            self._open_to[need.mask] = np.array([bool(mask[rows].any()) for rows in self._cells], dtype=np.bool_)
        found: Bools = self._open_to[need.mask] & need.localities[self._cell_locality]
        return found

    def _may_join(self, need: Need, sites: Bools) -> Bools:
        return need.localities[self.locality[self.row]] & sites[self.site]

    def _least(self, need: Need, several: Iterable[tuple[Ints, int]], below: int) -> Step | None:
        """The least growth of some nodes within a cell each."""
        best: tuple[int, int, int, int] | None = None
        for nodes, cell in several:
            found = self._growth(need, nodes, self._cells[cell]) if len(nodes) else None
            if found is not None and found[0] <= below and (best is None or found < best):
                best = found
        return None if best is None else Step(best[0], best[1], best[3], best[2])

    def _growth(self, need: Need, nodes: Ints, rows: Ints) -> tuple[int, int, int, int] | None:
        """(rise, crowd, node, row) of the cheapest."""
        rises, become = self._rises(need, nodes, rows)
        best = int(rises.argmin())
        if rises[best] == _NEVER:
            return None
        row = int(become[best])
        return int(rises[best]), int(need.crowds[self.locality[row]]), int(nodes[best]), row

    def _growths(self, need: Need, nodes: Ints) -> Ints:
        """Each node's rise and the offering it becomes, where it is."""
        found = np.full((2, len(nodes)), _NEVER)
        cells = self._cell_of[self.row[nodes]]
        for cell in np.unique(cells).tolist():
            some = cells == cell
            found[:, some] = self._rises(need, nodes[some], self._cells[cell])
        return found

    def _rises(self, need: Need, nodes: Ints, rows: Ints) -> tuple[Ints, Ints]:
        """How much dearer nodes get as the first of these rows, sorted by price, that holds them; and which it is."""
        place = self.place
        load = self.load[nodes] + (need.wanted if need.wanted.ndim == 1 else need.wanted[nodes])
        fits = self._open_rows(nodes, need.mask, rows)
        for column in range(load.shape[1]):
            fits &= load[:, column, None] <= self.room[rows, column]
        if place.limited:
            mine = self.remaining[place.purse_of[rows[0]]] + self.usage[self.row[nodes]]
            fits &= (self.usage[rows] <= mine[:, None, :]).all(axis=2)
        first = fits.argmax(axis=1)
        rises = place.prices[rows[first]] - place.prices[self.row[nodes]]
        return np.where(fits[np.arange(len(nodes)), first], rises, _NEVER), rows[first]

    def _open_rows(self, nodes: Ints, mask: int, rows: Ints) -> Bools:
        """Nodes × rows that the pods there and this one may all use."""
        combos, which = np.unique(self.combo[nodes], return_inverse=True)
        allowed = np.array([self._combos[self._combine(combo, mask)][rows] for combo in combos.tolist()])
        return allowed[which.reshape(-1)]

    def _first_combo(self, need: Need) -> int:
        """What a new node may be: what is asked of its offering now, DaemonSets' pods as company, is asked for good."""
        return need.mask if need.rows is None else self._number(self._masks[need.mask] & need.rows)

    def _combine(self, combo: int, mask: int) -> int:
        """The combination of a node's masks with one more."""
        if (combo, mask) not in self._combined:
            self._combined[combo, mask] = self._number(self._combos[combo] & self._masks[mask])
        return self._combined[combo, mask]

    def _number(self, combo: Bools) -> int:
        """Of a combination, which becomes known."""
        same = next((n for n, each in enumerate(self._combos) if np.array_equal(each, combo)), len(self._combos))
        if same == len(self._combos):
            self._combos.append(combo)
        return same

    def _pay(self, row: int, times: int) -> None:
        self.remaining[self.place.purse_of[row]] -= times * self.usage[row]
