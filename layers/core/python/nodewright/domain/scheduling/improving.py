"""Packings of all items, made cheaper by column generation as far as the budget goes; never dearer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from nodewright.domain.scheduling import ties
from nodewright.domain.scheduling.arrays import Floats, Ints, every
from nodewright.domain.scheduling.bounds import bound
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.dividing import divided
from nodewright.domain.scheduling.packing import Packing, Pattern, pack_alike
from nodewright.domain.scheduling.patterns import fill
from nodewright.domain.scheduling.pricing import duals, packing_prices
from nodewright.domain.scheduling.problems import Problem, components, distinct_sizes
from nodewright.domain.scheduling.sampling import samples
from nodewright.domain.scheduling.tidying import tidied


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Nodes over the rows of a tier and all items, and what packing everything must cost."""

    bound: int
    _groups: Sequence["_Group"]
    _packings: Sequence[Packing]
    _items: int

    def patterns(self) -> Iterator[Pattern]:
        """One by one: of very many items contents over all of them take gigabytes."""
        for group, packing in zip(self._groups, self._packings, strict=True):
            for pattern in packing.patterns:
                content = np.zeros(self._items, dtype=np.int64)
                content[group.items] = pattern.counts
                yield Pattern(int(group.problem.offering[pattern.row]), content, pattern.times)


def pack_all(whole: Problem, counts: Ints, purses: Floats, meter: Meter) -> Packed:
    """Each group of competing items apart: greedily first, then better. What they count is taken from `purses`."""
    groups = list(_groups(whole, counts))
    packings: list[Packing] = []
    for group in groups:
        before = purses.copy()
        model = packings[-1] if group.is_alike else _usual(meter)
        packings.append(_begun(group, purses, meter, model))
        purses[:] = packings[-1].remaining
        group.taken = before - purses
    total = sum(packing.cost for packing in packings)
    proven = 0
    ideas: Ideas = ()
    for number, group in enumerate(groups):
        packing = packings[number]
        ideas = ideas if group.is_alike else ()
        share = meter.share(group.effort * packing.cost / max(total, 1))
        improved = improve(group.problem, group.counts, purses + group.taken, packing, share, ideas)
        ideas = improved.ideas or ideas
        found = [replace(packing, remaining=purses.copy())]
        found += improved.packings
        # Beside nodes of another plan there is little to gain: not worth the time.
        tidy = found if meter.contents else [tidied(group.problem, each) for each in found]
        packings[number] = ties.best(group.problem, tidy)
        purses[:] = packings[number].remaining
        proven += improved.bound
    divided_up = sum(len(group.items) for group in groups) > len(counts)
    proven = bound(whole, counts) if divided_up else proven
    return Packed(proven, groups, packings, len(counts))


def _begun(group: "_Group", purses: Floats, meter: Meter, model: Packing | None) -> Packing:
    """Worked out once for as many plans as begin alike; not from what a guard cut."""
    of = group.problem
    arrays = (group.counts, purses, of.offering, of.prices, of.room, of.demand, of.allowed, of.purse, of.usage)
    key = b"|".join([str(None if model is None else model.way).encode(), *(each.tobytes() for each in arrays)])
    known = meter.known.get(key)
    if isinstance(known, Packing):
        return known
    packing = pack_alike(of, group.counts, purses, meter, model)
    if not (meter.stopped or meter.contents):
        meter.known[key] = packing
    return packing


def _usual(meter: Meter) -> Packing | None:
    """Of another plan, whose nodes are bought again: what was best there will do for the pods that aren't on them."""
    return next((each for each in meter.known.values() if meter.contents and isinstance(each, Packing)), None)


@dataclass(slots=True, eq=False)
class _Group:
    problem: Problem
    items: Ints
    counts: Ints
    is_alike: bool
    """The one before is much like it."""
    effort: float
    """How much more or less it should be given than others: where several are alike the first works for all."""
    taken: Floats = field(default_factory=lambda: np.zeros(0))


