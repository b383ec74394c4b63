"""A packing out of a relaxation, and another one out of a better relaxation where that is within reach.

Whole nodes out of a better relaxation mostly cost less, but not always: both are kept.

Imported only where a plan is worth the work: it brings HiGHS along.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.generating import Generated, every_kind, generate, narrow_first, promising
from nodewright.domain.scheduling.levelling import level
from nodewright.domain.scheduling.linear_program import Column, Master
from nodewright.domain.scheduling.packing import Packing
from nodewright.domain.scheduling.problems import Problem
from nodewright.domain.scheduling.rounding import rounded

Contents = Sequence[tuple[int, Ints]]
"""Rows, and what a node holds."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """What came of one."""

    packing: Packing
    bound: float
    promising: Sequence[Ints]
    """Contents that are nearly worth their nodes."""


def stages(
    problem: Problem,
    counts: Ints,
    remaining: Floats,
    known: Iterable[Contents],
    proven: float,
    meter: Meter,
) -> Iterator[Stage]:
    """One after the other. `known`: to begin with; `proven`: what is known of the bound."""
    first = _master(problem, counts, remaining, known)
    generated = generate(problem, first, counts, proven, meter, narrow_first(problem))
    if generated is None:
        return
    contents, cost = [(each.row, each.counts) for each in first.columns], generated.relaxation.cost
    stage = _rounded(problem, counts, remaining, first, generated)
    yield stage
    if len(counts) > _MANY or stage.packing.cost <= stage.bound * _CLOSE:
        return
    others = list(level(problem, counts)) if len(counts) > _FEW else []
    second = _master(problem, counts, remaining, (contents, others))
    generated = generate(problem, second, counts, stage.bound, meter, every_kind())
    if generated is not None and generated.relaxation.cost < cost * _LESS:
        yield _rounded(problem, counts, remaining, second, generated, adding=False)


_MANY: Final = 80
"""Items; with more of them a search of every kind takes long and finds next to nothing."""
_FEW: Final = 24
"""Items; with so few of them searches find whatever is good."""
_CLOSE: Final = 1.001
"""No more can be gained."""
_LESS: Final = 1 - 1e-6


def _master(problem: Problem, counts: Ints, remaining: Floats, known: Iterable[Contents]) -> Master:
    master = Master(problem, counts, remaining)
    for contents in known:
        master.add([Column(row, content) for row, content in contents])
    return master


def _rounded(
    problem: Problem, counts: Ints, remaining: Floats, master: Master, generated: Generated, *, adding: bool = True
) -> Stage:
    good = [column.counts for column in promising(problem, master, generated.relaxation)]
    packing = rounded(problem, counts, remaining, master, generated.relaxation, adding=adding)
    return Stage(packing, generated.bound, good)
