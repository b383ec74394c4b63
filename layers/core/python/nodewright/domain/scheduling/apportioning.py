"""To which domain each pod of simple kinds goes, so that its rules hold in whatever order pods are bound.

Evenly where a spread counts its own pods and no others; pods that have to be together go where they cost least;
homing.py has the rest.
"""

from collections.abc import Sequence

import numpy as np

from nodewright.domain.scheduling.allotments import NOWHERE, Allotment, Portion, levelled
from nodewright.domain.scheduling.gathering import Gathering, Sort
from nodewright.domain.scheduling.homing import bring_home
from nodewright.domain.scheduling.prospects import Prospects
from nodewright.domain.scheduling.scene import Scene


class Apportioning:
    """Of one gathering after the other: what a domain has been given weighs in the next one's choice."""

    def __init__(self, scene: Scene, prospects: Prospects) -> None:
        self._scene = scene
        self._prospects = prospects
        self._loads: dict[str, list[float]] = {}

    def portions(self, gathering: Gathering) -> Sequence[Portion] | None:
        """None where not all its pods find a domain."""
        allotment = Allotment(self._scene, self._prospects, self._loads, gathering)
        return tuple(allotment.portions()) if _allotted(allotment) else None


def _allotted(allotment: Allotment) -> bool:
    by_sort = {sort: [rule for rule, each in allotment.gathering.rules.items() if each is sort] for sort in Sort}
    for rule in by_sort[Sort.EVEN]:
        _spread_evenly(allotment, rule)
    if not all(_put_together(allotment, rule) for rule in by_sort[Sort.TOGETHER]):
        return False
    return bring_home(allotment, by_sort[Sort.HOMED])


def _spread_evenly(allotment: Allotment, rule: int) -> None:
    key, tally = allotment.key(rule), allotment.scene.tallies.spreads_by_rule[rule]
    counts = np.where(tally.domains, tally.counts, NOWHERE).tolist()
    for kind in allotment.owners(rule):
        liking = [allotment.load(key), allotment.costs(kind, key).tolist()]
        pods = levelled(counts, allotment.count(kind), liking)
        allotment.give(kind, key, pods)
        counts = [before + more for before, more in zip(counts, pods, strict=True)]


def _put_together(allotment: Allotment, rule: int) -> bool:
    """Where some are already, or where it costs least."""
    key, owners = allotment.key(rule), allotment.owners(rule)
    affinity = allotment.scene.tallies.affinity(rule)
    cost = allotment.cost(owners, key)
    if affinity is not None and not affinity.is_open:
        cost = np.where(affinity.counts()[0] > 0, cost, np.inf)
    if not np.isfinite(cost).any():
        return False
    home = int(np.lexsort((np.array(allotment.load(key)), cost))[0])
    for kind in owners:
        allotment.give_all(kind, key, home)
    return True
