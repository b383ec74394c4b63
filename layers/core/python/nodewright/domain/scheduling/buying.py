"""New nodes for what found no room: tier by tier, each group of competing items packed apart."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from nodewright.domain.plans import Launch
from nodewright.domain.pods import DaemonSet, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling import flexibility
from nodewright.domain.scheduling.admission import Admission, admission
from nodewright.domain.scheduling.arrays import Bools, Floats, Ints, every
from nodewright.domain.scheduling.bounds import bound
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.improving import pack_all
from nodewright.domain.scheduling.launch_lists import Load, launch_list, relaxed_min_values
from nodewright.domain.scheduling.packing import Pattern
from nodewright.domain.scheduling.problems import Items, Problem, items, problem
from nodewright.domain.scheduling.repeating import repeated
from nodewright.domain.scheduling.shapes import Shape, Waiting
from nodewright.domain.scheduling.tiers import NO_CAPS, Tier, tier, tiers
from nodewright.domain.snapshot import PoolOptions


@dataclass(frozen=True, slots=True)
class Purchase:
    """What is to be bought, and what it must cost at least."""

    launches: tuple[Launch, ...]
    bound: int
    tiers: tuple[Tier, ...] = field(repr=False)
    """As they are after it: what remains of the limits."""

    @property
    def cost(self) -> int:
        """Nanodollars per hour."""
        return sum(launch.price * len(launch.nodes) for launch in self.launches)


def buy(
    pools: Sequence[PoolOptions],
    daemon_sets: Sequence[DaemonSet],
    waiting: Waiting,
    meter: Meter,
    bar: Callable[[Tier], Tier] = lambda place: place,
    caps: Mapping[str, int] = NO_CAPS,
) -> Purchase:
    """Launches for the pods that wait; those that got a node no longer do. Pools being deleted sell nothing.

    `bar` leaves of a tier what may be bought beside pods that are planned already. `caps`: what every node has of
    resources that only count pods (caps.py); the bound knows them, too.
    """
    pools = [options for options in pools if not options.pool.terminating]
    if not waiting.left.any():
        return Purchase((), 0, ())
    places = map(bar, tiers(pools, waiting.shapes, daemon_sets, caps=caps))
    rounds = [tuple(_rounds(place, waiting, meter)) for place in places]
    visits = [visit for each in rounds for visit in each]
    return Purchase(
        launches=tuple(launch for visit in visits for launch in visit.launches),
        bound=_bound(visits, pools, daemon_sets, waiting, caps),
        tiers=tuple(each[-1].place for each in rounds),
    )


def relaxed_bound(
    pools: Sequence[PoolOptions],
    daemon_sets: Sequence[DaemonSet],
    shapes: Sequence[Shape],
    placed: Ints,
    caps: Mapping[str, int] = NO_CAPS,
) -> int:
    """A bound for so many pods of these shapes in these pools, whatever weights, minValues and what is spared."""
    place = tier(pools, shapes, daemon_sets, caps=caps)
    admitted = admission(place, shapes, strict=False)
    things = items(place, shapes, np.flatnonzero(placed).tolist(), admitted)
    return bound(problem(place, things, admitted, strict=False), things.counts(placed))


@dataclass(frozen=True, slots=True, eq=False)
class _Visit:
    """What one tier came to."""

    place: Tier
    """With what then remains of its limits."""
    launches: tuple[Launch, ...]
    hosts: Bools
    """Shapes it could host a pod of."""
    placed: Ints
    """Pods of each shape that went there."""
    things: Items
    problem: Problem
    proven: int
    """What everything it was wanted for must cost; 0 where some of that got no node."""

    @classmethod
    def to(cls, place: Tier, waiting: Waiting, meter: Meter) -> "_Visit":
        before = waiting.left
        admitted = admission(place, waiting.shapes)
        wanted = np.flatnonzero((before > 0) & admitted.holds_some & (not meter.stopped)).tolist()
        things = items(place, waiting.shapes, wanted, admitted)
        whole = problem(place, things, admitted)
        purses = place.remaining.astype(np.float64)
        again = repeated(whole, things, waiting, meter.contents, purses)
        packed = pack_all(whole, things.counts(before) - again.counts, purses, meter)
        patterns = chain(again.patterns, packed.patterns())
        launches = tuple(_launches(place, things, admitted, patterns, purses, waiting))
        after = replace(place, remaining=purses.astype(np.int64))
        placed = before - waiting.left
        complete = not again.patterns and np.array_equal(things.counts(placed), things.counts(before))
        return cls(after, launches, admitted.holds_some, placed, things, whole, packed.bound if complete else 0)


def _rounds(place: Tier, waiting: Waiting, meter: Meter) -> Iterator[_Visit]:
    """Visits until nothing more is bought: when limits take some kinds away, what was spared may be used."""
    while True:
        visit = _Visit.to(place, waiting, meter)
        yield visit
        place = visit.place
        if not (visit.launches and place.limited and waiting.left.any()):
            return


def _launches(
    place: Tier, things: Items, admitted: Admission, patterns: Iterable[Pattern], purses: Floats, waiting: Waiting
) -> Iterator[Launch]:
    """A launch for each pattern whose list comes about."""
    for pattern in patterns:
        used = np.flatnonzero(pattern.counts)
        mask = every(admitted.masks[things.mask_of[used]], axis=0)
        amounts = pattern.counts @ things.demand
        load = Load(pattern.row, amounts, mask, pattern.times)
        purse = purses[place.purse_of[pattern.row]]
        offerings = launch_list(place, load, purse)
        if not offerings:
            purse += place.usage[pattern.row] * pattern.times
            continue
        market = place.markets[place.market_of[pattern.row]]
        shapes = [shape for item in used for shape in things.shapes[item]]
        yield Launch(
            pool=market.pool.name,
            capacity_type=market.shelf.offerings[place.row_of[pattern.row]].capacity_type,
            offerings=offerings,
            price=offerings[0].price,
            requests=Resources(dict(zip(place.resources, amounts.tolist(), strict=True))),
            nodes=tuple(_pods(things, pattern, waiting) for _ in range(pattern.times)),
            selected_labels=tuple(sorted({key for shape in shapes for key in waiting.shapes[shape].wish.keys})),
            labels=market.lane,
            relaxed_min_values=relaxed_min_values(place, pattern.row, offerings),
        )


def _pods(things: Items, pattern: Pattern, waiting: Waiting) -> tuple[PodKey, ...]:
    """The pods of one node: each item's from its shapes in turn."""
    pods: list[PodKey] = []
    for item in np.flatnonzero(pattern.counts).tolist():
        wanted = int(pattern.counts[item])
        for shape in things.shapes[item]:
            taken = waiting.take(shape, wanted)
            wanted -= len(taken)
            pods += taken
    return tuple(pods)


def _bound(
    visits: Sequence[_Visit],
    pools: Sequence[PoolOptions],
    daemon_sets: Sequence[DaemonSet],
    waiting: Waiting,
    caps: Mapping[str, int],
) -> int:
    """Of what went to new nodes.

    Tiers are proven one by one, for weights are a rule. Where limits made pods spill from a tier that
    could host them, another plan might have spilled others: then all pools are taken as one place.
    """
    placed = sum((visit.placed for visit in visits), np.zeros(len(waiting.shapes), dtype=np.int64))
    if _spilled(visits):
        return relaxed_bound(pools, daemon_sets, waiting.shapes, placed, caps)
    return sum(
        relaxed_bound(visit.place.pools, daemon_sets, waiting.shapes, visit.placed, caps)
        if any(flexibility.wishes(market) for market in visit.place.markets)
        else max(visit.proven, bound(visit.problem, visit.things.counts(visit.placed)))
        for visit in visits
    )


def _spilled(visits: Sequence[_Visit]) -> bool:
    return any(
        bool((earlier.hosts & (later.placed > 0)).any())
        for index, later in enumerate(visits)
        for earlier in visits[:index]
    )
