"""Which offerings each shape may use."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nodewright.domain.scheduling import flexibility
from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.shapes import Shape, Wish
from nodewright.domain.scheduling.spared import exotic, foreign, minds_architecture, spare
from nodewright.domain.scheduling.tiers import Tier
from nodewright.domain.taints import untolerated


@dataclass(frozen=True, slots=True, eq=False)
class Admission:
    """Which rows of a tier each shape may use by labels, taints and choice left; sizes come on top."""

    masks: Bools
    """Distinct masks × offerings."""
    mask_of: Ints
    """Shape → mask."""
    holds_some: Bools
    """Whether one pod of each shape finds a row that holds it and that the limits allow."""


def admission(place: Tier, shapes: Sequence[Shape], *, strict: bool = True) -> Admission:
    """Offerings on sale that each shape may use.

    `strict` also keeps exotic and foreign types back from shapes that don't ask for them, and honours
    minValues. Without, the masks are a superset of those of any plan: what a bound needs.
    """
    wished = {wish: wished_rows(place, wish) for wish in {shape.wish for shape in shapes}}
    judge = Judge(place, strict=strict)
    # Shapes by labels are many, by what packs few: judge those once.
    alike = [(shape.wish, shape.requests) for shape in shapes]
    judged = {key: judge.rows(place.request(key[1]), key[0], wished[key[0]]) for key in dict.fromkeys(alike)}
    known = {np.packbits(mask).tobytes(): mask for mask, _ in judged.values()}
    index = {packed: number for number, packed in enumerate(known)}
    number = {key: index[np.packbits(mask).tobytes()] for key, (mask, _) in judged.items()}
    return Admission(
        masks=np.array(list(known.values()), dtype=np.bool_).reshape(len(known), len(place.prices)),
        mask_of=np.array([number[key] for key in alike], dtype=np.int64),
        holds_some=np.array([judged[key][1] for key in alike], dtype=np.bool_),
    )


def wished_rows(place: Tier, wish: Wish) -> Bools:
    """Rows on sale that a wish allows, of any size."""
    return place.on_sale & bearable_rows(place, wish) & labelled_rows(place, wish)


def bearable_rows(place: Tier, wish: Wish) -> Bools:
    """Rows whose taints it tolerates."""
    borne = {market.pool.name: not untolerated(wish.tolerations, market.pool.taints) for market in place.markets}
    return place.across(lambda market: np.full(market.shelf.rows, borne[market.pool.name]))


def labelled_rows(place: Tier, wish: Wish) -> Bools:
    """Rows whose labels satisfy one of its alternatives."""
    return place.across(lambda market: market.columns.admits_any(wish.alternatives))


class Judge:
    """Of one tier; what it takes to judge is worked out once for all shapes."""

    def __init__(self, place: Tier, *, strict: bool) -> None:
        """`strict` as in `admission`."""
        self._place = place
        self._strict = strict
        self._affordable = place.affordable
        self._choosy = [number for number, market in enumerate(place.markets) if flexibility.wishes(market)]
        # Where minValues asks for choice nothing is kept back (karpenter-behaviour §7.1).
        choosy = np.isin(place.market_of, [n for n, market in enumerate(place.markets) if flexibility.asked(market)])
        self._exotic = place.across(exotic) & ~choosy
        self._foreign = place.across(foreign) & ~choosy

    def rows(self, request: Ints, wish: Wish, wished: Bools) -> tuple[Bools, bool]:
        """The rows, and whether one holds the pod and may be bought."""
        holds = self._place.holds(request) & self._affordable
        mask = self._spared(self._narrowed(wished, holds), wish, holds) if self._strict else wished
        return mask, bool((mask & holds).any())

    def _spared(self, wished: Bools, wish: Wish, holds: Bools) -> Bools:
        kept_back = (self._exotic,) if minds_architecture(wish) else (self._exotic, self._foreign)
        return spare(wished, kept_back, holds)

    def _narrowed(self, mask: Bools, holds: Bools) -> Bools:
        narrowed = mask.copy() if self._choosy else mask
        for number in self._choosy:
            rows = self._place.rows(number)
            narrowed[rows] = flexibility.narrow(self._place.markets[number], mask[rows], holds[rows])
        return narrowed
