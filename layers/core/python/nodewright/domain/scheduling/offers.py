"""What each kind of entangled pods may buy in one tier."""

from collections.abc import Sequence

import numpy as np

from nodewright.domain.pods import DaemonSet
from nodewright.domain.scheduling.admission import Admission, admission
from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.entangled import Kind, Tangle
from nodewright.domain.scheduling.ports import clashing_rows
from nodewright.domain.scheduling.rules import RepulsionRule
from nodewright.domain.scheduling.shapes import Shape, Wish
from nodewright.domain.scheduling.tiers import Tier, daemon_rows


class Offers:
    """Masks over the tier's offerings, each once; and which of them each kind has."""

    def __init__(self, place: Tier, tangle: Tangle, daemon_sets: Sequence[DaemonSet]) -> None:
        self._place = place
        self._tangle = tangle
        self._daemon_sets = daemon_sets
        self._barred: dict[tuple[object, ...], Bools] = {}
        self._index: dict[bytes, int] = {}
        self.masks: list[Bools] = []
        shapes = [_shape(kind, kind.wish) for kind in tangle.kinds]
        self.strict = self._of(admission(place, shapes))
        """Kind → mask, with exotic and foreign types kept back."""
        self.loose = self._of(admission(place, shapes, strict=False))
        """Kind → mask of whatever would do."""
        self._reach = admission(place, [_shape(kind, kind.reach) for kind in tangle.kinds])

    def reach(self, kind: int) -> Bools:
        """Offerings on sale that hold one of its pods, wherever its volumes are."""
        holds = self._place.holds(self._place.request(self._tangle.kinds[kind].requests))
        mask: Bools = self._reach.masks[self._reach.mask_of[kind]] & holds
        return mask

    def _of(self, judged: Admission) -> tuple[int, ...]:
        masks = (judged.masks[judged.mask_of[number]] for number in range(len(self._tangle.kinds)))
        return tuple(
            self._number(mask & ~self._bars(kind)) for mask, kind in zip(masks, self._tangle.kinds, strict=True)
        )

    def _number(self, mask: Bools) -> int:
        packed = np.packbits(mask).tobytes()
        if packed not in self._index:
            self._index[packed] = len(self.masks)
            self.masks.append(mask)
        return self._index[packed]

    def _bars(self, kind: Kind) -> Bools:
        """Offerings on whose nodes a DaemonSet takes a port of these pods or is what they repel."""
        repelled = tuple(index for index in kind.owns if isinstance(self._tangle.rules[index], RepulsionRule))
        key = (kind.host_ports, repelled)
        if key not in self._barred:
            mask = clashing_rows(self._place, kind.host_ports, self._daemon_sets)
            for daemon_set in self._daemon_sets if repelled else ():
                if set(self._tangle.selections.of(daemon_set.key.namespace, daemon_set.labels)).intersection(repelled):
                    mask |= daemon_rows(self._place, daemon_set)
            self._barred[key] = mask
        return self._barred[key]


def _shape(kind: Kind, wish: Wish) -> Shape:
    return Shape(kind.requests, wish, (), tuple(pod.key for pod in kind.pods))
