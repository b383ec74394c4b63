"""The same pods for the same price on fewer nodes, and these filled more evenly (ties.py).

A packing that costs the least may still have two nodes where one of twice the size costs as much, or one node full to
the last core beside one that is nearly empty. Both are put right step by step, never at a price.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from nodewright.domain.scheduling import ties
from nodewright.domain.scheduling.arrays import Floats, Ints, every
from nodewright.domain.scheduling.dissolving import dissolutions
from nodewright.domain.scheduling.packing import Packing, Pattern, merged_patterns, pay, settled, times_affordable
from nodewright.domain.scheduling.problems import Problem
from nodewright.domain.scheduling.ties import filled


def tidied(problem: Problem, packing: Packing) -> Packing:
    """As good a packing or a better one; a large one as it is."""
    many = len(packing.patterns)
    if many > _MOST_PATTERNS or many**2 * problem.demand.size > _MOST_AMOUNTS:
        return packing
    return evened(problem, merged(problem, packing))


_MOST_PATTERNS: Final = 64
"""Work grows with their square. Where there are more, nodes are many and differ by little."""
_MOST_AMOUNTS: Final = 8_000_000
"""Looked at in one step: some tens of milliseconds. Many items with a resource each would take seconds in all."""


def merged(problem: Problem, packing: Packing) -> Packing:
    """With two nodes made one, or one divided among the others, wherever that costs no more."""
    while True:
        step = next(itertools.chain(_merges(problem, packing), dissolutions(problem, packing)), None)
        if step is None:
            return packing
        packing = step


def _merges(problem: Problem, packing: Packing) -> Iterator[Packing]:
    """Each way to make nodes of two patterns, or two of one, a node."""
    patterns = packing.patterns
    for at, first in enumerate(patterns):
        for second in patterns[at:]:
            times = min(first.times, second.times) if first is not second else first.times // 2
            if times:
                yield from _together(problem, packing, (first, second), times)


def _together(problem: Problem, packing: Packing, pair: tuple[Pattern, Pattern], times: int) -> Iterator[Packing]:
    first, second = pair
    counts = first.counts + second.counts
    used = counts > 0
    price = int(problem.prices[first.row] + problem.prices[second.row])
    holds = every(problem.room >= counts @ problem.demand) & every(problem.allowed[:, used])
    for row in np.flatnonzero(holds & (problem.prices <= price)).tolist():
        purses = packing.remaining.copy()
        pay(problem, purses, first.row, -times)
        pay(problem, purses, second.row, -times)
        if times_affordable(problem, purses, row) >= times:
            pay(problem, purses, row, times)
            yield _with(problem, packing, pair, Pattern(row, counts, times), purses)


def _with(problem: Problem, packing: Packing, pair: tuple[Pattern, Pattern], new: Pattern, purses: Floats) -> Packing:
    taken = {id(pair[0]): new.times, id(pair[1]): new.times}
    if pair[0] is pair[1]:
        taken = {id(pair[0]): 2 * new.times}
    kept = [replace(each, times=each.times - taken.get(id(each), 0)) for each in packing.patterns]
    return _packing(problem, packing, [*(each for each in kept if each.times), new], purses)


def _packing(problem: Problem, packing: Packing, patterns: Sequence[Pattern], purses: Floats) -> Packing:
    """Settled again: what is less full may fit a cheaper kind."""
    placed = sum((each.times * each.counts for each in packing.patterns), np.zeros_like(packing.left))
    free = purses.copy()
    for each in patterns:
        pay(problem, free, each.row, -each.times)
    found = settled(problem, patterns, placed, free)
    return replace(found, left=packing.left)


def evened(problem: Problem, packing: Packing) -> Packing:
    """With pods moved from fuller to emptier nodes, as long as that makes the fuller ones less full.

    In the end there are no more different contents than before: each is a launch of its own.
    """
    most = len(packing.patterns)
    found, patterns = packing, packing.patterns
    for _ in range(_MOST_MOVES):
        moved = next(_moves(problem, patterns), None)
        if moved is None or len(moved) > most + _ON_THE_WAY:
            break
        patterns = moved
        if len(patterns) <= most:
            found = replace(packing, patterns=patterns)
    if found is packing:
        return packing
    return ties.best(problem, [packing, _packing(problem, packing, found.patterns, packing.remaining)])


_MOST_MOVES: Final = 100
_ON_THE_WAY: Final = 2
"""More contents than that in between mean that nodes don't come to be alike."""


