"""Opened nodes that may still come to be elsewhere: no rule that sees a pod on them would notice.

Such a node has a locality only because one has to be planned: its launch list has all of them. A later pod that
needs it in another one decides.
"""

from collections.abc import Iterable

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.entangled import Tangle
from nodewright.domain.scheduling.localities import Localities
from nodewright.domain.scheduling.rules import SpreadRule, is_host, topology_keys


class Freedom:
    """Of each node: where it may be, for all that rules tell apart."""

    def __init__(self, tangle: Tangle, localities: Localities) -> None:
        self._tangle = tangle
        self._localities = localities
        self._columns: dict[int, frozenset[int]] = {}
        self._told: dict[int, frozenset[int]] = {}
        """Site → what the rules there look at."""
        self._alike: dict[tuple[int, frozenset[int]], Bools] = {}
        self._places = np.zeros((16, len(localities)), dtype=np.bool_)

    def pin(self, rules: Iterable[int], site: int, locality: int) -> None:
        """Something that these rules see is there."""
        told = self._told.get(site, frozenset()).union(*(self._looked_at(rule) for rule in rules))
        if told != self._told.get(site):
            self._told[site] = told
            if (locality, told) not in self._alike:
                self._alike[locality, told] = self._localities.alike(locality, sorted(told))
            while site >= len(self._places):
                self._places = np.vstack([self._places, np.zeros_like(self._places)])
            self._places[site] = self._alike[locality, told]

    def of(self, sites: Ints) -> Bools:
        """Sites × localities."""
        found: Bools = self._places[sites]
        return found

    def _looked_at(self, number: int) -> frozenset[int]:
        """What of a locality a rule looks at."""
        if number not in self._columns:
            rule = self._tangle.rules[number]
            spread = rule if isinstance(rule, SpreadRule) else None
            keys = {key for key in (*topology_keys(rule), *(spread.keys if spread else ())) if not is_host(key)}
            filters = [spread.nodes] if spread and not is_host(spread.key) else []
            self._columns[number] = frozenset(self._localities.columns(keys, filters))
        return self._columns[number]
