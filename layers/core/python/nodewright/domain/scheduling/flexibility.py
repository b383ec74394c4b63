"""minValues: a launch must be able to become so many different values of a label (cases.md 16).

Counted over the offerings of one capacity type, since one launch buys only one.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints, distinct_rows
from nodewright.domain.scheduling.frontier import supersets
from nodewright.domain.scheduling.offerings import Market

POLICY: Final = "nodewright.dev/min-values-policy"
"""Setting of a pool: `Strict` (the default), or `BestEffort`: then a launch may have less choice, and says so."""


def asked(market: Market) -> Mapping[str, int]:
    """Least number of distinct values that the pool would like, by label key."""
    requirements = market.pool.requirements.items()
    return {key: requirement.min_values for key, requirement in requirements if requirement.min_values}


def wishes(market: Market) -> Mapping[str, int]:
    """Of those, what a launch must keep."""
    return {} if market.pool.settings.get(POLICY) == "BestEffort" else asked(market)


def distinct(market: Market, rows: Bools, key: str) -> int:
    """How many values of a label these rows of the market have."""
    column = market.columns.column(key)
    present = np.array([value is not None for value in column.values], dtype=np.bool_)
    codes = np.unique(column.codes[rows])
    return int(present[codes].sum())


def narrow(market: Market, mask: Bools, holds: Bools) -> Bools:
    """The market's rows a pod may use, without capacity types in which it leaves too little choice."""
    left = mask.copy()
    for same in _capacity_types(market):
        rows = mask & holds & same
        if any(distinct(market, rows, key) < least for key, least in wishes(market).items()):
            left &= ~same
    return left


def anchors(market: Market, room: Ints, allowed: Bools) -> Bools:
    """Rows such that whatever a node planned on them holds leaves choice enough.

    Enough distinct values are among the rows that are as large and open to the same pods:
    `allowed` is rows × masks. Sufficient, not necessary.
    """
    good = np.zeros(len(room), dtype=np.bool_)
    for same in _capacity_types(market):
        rows = np.flatnonzero(same & allowed.any(axis=1))
        good[rows] = True
        for key, least in wishes(market).items():
            good[rows] &= _choice(room[rows], allowed[rows], market.columns.column(key).codes[rows]) >= least
    return good


_BLOCK: Final = 256


def _choice(room: Ints, allowed: Bools, codes: Ints) -> Ints:
    """Distinct codes among the rows that can stand in for each row."""
    columns, column_of = distinct_rows(allowed)
    over = supersets(columns)
    values = (codes[:, None] == np.unique(codes)).astype(np.float32)
    found = [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(room), _BLOCK):
        block = slice(start, start + _BLOCK)
        covers = over[np.ix_(column_of, column_of[block])]
        for amounts in room.T:
            covers &= amounts[:, None] >= amounts[block]
        found.append(((covers.T.astype(np.float32) @ values) > 0).sum(axis=1))
    return np.concatenate(found)


def _capacity_types(market: Market) -> Iterator[Bools]:
    for kind in np.unique(market.shelf.capacity_types):
        yield market.shelf.capacity_types == kind
