"""The packing problem a tier comes down to: items of equal pods, node kinds worth buying."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from nodewright.domain.scheduling import flexibility
from nodewright.domain.scheduling.admission import Admission
from nodewright.domain.scheduling.arrays import Bools, Floats, Ints, distinct_rows
from nodewright.domain.scheduling.frontier import frontier
from nodewright.domain.scheduling.shapes import Shape
from nodewright.domain.scheduling.tiers import Tier


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """What packs: shapes of equal requests that may use the same offerings, as one.

    What tells their pods apart otherwise only matters when nodes get their pods.
    """

    demand: Ints
    """Items × resources, of one pod."""
    mask_of: Ints
    """Item → mask of the admission."""
    shapes: tuple[tuple[int, ...], ...]

    def counts(self, of_shapes: Ints) -> Ints:
        """Pods of each item, given those of each shape."""
        return np.array([of_shapes[list(members)].sum() for members in self.shapes], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Rows are kinds of node, cheapest first; columns are items. Amounts are whole floats: exact."""

    offering: Ints
    """The tier's offering each row stands for."""
    prices: Ints
    room: Floats
    demand: Floats
    allowed: Bools
    """Rows × items: may use it, and one fits."""
    purse: Ints
    """The pool whose limits the row counts towards; -1 where it has none."""
    usage: Floats
    block: Ints
    """Rows of one block are for the same pods, whatever their size."""

    @property
    def round_cost(self) -> int:
        """Units of a budget that filling every kind of node once takes: it grows with the items, too."""
        return len(self.prices) * (1 + len(self.demand) // _ITEMS_A_UNIT)

    def narrowed(self) -> tuple["Problem", Ints]:
        """The problem without resources that a single item asks for, and what those allow: rows × items.

        A cap on the pods of each of many owners (max-pods-at-risk) is a resource each; the work would grow with their
        square. Of a few resources all stay.
        """
        alone = (self.demand > 0).sum(axis=0) == 1
        most = np.full(self.allowed.shape, _ENDLESS, dtype=np.int64)
        if len(alone) <= _FEW_RESOURCES or not alone.any():
            return self, most
        for resource in np.flatnonzero(alone).tolist():
            item = int(self.demand[:, resource].argmax())
            allows = np.maximum(self.room[:, resource], 0) // self.demand[item, resource]
            most[:, item] = np.minimum(most[:, item], allows.astype(np.int64))
        return replace(self, room=self.room[:, ~alone], demand=self.demand[:, ~alone]), most

    def part(self, items: Ints, within: Ints | None = None) -> "Problem":
        """The problem of these items alone, on any rows or those within."""
        rows = np.flatnonzero(self.allowed[:, items].any(axis=1))
        rows = rows if within is None else np.intersect1d(rows, within)
        return Problem(
            self.offering[rows],
            self.prices[rows],
            self.room[rows],
            self.demand[items],
            self.allowed[np.ix_(rows, items)],
            self.purse[rows],
            self.usage[rows],
            self.block[rows],
        )


_ITEMS_A_UNIT: Final = 32
_FEW_RESOURCES: Final = 8
_ENDLESS: Final = 2**31


def items(place: Tier, shapes: Sequence[Shape], wanted: Sequence[int], admitted: Admission) -> Items:
    """Group the wanted shapes by what packs, in their order."""
    found: dict[tuple[bytes, int], list[int]] = {}
    requests = [place.request(shapes[shape].requests) for shape in wanted]
    for shape, request in zip(wanted, requests, strict=True):
        found.setdefault((request.tobytes(), int(admitted.mask_of[shape])), []).append(shape)
    request_of = dict(zip(wanted, requests, strict=True))
    demand = np.array([request_of[members[0]] for members in found.values()], dtype=np.int64)
    return Items(
        demand=demand.reshape(len(found), len(place.resources)),
        mask_of=np.array([mask for _, mask in found], dtype=np.int64),
        shapes=tuple(tuple(members) for members in found.values()),
    )


def problem(place: Tier, things: Items, admitted: Admission, *, strict: bool = True) -> Problem:
    """What these items can be packed on; dominated kinds are left out.

    `strict` honours minValues, as in `admission`.
    """
    masks = admitted.masks[np.unique(things.mask_of)]
    rows = place.affordable & masks.any(axis=0)
    usable = np.flatnonzero(rows & _anchors(place, masks & rows) if strict else rows)
    purse = _purses(place)[usable]
    best = usable[frontier(place.prices[usable], place.room[usable], masks[:, usable].T, purse, place.usage[usable])]
    fits = (place.room[best][:, None, :] >= things.demand).all(axis=2)
    allowed = admitted.masks[things.mask_of][:, best].T & fits
    return Problem(
        offering=best,
        prices=place.prices[best],
        room=place.room[best].astype(np.float64),
        demand=things.demand.astype(np.float64),
        allowed=allowed,
        purse=_purses(place)[best],
        usage=place.usage[best].astype(np.float64),
        block=distinct_rows(masks[:, best].T)[1],
    )


def distinct_sizes(problem: Problem) -> Ints:
    """Rows without those that are hardly larger than a cheaper one and good for nothing that it isn't.

    Enough to work out contents, each of which may then go to the row that suits it best.
    """
    kept = np.zeros(0, dtype=np.int64)
    for row in np.flatnonzero(problem.allowed.any(axis=1)).tolist():
        like = (problem.room[kept] * _HARDLY_LARGER >= problem.room[row]).all(axis=1)
        like &= (problem.allowed[kept] >= problem.allowed[row]).all(axis=1) & (
            problem.purse[kept] == problem.purse[row]
        )
        if not like.any():
            kept = np.append(kept, row)
    return kept


_HARDLY_LARGER: Final = 1.08


def components(allowed: Bools) -> Iterator[Ints]:
    """Items that compete for the same kinds of node, group by group; groups never meet.

    Items nothing is for are in no group.
    """
    if not allowed.any():
        return
    columns = {row.tobytes(): row for row in allowed}.values()
    label = np.arange(allowed.shape[1])
    changed = True
    while changed:
        before = label.copy()
        for column in columns:
            label[column] = label[column].min(initial=len(label))
        changed = not np.array_equal(before, label)
    served = allowed.any(axis=0)
    for name in np.unique(label[served]):
        yield np.flatnonzero((label == name) & served)


def _purses(place: Tier) -> Ints:
    """-1 for rows of pools without limits."""
    limitless = np.array([options.remaining is None for options in place.pools], dtype=np.bool_)
    return np.where(limitless[place.purse_of], -1, place.purse_of) if len(place.pools) else place.purse_of


def _anchors(place: Tier, masks: Bools) -> Bools:
    good = np.ones(len(place.prices), dtype=np.bool_)
    for number, market in enumerate(place.markets):
        if flexibility.wishes(market):
            rows = place.rows(number)
            good[rows] = flexibility.anchors(market, place.room[rows], masks[:, rows].T)
    return good
