"""A packing problem over several zones as one for each, where that loses next to nothing.

Pods that are bound to a zone and others that aren't make one large problem of them all. Where the zones sell the
same at the same prices, which pods of the second sort go where hardly matters, as long as each zone gets its share.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Floats, Ints
from nodewright.domain.scheduling.problems import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Of a problem: rows, items, and how many pods of each."""

    rows: Ints
    items: Ints
    counts: Ints


def divided(problem: Problem, counts: Ints) -> Iterator[Part]:
    """The problem's parts: itself, where it isn't large or can't be divided."""
    rows, within = _blocks(problem)
    bound = within.sum(axis=1) == 1
    if len(counts) <= _MANY or bound.all() or not bound.any() or not _are_alike(problem, rows):
        yield Part(np.arange(len(problem.prices)), np.arange(len(counts)), counts)
        return
    yield from shared_out(problem, counts)


def shared_out(problem: Problem, counts: Ints) -> Iterator[Part]:
    """What each block of rows gets of the pods: those bound to it, and of the others as large a part as of those."""
    rows, within = _blocks(problem)
    for each, share in zip(rows, _shares(problem, counts, within, within.sum(axis=1) == 1).T, strict=True):
        items = np.flatnonzero(share)
        if len(items):
            yield Part(each, items, share[items])


def _blocks(problem: Problem) -> tuple[Sequence[Ints], Bools]:
    """Rows of each, and items × blocks: whether any of those may be used."""
    rows = [np.flatnonzero(problem.block == block) for block in np.unique(problem.block)]
    return rows, np.array([problem.allowed[each].any(axis=0) for each in rows]).T


_MANY: Final = 96
"""Items; fewer are packed together."""


def _are_alike(problem: Problem, blocks: Sequence[Ints]) -> bool:
    first, *others = ([problem.prices[rows], problem.room[rows]] for rows in blocks)
    return all(np.array_equal(one, two) for other in others for one, two in zip(first, other, strict=True))


def _shares(problem: Problem, counts: Ints, within: Bools, bound: Bools) -> Ints:
    """Items × blocks: pods of each, those that may choose in proportion to what is bound to each block."""
    shares = np.where(within & bound[:, None], counts[:, None], 0)
    load = shares.T @ (problem.demand / np.maximum(counts @ problem.demand, 1)).sum(axis=1)
    owed = np.zeros(within.shape[1])
    for item in np.flatnonzero(~bound & (counts > 0)).tolist():
        wanted = owed + _part(load, within[item]) * counts[item]
        shares[item] = _whole(np.where(within[item], wanted, -np.inf), int(counts[item]))
        owed = np.where(within[item], wanted - shares[item], owed)
    return shares


def _part(load: Floats, within: Bools) -> Floats:
    """Of each block; of equal size where nothing is bound to any."""
    part = np.where(within, load, 0.0)
    total = float(part.sum())
    return part / total if total > 0 else within / within.sum()


def _whole(wanted: Floats, count: int) -> Ints:
    """Whole numbers near these, `count` in all."""
    share = np.floor(np.maximum(wanted, 0.0)).astype(np.int64)
    while share.sum() > count:
        share[np.argmax(np.where(share > 0, share - wanted, -np.inf))] -= 1
    while share.sum() < count:
        share[np.argmax(wanted - share)] += 1
    return share
