"""Which of several packings of the same pods is picked where they are equally dear.

Pods left come first, then the price, then the number of nodes (fewer DaemonSets, images to pull, things to fail),
then how evenly they are filled: of the fullest nodes, compared in turn, the one that is less full.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, Protocol, TypeVar

import numpy as np

from nodewright.domain.scheduling.arrays import Ints
from nodewright.domain.scheduling.problems import Problem


class Laid(Protocol):
    """Nodes of one kind with equal content."""

    @property
    def row(self) -> int:
        """Their kind."""
        ...

    @property
    def counts(self) -> Ints:
        """Pods of each item on one."""
        ...

    @property
    def times(self) -> int:
        """How many there are."""
        ...


class Ranked(Protocol):
    """A packing."""

    @property
    def rank(self) -> tuple[int, int, int]:
        """Pods left, price, nodes."""
        ...

    @property
    def patterns(self) -> Sequence[Laid]:
        """Its nodes."""
        ...


Fullness = tuple[tuple[Fraction, int], ...]
"""How full nodes are and how many are so, the fullest first. Of as many nodes the smaller is the more even."""

P = TypeVar("P", bound=Ranked)


def best(problem: Problem, packings: Iterable[P]) -> P:
    """The first of the best."""
    found = list(packings)
    least = min(each.rank for each in found)
    tied = [each for each in found if each.rank == least]
    return tied[0] if len(tied) == 1 else min(tied, key=lambda each: fullness(problem, each.patterns))


def fullness(problem: Problem, patterns: Iterable[Laid]) -> Fullness:
    """Exact: amounts are whole, and a share of them is a fraction."""
    found: dict[Fraction, int] = {}
    for pattern in patterns:
        share = filled(problem, pattern.row, pattern.counts)
        found[share] = found.get(share, 0) + pattern.times
    return tuple(sorted(found.items(), reverse=True))


def filled(problem: Problem, row: int, counts: Ints) -> Fraction:
    """How full these pods make a node of a kind: as it is of the resource it has least left of."""
    given = problem.room[row] > 0
    load, room = (counts @ problem.demand)[given], problem.room[row][given]
    shares = load / room
    # Floats only sort out; fractions are dear where each owner's pods are a resource.
    most = np.flatnonzero(shares >= shares.max(initial=0.0) * _NEARLY).tolist()
    return max((Fraction(int(load[each]), int(room[each])) for each in most), default=Fraction(0))


_NEARLY: Final = 1 - 1e-9
