"""Which entangled pods can be planned by shape: those whose rules come down to a domain, or to a number per node.

A rule and the pods it touches are planned one way or the other together, and so is whatever else touches those.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from nodewright.domain.scheduling.entangled import Kind, Tangle
from nodewright.domain.scheduling.prospects import Prospects
from nodewright.domain.scheduling.rules import (
    AffinityRule,
    RepulsionRule,
    Rule,
    SpreadRule,
    counts_nothing,
    is_host,
    topology_keys,
)
from nodewright.domain.scheduling.scene import Scene


class Sort(Enum):
    """What a rule comes down to."""

    EVEN = "as many in each domain"
    HOMED = "its own pods in one domain, others that it counts in the rest"
    TOGETHER = "all in one domain"
    CAPPED = "so many on a node"
    APART = "which pods may share a node"


OVER_DOMAINS = frozenset({Sort.EVEN, Sort.HOMED, Sort.TOGETHER})


@dataclass(frozen=True, slots=True)
class Gathering:
    """Simple rules and kinds that have to do with each other."""

    rules: Mapping[int, Sort]
    kinds: tuple[int, ...]


def gatherings(scene: Scene, prospects: Prospects) -> Iterator[Gathering]:
    """All of a scene; what isn't in any needs the careful path."""
    if scene.tallies.is_wary or any(scene.bearable(tier, 0) is not None for tier in range(len(scene.opened))):
        return
    tangle = scene.tangle
    sorts = _Sorting(scene, prospects).sorts()
    for kinds in _connected(tangle):
        rules = {rule for kind in kinds for rule in _touched(tangle.kinds[kind])}
        found = {rule: sort for rule in sorted(rules) if (sort := sorts[rule]) is not None}
        if len(found) == len(rules) and all(_is_simple(tangle, tangle.kinds[kind], found) for kind in kinds):
            yield Gathering(found, tuple(kinds))


def _touched(kind: Kind) -> tuple[int, ...]:
    return (*kind.owns, *kind.selected)


def _is_simple(tangle: Tangle, kind: Kind, sorts: Mapping[int, Sort]) -> bool:
    """At most one domain has to be chosen for it."""
    if kind.held or kind.host_ports or kind.attachments:
        return False
    own = [sorts[rule] for rule in kind.owns if sorts[rule] in OVER_DOMAINS]
    over = {rule for rule in _touched(kind) if sorts[rule] in OVER_DOMAINS}
    keys = {topology_keys(tangle.rules[rule])[0] for rule in over}
    settled = Sort.EVEN in own or Sort.TOGETHER in own
    return len(own) <= 1 and len(keys) <= 1 and not (settled and len(over) > 1)


class _Sorting:
    def __init__(self, scene: Scene, prospects: Prospects) -> None:
        self._scene = scene
        self._prospects = prospects
        self._owners: defaultdict[int, set[int]] = defaultdict(set)
        self._selected: defaultdict[int, set[int]] = defaultdict(set)
        for number, kind in enumerate(scene.tangle.kinds):
            for rule in kind.owns:
                self._owners[rule].add(number)
            for rule in kind.selected:
                self._selected[rule].add(number)

    def sorts(self) -> Sequence[Sort | None]:
        """Of each rule; None where it is none of these."""
        return [self._sort(index, rule) for index, rule in enumerate(self._scene.tangle.rules)]

    def _sort(self, index: int, rule: Rule) -> Sort | None:
        alike = self._owners[index] == self._selected[index]
        host = all(map(is_host, topology_keys(rule)))
        if isinstance(rule, AffinityRule):
            return Sort.TOGETHER if alike and len(rule.terms) == 1 and not host else None
        if isinstance(rule, RepulsionRule):
            return self._on_hosts(alike=alike) if host else None
        if counts_nothing(rule):
            return None
        if host:
            return self._on_hosts(alike=alike) if rule.min_domains == 1 else None
        return self._over_domains(index, rule, alike=alike)

    def _on_hosts(self, *, alike: bool) -> Sort:
        return Sort.CAPPED if alike else Sort.APART

    def _over_domains(self, index: int, rule: SpreadRule, *, alike: bool) -> Sort | None:
        tally = self._scene.tallies.spreads_by_rule[index]
        known = set(np.flatnonzero(tally.domains).tolist())
        reached = [
            set(tally.domain[self._prospects.localities(owner)].tolist()) for owner in sorted(self._owners[index])
        ]
        if len(known) < rule.min_domains or any(-1 in each for each in reached):
            return None
        if not alike:
            return Sort.HOMED
        return Sort.EVEN if all(each == known for each in reached) else None


def _connected(tangle: Tangle) -> Sequence[Sequence[int]]:
    """Kinds by the rules that connect them."""
    leader = list(range(len(tangle.rules)))

    def find(rule: int) -> int:
        while leader[rule] != rule:
            leader[rule] = leader[leader[rule]]
            rule = leader[rule]
        return rule

    for kind in tangle.kinds:
        heads = {find(rule) for rule in _touched(kind)}
        for head in heads:
            leader[head] = min(heads)
    found: defaultdict[int, list[int]] = defaultdict(list)
    for number, kind in enumerate(tangle.kinds):
        if touched := _touched(kind):
            found[find(touched[0])].append(number)
    return list(found.values())
