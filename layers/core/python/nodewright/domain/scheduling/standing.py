"""Nodes that exist or are on their way, as entangled pods see them."""

from collections.abc import Sequence

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints, every
from nodewright.domain.scheduling.columns import Columns
from nodewright.domain.scheduling.demands import Demands
from nodewright.domain.scheduling.rooms import labelled
from nodewright.domain.scheduling.shapes import Wish
from nodewright.domain.snapshot import Room
from nodewright.domain.taints import untolerated


class Standing:
    """Rooms in the order in which they are filled; a room's place in it is its site."""

    def __init__(self, rooms: Sequence[Room], demands: Demands, locality_of: Sequence[int]) -> None:
        self.rooms = rooms
        self.locality = np.array(locality_of, dtype=np.int64)
        width = len(demands.resources) + len(demands.drivers)
        self.free = np.array([demands.of_room(room) for room in rooms], dtype=np.int64).reshape(len(rooms), width)
        self._columns = Columns.of([room.labels for room in rooms])
        self._known: dict[Wish, Bools] = {}

    def admitted(self, wish: Wish) -> Bools:
        """Rooms that a wish allows by labels and taints."""
        if wish not in self._known:
            borne = [not untolerated(wish.tolerations, room.taints) for room in self.rooms]
            fitting = labelled(self.rooms, self._columns, wish.alternatives)
            self._known[wish] = np.array(borne, dtype=np.bool_) & fitting
        return self._known[wish]

    def candidates(self, wish: Wish, wanted: Ints, localities: Bools) -> Bools:
        """Rooms that hold one more such pod; `wanted` is one vector, or one of each room."""
        if not len(self.rooms):
            return np.zeros(0, dtype=np.bool_)
        return self.admitted(wish) & localities[self.locality] & every(self.free >= wanted)