def _moves(problem: Problem, patterns: Sequence[Pattern]) -> Iterator[tuple[Pattern, ...]]:
    """Each way to move one pod, or to exchange two, from the fullest nodes to the emptiest."""
    ranked = sorted(patterns, key=lambda each: filled(problem, each.row, each.counts), reverse=True)
    for at, giver in enumerate(ranked):
        changes = _changes(giver.counts, exchanges=len(patterns) * len(giver.counts) <= _FEW)
        takers = [*ranked[:at], *ranked[at + 1 :]][::-1]
        for number, change in _candidates(problem, giver, takers, changes):
            if _is_emptier(problem, giver, takers[number], changes[change]):
                yield tuple(merged_patterns(_moved(ranked, giver, takers[number], changes[change])))


_FEW: Final = 512
"""Contents × items up to which exchanges are tried, too."""


def _changes(counts: Ints, *, exchanges: bool) -> Ints:
    """What may leave a node with this content, one a row: a pod, or a pod for one of another item."""
    one = np.eye(len(counts), dtype=np.int64)
    given = one[counts > 0]
    if not exchanges:
        return given
    swapped = (given[:, None, :] - one[None, :, :]).reshape(-1, len(counts))
    return np.concatenate([given, swapped[np.any(swapped, axis=1)]])


def _candidates(
    problem: Problem, giver: Pattern, takers: Sequence[Pattern], changes: Ints
) -> Iterator[tuple[int, int]]:
    """Takers and changes after which the fuller of both may be less full, or as full and the other less.

    Floats only sort out; what is left is judged exactly.
    """
    if not takers:
        return
    rows, held = np.array([each.row for each in takers]), np.array([each.counts for each in takers])
    full = _share(problem, np.array([giver.row]), giver.counts @ problem.demand)[0]
    gives, takes = giver.counts - changes, held[:, None] + changes
    given = _share(problem, np.array([giver.row]), gives @ problem.demand)
    taken = _share(problem, rows[:, None], takes @ problem.demand)
    before = _share(problem, rows, held @ problem.demand)[:, None]
    fits = every(problem.allowed[giver.row] | (gives <= 0))
    fits = fits & every(takes >= 0, axis=2) & every(problem.allowed[rows][:, None] | (takes <= 0), axis=2)
    fuller, other = np.maximum(given, taken), np.minimum(given, taken)
    fits &= (fuller < full / _NEARLY) | ((fuller <= full * _NEARLY) & (other <= before * _NEARLY))
    yield from zip(*(found.tolist() for found in np.nonzero(fits)), strict=True)


def _share(problem: Problem, rows: Ints, loads: Floats) -> Floats:
    """How full such loads make these kinds of node."""
    room = problem.room[rows]
    share: Floats = np.where(room > 0, loads / np.where(room > 0, room, 1.0), 0.0).max(axis=-1)
    return share


def _is_emptier(problem: Problem, giver: Pattern, taker: Pattern, change: Ints) -> bool:
    before = filled(problem, giver.row, giver.counts), filled(problem, taker.row, taker.counts)
    after = filled(problem, giver.row, giver.counts - change), filled(problem, taker.row, taker.counts + change)
    return (max(after), min(after)) < before


_NEARLY: Final = 1 + 1e-9


def _moved(patterns: Sequence[Pattern], giver: Pattern, taker: Pattern, change: Ints) -> Iterator[Pattern]:
    times = min(giver.times, taker.times)
    for each in patterns:
        if each is not giver and each is not taker:
            yield each
            continue
        if each.times > times:
            yield replace(each, times=each.times - times)
        yield Pattern(each.row, each.counts + (change if each is taker else -change), times)
