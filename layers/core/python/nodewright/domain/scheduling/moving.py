"""Opened nodes that may still come to be elsewhere: no pod that has found its place would notice.

Such a node has a locality only because one has to be planned. A later pod that needs it in another one decides.
"""

from collections.abc import Iterable

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.entangled import Tangle
from nodewright.domain.scheduling.localities import Localities
from nodewright.domain.scheduling.roles import Role
from nodewright.domain.scheduling.rules import AffinityRule, SpreadRule, is_host, topology_keys


class Freedom:
    """Of each opened node: where it may be for all rules that see what is on it.

    But for affinities that nobody has who has a place: whom they select may still be anywhere.
    """

    def __init__(self, tangle: Tangle, localities: Localities) -> None:
        self._tangle = tangle
        self._localities = localities
        self._seen_by: dict[int, set[int]] = {}
        """Opened site → rules that see what is there."""
        self._unheld = {index for index, rule in enumerate(tangle.rules) if isinstance(rule, AffinityRule)}
        self._same_to: dict[tuple[int, int], Bools] = {}
        self._alike: dict[tuple[int, frozenset[int]], Bools] = {}
        self._home = np.zeros(16, dtype=np.int64)
        self._places = np.zeros((16, len(localities)), dtype=np.bool_)
        self._but_for_spreads = np.zeros((16, len(localities)), dtype=np.bool_)

    def matters(self, rule: int) -> bool:
        """Whether it would notice."""
        return rule not in self._unheld

    def own(self, roles: Iterable[Role]) -> None:
        """Somebody of these roles has a place."""
        new = self._unheld.intersection(role.rule for role in roles if role.owner)
        self._unheld -= new
        for site, rules in self._seen_by.items() if new else ():
            if not new.isdisjoint(rules):
                self._judge(site)

    def pin(self, rules: Iterable[int], site: int, locality: int) -> None:
        """These rules see something on an opened node."""
        while site >= len(self._places):
            self._places = np.vstack([self._places, np.zeros_like(self._places)])
            self._but_for_spreads = np.vstack([self._but_for_spreads, np.zeros_like(self._but_for_spreads)])
            self._home = np.append(self._home, np.zeros_like(self._home))
        seen_by = self._seen_by.setdefault(site, set())
        before = len(seen_by)
        seen_by.update(rules)
        if not before or len(seen_by) > before or self._home[site] != locality:
            self._home[site] = locality
            self._judge(site)

    def of(self, sites: Ints) -> Bools:
        """Opened sites × localities."""
        found: Bools = self._places[sites]
        return found

    def but_for_spreads(self, sites: Ints) -> Bools:
        """The same for all rules but spreads."""
        found: Bools = self._but_for_spreads[sites]
        return found

    def _judge(self, site: int) -> None:
        rules = frozenset(self._seen_by[site] - self._unheld)
        others = frozenset(rule for rule in rules if not isinstance(self._tangle.rules[rule], SpreadRule))
        home = int(self._home[site])
        self._places[site] = self._same_to_all(home, rules)
        self._but_for_spreads[site] = self._same_to_all(home, others)

    def _same_to_all(self, home: int, rules: frozenset[int]) -> Bools:
        if (home, rules) not in self._alike:
            masks = [self._same(home, rule) for rule in rules]
            self._alike[home, rules] = np.logical_and.reduce([np.ones(len(self._localities), np.bool_), *masks])
        return self._alike[home, rules]

    def _same(self, home: int, number: int) -> Bools:
        """Localities that are the same to a rule."""
        if (home, number) not in self._same_to:
            rule = self._tangle.rules[number]
            spread = rule if isinstance(rule, SpreadRule) else None
            keys = {key for key in topology_keys(rule) if not is_host(key)}
            filters = [spread.nodes] if spread and not is_host(spread.key) else []
            same = self._localities.alike(home, self._localities.columns(keys, filters))
            # Of its pods' other keys it only matters whether nodes have them.
            for key in (spread.keys if spread else frozenset()) & set(self._localities.keys):
                there = self._localities.codes(key) >= 0
                same = same & (there == there[home])
            self._same_to[home, number] = same
        return self._same_to[home, number]
