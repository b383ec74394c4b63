"""Packings of all items, made cheaper by column generation as far as the budget goes; never dearer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from nodewright.domain.scheduling import ties
from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.bounds import bound
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.dividing import divided
from nodewright.domain.scheduling.packing import Packing, Pattern, pack_alike
from nodewright.domain.scheduling.patterns import fill
from nodewright.domain.scheduling.pricing import duals, item_prices
from nodewright.domain.scheduling.problems import Problem, components
from nodewright.domain.scheduling.tidying import tidied


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Patterns over the rows of a tier and all items, and what packing everything must cost."""

    patterns: tuple[Pattern, ...]
    bound: int


def pack_all(whole: Problem, counts: Ints, purses: Floats, meter: Meter) -> Packed:
    """Each group of competing items apart: greedily first, then better. What they count is taken from `purses`."""
    groups = list(_groups(whole, counts))
    packings: list[Packing] = []
    for group in groups:
        before = purses.copy()
        model = packings[-1] if group.is_alike else None
        packings.append(pack_alike(group.problem, group.counts, purses, meter, model))
        purses[:] = packings[-1].remaining
        group.taken = before - purses
    total = sum(packing.cost for packing in packings)
    proven = 0
    for number, group in enumerate(groups):
        packing = packings[number]
        allowed = purses + group.taken
        improved = improve(group.problem, group.counts, allowed, packing, meter.share(packing.cost / max(total, 1)))
        found = improved.packing if improved.packing is not packing else replace(packing, remaining=purses)
        packings[number] = tidied(group.problem, found)
        purses[:] = packings[number].remaining
        proven += improved.bound
    divided_up = sum(len(group.items) for group in groups) > len(counts)
    return Packed(tuple(_patterns(groups, packings, len(counts))), bound(whole, counts) if divided_up else proven)


@dataclass(slots=True, eq=False)
class _Group:
    problem: Problem
    items: Ints
    counts: Ints
    is_alike: bool
    """The one before is much like it."""
    taken: Floats = field(default_factory=lambda: np.zeros(0))


def _groups(whole: Problem, counts: Ints) -> Iterator[_Group]:
    for items in components(whole.allowed):
        problem = whole.part(items)
        for number, part in enumerate(divided(problem, counts[items])):
            yield _Group(problem.part(part.items, part.rows), items[part.items], part.counts, is_alike=number > 0)


def _patterns(groups: Sequence[_Group], packings: Sequence[Packing], items: int) -> Iterator[Pattern]:
    for group, packing in zip(groups, packings, strict=True):
        for pattern in packing.patterns:
            content = np.zeros(items, dtype=np.int64)
            content[group.items] = pattern.counts
            yield Pattern(int(group.problem.offering[pattern.row]), content, pattern.times)


@dataclass(frozen=True, slots=True, eq=False)
class Improved:
    """The packing, and what any packing of all these pods must cost."""

    packing: Packing
    bound: int


def improve(problem: Problem, counts: Ints, remaining: Floats, packing: Packing, meter: Meter) -> Improved:
    """A cheaper packing of the same pods, or this one. `remaining` is what the limits allow them."""
    proven = bound(problem, counts)
    if packing.left.any() or packing.cost <= proven * _CLOSE or not meter.spend(_START * problem.round_cost):
        return Improved(packing, proven)
    # HiGHS is loaded only where a plan is worth the work.
    from nodewright.domain.scheduling.generating import generate  # noqa: PLC0415
    from nodewright.domain.scheduling.linear_program import Column, Master  # noqa: PLC0415
    from nodewright.domain.scheduling.rounding import rounded  # noqa: PLC0415

    master = Master(problem, counts, remaining)
    master.add([Column(pattern.row, pattern.counts) for pattern in packing.patterns])
    master.add([Column(row, content) for row, content in _first(problem, counts)])
    generated = generate(problem, master, counts, proven, meter)
    if generated is None:
        return Improved(packing, proven)
    found = rounded(problem, counts, remaining, master, generated.relaxation)
    return Improved(ties.best(problem, [packing, found]), max(proven, int(generated.bound)))


_CLOSE: Final = 1.001
"""No more can be gained."""
_START: Final = 5
"""Rounds that setting up takes."""


def _first(problem: Problem, counts: Ints) -> list[tuple[int, Ints]]:
    """Good contents of every kind by each way to price pods: a start that saves rounds."""
    worth = problem.demand @ duals(problem, counts)
    contents = [
        (row, content)
        for values in item_prices(problem, worth)
        for row, content in enumerate(fill(problem.room, problem.demand, problem.allowed, counts, values))
    ]
    return [(row, content) for row, content in contents if np.any(content)]
