"""Where new nodes could be had for entangled pods, and about what one pod would cost there."""

import numpy as np

from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.arrays import Bools, Floats, Ints
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.shapes import Wish


class Prospects:
    """Of each kind, in the first tier that has anything for it; kinds that ask for the same are looked at once."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._rows: dict[tuple[Resources, Wish], tuple[int, Ints]] = {}
        self._localities: dict[tuple[Resources, Wish], Ints] = {}
        self._costs: dict[tuple[Resources, Wish, str], Floats] = {}

    def localities(self, kind: int) -> Ints:
        """In which there are such nodes."""
        alike = self._scene.tangle.kinds[kind]
        known = (alike.requests, alike.wish)
        if known not in self._localities:
            tier, rows = self._found(kind)
            self._localities[known] = np.unique(self._scene.opened[tier].locality[rows]) if len(rows) else rows
        return self._localities[known]

    def costs(self, kind: int, key: str) -> Floats:
        """A pod's share of the cheapest node in each domain of a key; endless where there is none."""
        alike = self._scene.tangle.kinds[kind]
        known = (alike.requests, alike.wish, key)
        if known not in self._costs:
            self._costs[known] = self._judged(kind, key)
        return self._costs[known]

    def _judged(self, kind: int, key: str) -> Floats:
        scene = self._scene
        costs = np.full(len(scene.localities.names(key)), np.inf)
        tier, rows = self._found(kind)
        opened = scene.opened[tier] if len(rows) else None
        if opened is not None:
            share = (scene.wanted[kind] / np.maximum(opened.room[rows], 1)).max(axis=1)
            domains = scene.localities.codes(key)[opened.locality[rows]]
            there = domains >= 0
            np.minimum.at(costs, domains[there], np.rint(opened.place.prices[rows] * share)[there])
        return costs

    def _found(self, kind: int) -> tuple[int, Ints]:
        alike = self._scene.tangle.kinds[kind]
        known = (alike.requests, alike.wish)
        if known not in self._rows:
            self._rows[known] = self._look(kind)
        return self._rows[known]

    def _look(self, kind: int) -> tuple[int, Ints]:
        scene = self._scene
        for tier, opened in enumerate(scene.opened):
            mask: Bools = scene.mask(tier, kind, loose=False) & opened.holding(scene.wanted[kind]) & opened.affordable
            if mask.any():
                return tier, np.flatnonzero(mask)
        return 0, np.zeros(0, dtype=np.int64)
