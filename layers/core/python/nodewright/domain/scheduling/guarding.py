"""Planned pods that keep a DaemonSet's pods out of a zone: a new node there on which it runs would keep them out.

Once such a pod is bound it is the DaemonSet's pod that can't come, and everybody else may.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from nodewright.domain.pods import DaemonSet, PodKey
from nodewright.domain.scheduling.admission import admission
from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.scheduling.rules import RepulsionRule, is_host
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.shapes import Waiting
from nodewright.domain.scheduling.tiers import Tier, daemon_rows


@dataclass(frozen=True, slots=True)
class _Guard:
    daemon_set: DaemonSet
    key: str
    domains: frozenset[str]

    def within(self, market: Market) -> Bools:
        """Rows of a market in these domains."""
        column = market.columns.column(self.key)
        inside = np.array([value in self.domains for value in column.values], dtype=np.bool_)
        return inside[column.codes]

    def __str__(self) -> str:
        domains = ", ".join(sorted(self.domains))
        return (
            f"DaemonSet {self.daemon_set.key} would come with it to {self.key} {domains}, where planned pods repel it"
        )


class Guards:
    """All of a scene, as it is."""

    def __init__(self, scene: Scene) -> None:
        self._guards = tuple(_guards(scene))

    def __bool__(self) -> bool:
        return bool(self._guards)

    def bar(self, place: Tier) -> Tier:
        """A tier that doesn't sell the offerings of which no node may be opened for others."""
        return replace(place, on_sale=place.on_sale & ~self._rows(place)) if self._guards else place

    def hinder(self, waiting: Waiting, places: Iterable[Tier]) -> Iterator[tuple[PodKey, str]]:
        """Pods left that could have a node but for that, and what to tell of them."""
        told = "; ".join(map(str, self._guards))
        for place in places if self._guards else ():
            admitted = admission(place, waiting.shapes)
            rows = self._rows(place) & place.affordable
            for number in np.flatnonzero(waiting.left).tolist():
                fine = admitted.masks[admitted.mask_of[number]] & rows
                if (fine & place.holds(place.request(waiting.shapes[number].requests))).any():
                    yield from ((pod, told) for pod in waiting.pods(number))

    def _rows(self, place: Tier) -> Bools:
        rows = np.zeros(len(place.prices), dtype=np.bool_)
        for guard in self._guards:
            rows |= place.across(guard.within) & daemon_rows(place, guard.daemon_set)
        return rows


def _guards(scene: Scene) -> Iterator[_Guard]:
    for daemon_set in sorted(scene.daemon_sets, key=lambda each: each.key):
        for index in scene.tangle.selections.of(daemon_set.key.namespace, daemon_set.labels):
            rule = scene.tangle.rules[index]
            if isinstance(rule, RepulsionRule) and not is_host(rule.term.topology_key):
                domains = scene.newly_guarded(index)
                if domains:
                    yield _Guard(daemon_set, rule.term.topology_key, domains)
