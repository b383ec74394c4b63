"""Kinds of pods that wait for the same spreads, and whether so many of them surely come (exploring.py)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from nodewright.domain.scheduling.arrays import Ints
from nodewright.domain.scheduling.exploring import MOST_STATES, SpreadView, never_stuck, states
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.spread_tallies import SpreadTally
from nodewright.domain.scheduling.terms import HostSpread

_Look = tuple[tuple[bool, bool, bool], ...]
"""Of each spread: whether it binds a pod, counts it, and may rely on it."""


class Cell(NamedTuple):
    """Where pods are that are the same to the spreads."""

    domains: tuple[int, ...]
    """One of each spread; -1 where it is in none."""
    look: _Look

    @property
    def is_allowed(self) -> bool:
        """Whether every spread that binds them has a domain there."""
        return all(domain >= 0 or not binds for domain, (binds, _, _) in zip(self.domains, self.look, strict=True))


Cells = Mapping[Cell, int]
"""How many pods there are in each."""


class Crossing:
    """Some kinds of pods and the spreads that they wait for."""

    def __init__(self, scene: Scene, kinds: Iterable[int], rules: Iterable[int]) -> None:
        self.kinds = tuple(sorted(kinds))
        self.rules = tuple(sorted(rules))
        self._scene = scene
        self._tallies = [_tally(scene, rule) for rule in self.rules]
        self.looks = {kind: self._look(kind) for kind in self.kinds}
        self.by_site = any(isinstance(tally, HostSpread) for tally in self._tallies)
        """Whether it matters on which node of a locality a pod is."""

    def cells(self, kind: int) -> list[Cell]:
        """Where its pods would be: at each locality, or at each site."""
        return [Cell(domains, self.looks[kind]) for domains in self._domains()]

    def placed(self) -> Counter[Cell]:
        """Those that are planned by now."""
        domains = self._domains()
        found: Counter[Cell] = Counter()
        for kind, spot, many in self._whereabouts():
            found[Cell(domains[spot], self.looks[kind])] += many
        return found

    def can_be_explored(self, counts: Cells) -> bool:
        """Whether so many may still be gone through."""
        return states(counts.values()) <= MOST_STATES and self._work(counts) <= self._scene.explorable

    def is_proven(self, placed: Cells, counts: Cells) -> bool:
        """Whether so many come, in place of those that are planned."""
        if not self.can_be_explored(counts) or not all(cell.is_allowed for cell in counts):
            return False
        self._scene.explorable -= self._work(counts)
        cells = sorted(counts)
        views = [self._view(at, cells, placed) for at in range(len(self.rules))]
        return never_stuck([counts[cell] for cell in cells], views)

    def _work(self, counts: Cells) -> int:
        return states(counts.values()) * len(counts) * len(self.rules)

    def counts_of_others(self, placed: Cells) -> list[Ints]:
        """By domain; for spreads over domains of many nodes."""
        several = [tally.counts.copy() for tally in self._tallies if isinstance(tally, SpreadTally)]
        for cell, many in placed.items():
            for domain, (_, counted, _), counts in zip(cell.domains, cell.look, several, strict=True):
                counts[domain] -= many * counted
        return several

    def _domains(self) -> list[tuple[int, ...]]:
        """Of each locality, or of each site."""
        spots = _localities(self._scene) if self.by_site else np.arange(len(self._scene.localities))
        several = [
            tally.domain[spots].tolist()
            if isinstance(tally, SpreadTally)
            else [site if site in tally.relied_on else -1 for site in range(len(spots))]
            for tally in self._tallies
        ]
        return list(zip(*several, strict=True))

    def _whereabouts(self) -> Iterator[tuple[int, int, int]]:
        """Kind, locality or site, pods."""
        if not self.by_site:
            yield from ((kind, spot, many) for kind in self.kinds for spot, many in self._scene.placed[kind].items())
            return
        for site, some in enumerate(self._scene.contents):
            yield from ((kind, site, 1) for kind, _ in some if kind in self.looks)

    def _view(self, at: int, cells: Sequence[Cell], placed: Cells) -> SpreadView:
        """A spread without these pods themselves, over the domains there are or may be."""
        tally = self._tallies[at]
        most, least = Counter(_numbers(tally)[0]), Counter(_numbers(tally)[1])
        known = sorted({*_known(tally), *(cell.domains[at] for cell in cells if cell.domains[at] >= 0)})
        for cell, many in placed.items():
            _, counted, relied_on = cell.look[at]
            most[cell.domains[at]] -= many * counted
            least[cell.domains[at]] -= many * (counted and relied_on)
        index = {domain: place for place, domain in enumerate(known)}
        return SpreadView(
            domain_of=tuple(index.get(cell.domains[at], -1) for cell in cells),
            binds=tuple(cell.look[at][0] for cell in cells),
            counted=tuple(cell.look[at][1] for cell in cells),
            most=np.array([most[domain] for domain in known], dtype=np.int64),
            least=np.array([least[domain] for domain in known], dtype=np.int64),
            bound=np.array([tally.bound.get(domain, 0) for domain in known], dtype=np.int64),
            standing=np.array([domain in tally.standing for domain in known], dtype=np.bool_),
            max_skew=tally.rule.max_skew,
            enough_domains=len(known) >= tally.rule.min_domains,
        )

    def _look(self, kind: int) -> _Look:
        roles = {role.rule: role for role in self._scene.roles[kind]}
        mine = [roles.get(rule) for rule in self.rules]
        return tuple((r.owner, r.selected, r.counted_on) if r else (False, False, False) for r in mine)


def _tally(scene: Scene, rule: int) -> SpreadTally | HostSpread:
    tallies = scene.tallies
    return tallies.spreads_by_rule[rule] if rule in tallies.spreads_by_rule else tallies.host_spreads[rule]


def _numbers(tally: SpreadTally | HostSpread) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """Domain → how many count, and how many of these surely come."""
    if isinstance(tally, HostSpread):
        return tally.counts, tally.relied_on
    return dict(enumerate(tally.counts.tolist())), dict(enumerate(tally.relied_on.tolist()))


def _known(tally: SpreadTally | HostSpread) -> Iterable[int]:
    return tally.relied_on if isinstance(tally, HostSpread) else np.flatnonzero(tally.domains).tolist()


def _localities(scene: Scene) -> Ints:
    """Of all sites."""
    found = np.zeros(scene.sites, dtype=np.int64)
    found[: len(scene.standing.locality)] = scene.standing.locality
    for opened in scene.opened:
        found[opened.site] = opened.locality[opened.row]
    return found
