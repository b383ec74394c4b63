"""Within limits a zone may be out of reach, because no node more can be had, while one that is planned could be there.

The pods on it that are spread take it with them: all spreads must hold as well with the node elsewhere.
"""

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from nodewright.domain.scheduling.scene import Scene

T = TypeVar("T")

_TRIES: Final = 24
"""For one pod."""
_TRIES_IN_ALL: Final = 96
_NODES: Final = 200
"""Of more a limit that is reached leaves less to be gained, and trying takes longer."""


class Tries:
    """So many moves may still be tried."""

    def __init__(self) -> None:
        self.left = _TRIES_IN_ALL

    def __iter__(self) -> Iterator[int]:
        """For one pod."""
        for _ in range(min(_TRIES, self.left)):
            self.left -= 1
            yield self.left


def given_way(scene: Scene, look: Callable[[], T | None], tries: Tries) -> T | None:
    """What a pod finds once some planned node has been moved, with that done; None, and nothing done, if nothing is."""
    if scene.tallies.is_wary or not tries.left:
        return None
    for (_, tier, node, row), _ in zip(sorted(_moves(scene)), tries, strict=False):
        before = int(scene.opened[tier].row[node])
        scene.relocate(tier, node, row)
        found = look() if scene.tallies.are_spreads_kept() else None
        if found is not None:
            return found
        scene.relocate(tier, node, before)
    return None


def _moves(scene: Scene) -> Iterator[tuple[int, int, int, int]]:
    """(rise, tier, node, row)."""
    for tier, opened in enumerate(scene.opened):
        if opened.place.limited and 0 < len(opened.row) <= _NODES:
            for node, places in enumerate(scene.freedom.but_for_spreads(opened.site)):
                others = places & scene.spread_counted(int(opened.site[node])) & scene.tallies.openings()
                others[opened.locality[opened.row[node]]] = False
                for row in opened.elsewhere(node, others):
                    rise = int(opened.place.prices[row] - opened.place.prices[opened.row[node]])
                    yield rise, tier, node, row