def _groups(whole: Problem, counts: Ints) -> Iterator[_Group]:
    for items in components(whole.allowed):
        problem = whole.part(items)
        parts = [
            replace(part, items=part.items[sample], counts=part.counts[sample])
            for part in divided(problem, counts[items])
            for sample in samples(problem.part(part.items, part.rows))
        ]
        for number, part in enumerate(parts):
            effort = _LATER if number else _FIRST if len(parts) > 1 else 1.0
            yield _Group(problem.part(part.items, part.rows), items[part.items], part.counts, number > 0, effort)


_FIRST: Final = 1.5
_LATER: Final = 0.4


Ideas = Sequence[Mapping[bytes, int]]
"""Contents that were nearly worth their price in another problem: demand of an item → pods of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Improved:
    """Packings that are better, and what any packing of all these pods must cost."""

    packings: tuple[Packing, ...]
    bound: int
    ideas: Ideas = ()


def improve(
    problem: Problem, counts: Ints, remaining: Floats, packing: Packing, meter: Meter, ideas: Ideas = ()
) -> Improved:
    """Cheaper packings of the same pods, or ones of more pods. `remaining` is what the limits allow them."""
    proven = bound(problem, counts)
    done = not (problem.purse >= 0).any() if packing.left.any() else packing.cost <= proven * _CLOSE
    if done or not meter.spend(_START * problem.round_cost):
        return Improved((), proven)
    # HiGHS is loaded only where a plan is worth the work.
    from nodewright.domain.scheduling.stages import stages  # noqa: PLC0415

    patterns = [(pattern.row, pattern.counts) for pattern in packing.patterns]
    known = (patterns, _first(problem, counts), list(_adopted(problem, counts, ideas)))
    good: Sequence[Ints] = ()
    found = []
    for stage in stages(problem, counts, remaining, known, proven, meter):
        proven, good = max(proven, int(stage.bound)), stage.promising
        found += [stage.packing] if ties.best(problem, [packing, stage.packing]) is stage.packing else []
    return Improved(tuple(found), proven, [_idea(problem, content) for content in good])


_CLOSE: Final = 1.001
"""No more can be gained."""
_START: Final = 5
"""Rounds that setting up takes."""
_LARGE: Final = 40_000
"""Kinds × items."""


def _first(problem: Problem, counts: Ints) -> list[tuple[int, Ints]]:
    """Good contents of every kind by each way to price pods: a start that saves rounds.

    Of kinds hardly larger than others only where that takes no longer than it saves: six seconds for 203 items on 400.
    """
    worth = problem.demand @ duals(problem, counts)
    lean, most = problem.narrowed()
    rows = distinct_sizes(problem) if problem.allowed.size > _LARGE else np.arange(len(problem.prices))
    room, allowed, stock = lean.room[rows], lean.allowed[rows], np.minimum(most[rows], counts)
    contents = [
        (row, content)
        for values in packing_prices(problem, worth)
        for row, content in zip(rows.tolist(), fill(room, lean.demand, allowed, stock, values), strict=True)
    ]
    return [(row, content) for row, content in contents if np.any(content)]


def _idea(problem: Problem, content: Ints) -> Mapping[bytes, int]:
    return {problem.demand[item].tobytes(): int(content[item]) for item in np.flatnonzero(content).tolist()}


def _adopted(problem: Problem, counts: Ints, ideas: Ideas) -> Iterator[tuple[int, Ints]]:
    """The same contents here, as far as there are such items, each on the cheapest row that holds it."""
    index = {demand.tobytes(): item for item, demand in enumerate(problem.demand)}
    for idea in ideas:
        content = np.zeros(len(counts), dtype=np.int64)
        for demand, many in idea.items():
            item = index.get(demand)
            if item is not None:
                content[item] = min(many, counts[item])
        holds = every(problem.room >= content @ problem.demand) & every(problem.allowed[:, content > 0])
        if content.any() and holds.any():
            yield int(np.argmax(holds)), content
