"""Offerings that nothing else makes pointless."""

from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints, distinct_rows


def frontier(prices: Ints, room: Ints, allowed: Bools, purse: Ints, usage: Ints) -> Ints:
    """Indices of the rows not dominated, cheapest first.

    A row dominates another that is no cheaper, no larger in any resource, open to no pod the first
    refuses, and that takes no less of the same limits (`purse` is -1 where none apply). `allowed` is
    rows × masks. Of equal rows the first stays.
    """
    if not len(prices):
        return np.zeros(0, dtype=np.int64)
    order = _dominators_first(prices, room, allowed, usage)
    columns, column_of = distinct_rows(allowed)
    over = supersets(columns)
    group_of = _related(over)[column_of][order]
    sets = (over, column_of)
    found = [_undominated(order[group_of == group], room, sets, purse, usage) for group in np.unique(group_of).tolist()]
    if len(found) == 1:
        return found[0]
    turn = np.empty_like(order)
    turn[order] = np.arange(len(order))
    kept = np.concatenate(found)
    return kept[np.argsort(turn[kept])]


def _related(over: Bools) -> Ints:
    """Columns that are beneath one another, directly or not, have one number: pools of their own are many groups."""
    beside = over | over.T
    label = np.arange(len(over))
    while True:
        least = np.where(beside, label, len(over)).min(axis=1)
        if np.array_equal(least, label):
            return label
        label = least


def _undominated(order: Ints, room: Ints, sets: tuple[Bools, Ints], purse: Ints, usage: Ints) -> Ints:
    kept = np.zeros(0, dtype=np.int64)
    for start in range(0, len(order), _BLOCK):
        block = order[start : start + _BLOCK]
        block = block[~_dominates(kept, block, room, sets, purse, usage).any(axis=0)]
        # Within the block only an earlier row may beat a later one.
        beaten = np.triu(_dominates(block, block, room, sets, purse, usage), k=1)
        kept = np.concatenate([kept, block[~beaten.any(axis=0)]])
    return kept


_BLOCK: Final = 256


def _dominators_first(prices: Ints, room: Ints, allowed: Bools, usage: Ints) -> Ints:
    keys = [*usage.T[::-1], -allowed.sum(axis=1), *(-room.T[::-1]), prices]
    return np.lexsort(keys)


def supersets(columns: Bools) -> Bools:
    """[i, j]: column i allows all that column j allows."""
    wide = columns.astype(np.float32)
    supersets: Bools = ((1 - wide) @ wide.T) == 0
    return supersets


def _dominates(one: Ints, other: Ints, room: Ints, sets: tuple[Bools, Ints], purse: Ints, usage: Ints) -> Bools:
    over, column_of = sets
    better = over[np.ix_(column_of[one], column_of[other])]
    for amounts in room.T:
        better &= amounts[one][:, None] >= amounts[other]
    if (purse >= 0).any():
        same = purse[one][:, None] == purse[other]
        for used in usage.T:
            same &= used[one][:, None] <= used[other]
        better &= same | (purse[one][:, None] < 0)
    return better
