"""Why a pod gets no node: what was tried, what ruled it out, with numbers.

Worked out only for shapes that wait, from the same masks the plan was made with.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nodewright.domain.limits import shown
from nodewright.domain.quantities import Resources, format_amount
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling import flexibility
from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.limits import limited
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.scheduling.shapes import Shape
from nodewright.domain.scheduling.tiers import Tier
from nodewright.domain.taints import untolerated
from nodewright.domain.usage import node_usage


@dataclass(frozen=True, slots=True)
class Reason:
    """One CamelCase word and a text for people."""

    word: str
    message: str


def problem_reason(problems: Sequence[str]) -> Reason:
    """For a pod no node can help."""
    return Reason("Unsupported", "; ".join(problems))


def time_reason() -> Reason:
    """For a pod the planner didn't get to."""
    return Reason("NotPlannedYet", "the plan was cut short before this pod's turn; it is planned again at once")


def reason(shape: Shape, tiers: Sequence[Tier], rooms: int) -> Reason:
    """Pool by pool in the order in which they were tried; the word is that of the one that came closest."""
    if not shape.wish.alternatives:
        return Reason("NoInstanceType", "its required node affinity matches no node; give a term an expression")
    verdicts = [verdict for place in tiers for verdict in _verdicts(place, shape)]
    if not verdicts:
        return Reason("NoPool", f"{_rooms(rooms)}there is no node pool; create one")
    closest = max(verdict.stage for verdict in verdicts)
    shown = [f"pool {verdict.pool}: {verdict.text}" for verdict in verdicts[:_MOST_POOLS]]
    more = len(verdicts) - len(shown)
    return Reason(_WORDS[closest], _rooms(rooms) + "; ".join(shown) + (f"; and {more} more pools" if more else ""))


_MOST_POOLS: Final = 6
_MOST_TYPES: Final = 3
#: By how far a pod came in a pool.
_WORDS: Final = (
    "NoInstanceType",
    "TaintNotTolerated",
    "NoInstanceType",
    "NoInstanceType",
    "NoCapacity",
    "MinValuesNotMet",
    "LimitReached",
)


@dataclass(frozen=True, slots=True)
class _Verdict:
    pool: str
    stage: int
    text: str


def _rooms(rooms: int) -> str:
    return f"no room on {rooms} {'node' if rooms == 1 else 'nodes'}; " if rooms else ""


def _verdicts(place: Tier, shape: Shape) -> Iterator[_Verdict]:
    """One per pool; of a pool with several markets the one where the pod came furthest."""
    for options in place.pools:
        found = [
            _Look(place, number, shape).verdict()
            for number, market in enumerate(place.markets)
            if market.pool.name == options.pool.name
        ]
        yield max(found, key=lambda verdict: verdict.stage)


class _Look:
    """One shape in one market."""

    def __init__(self, place: Tier, number: int, shape: Shape) -> None:
        self._place = place
        self._market: Market = place.markets[number]
        self._rows = place.rows(number)
        self._shape = shape
        self._labelled = self._market.permitted & self._market.columns.admits_any(shape.wish.alternatives)
        self._holding = self._labelled & place.holds(place.request(shape.requests))[self._rows]
        self._sold = self._holding & self._market.shelf.available

    def verdict(self) -> _Verdict:
        """The first thing that rules out every row."""
        checks: tuple[Callable[[], str | None], ...] = (
            self._no_types,
            self._taints,
            self._labels,
            self._sizes,
            self._capacity,
            self._choice,
        )
        for stage, check in enumerate(checks):
            text = check()
            if text is not None:
                return _Verdict(self._market.pool.name, stage, text)
        return _Verdict(self._market.pool.name, len(checks), self._limits())

    def _no_types(self) -> str | None:
        if not len(self._market.shelf.types):
            return "no instance types are known for its node class"
        if not self._market.permitted.any():
            culprits = self._culprits(self._market.pool.requirements, np.ones_like(self._market.permitted))
            return f"its own requirements leave none of {len(self._market.shelf.types)} types ({culprits})"
        return None

    def _taints(self) -> str | None:
        taints = untolerated(self._shape.wish.tolerations, self._market.pool.taints)
        return f"taint {taints[0]} is not tolerated" if taints else None

    def _labels(self) -> str | None:
        if self._labelled.any():
            return None
        permitted = self._market.permitted
        told = " or ".join(self._culprits(each, permitted) for each in self._shape.wish.alternatives)
        return f"none of {self._count(permitted)} types satisfies {told}"

    def _sizes(self) -> str | None:
        if self._holding.any():
            return None
        short, kind = min(self._shortfalls())
        lacking = Resources({name: self._shape.requests.get(name) for name, _ in short})
        missing = ", ".join(f"{name} {format_amount(name, amount)}" for name, amount in short)
        types = self._count(self._labelled)
        return (
            f"none of {types} matching {'type' if types == 1 else 'types'} holds {lacking}; "
            f"the nearest, {kind}, lacks {missing} after DaemonSets"
        )

    def _capacity(self) -> str | None:
        if self._sold.any():
            return None
        return f"{self._named(self._holding)} would do, but EC2 has no capacity of it just now; it is tried again"

    def _choice(self) -> str | None:
        for key, least in flexibility.wishes(self._market).items():
            found = max((flexibility.distinct(self._market, rows, key) for rows in self._by_capacity_type()), default=0)
            if found < least:
                return f"minValues of {key}: {found} of {least} values hold it; lower minValues or widen the pool"
        return None

    def _limits(self) -> str:
        options = next(each for each in self._place.pools if each.pool.name == self._market.pool.name)
        smallest = np.flatnonzero(self._sold)
        usage = self._place.usage[self._rows][smallest]
        row = smallest[np.lexsort((smallest, *usage.T[::-1]))[0]]
        kind = self._market.shelf.types[self._market.shelf.type_of[row]]
        counted = node_usage(kind.capacity, int(self._market.shelf.prices[row]))
        remaining = self._place.remaining[self._place.pools.index(options)].tolist()
        left = dict(zip(self._place.limited, remaining, strict=True))
        reached = [
            f"{shown(key, left[key])} left, {kind.name} takes {shown(key, counted.get(key)).rpartition(' ')[2]}"
            for key in limited(options)
            if counted.get(key) > left[key]
        ]
        return f"its limits are reached ({'; '.join(reached) or 'with what this plan buys'}); raise them"

    def _by_capacity_type(self) -> Iterator[Bools]:
        kinds = self._market.shelf.capacity_types
        return (self._sold & (kinds == kind) for kind in np.unique(kinds))

    def _culprits(self, requirements: Requirements, among: Bools) -> str:
        """Requirements that no row satisfies; all of them when it takes them together."""
        admitted = {str(each): self._market.columns.admits(each) & among for each in requirements.values()}
        alone = [text for text, mask in admitted.items() if not mask.any()]
        return ", ".join(alone or admitted)

    def _shortfalls(self) -> Iterator[tuple[tuple[tuple[str, int], ...], str]]:
        """How much of its requests the nearest matching types lack: those for which the relative sum is least."""
        place, request = self._place, self._place.request(self._shape.requests)
        rows = np.flatnonzero(self._labelled)
        lacking = np.maximum(request - place.room[self._rows][rows], 0)
        shares = (lacking / np.maximum(request, 1)).sum(axis=1)
        for at in np.flatnonzero(shares == shares.min()).tolist():
            short = tuple((name, int(a)) for name, a in zip(place.resources, lacking[at], strict=True) if a)
            yield short, self._market.shelf.types[self._market.shelf.type_of[rows[at]]].name

    def _count(self, rows: Bools) -> int:
        return len(np.unique(self._market.shelf.type_of[rows]))

    def _named(self, rows: Bools) -> str:
        kinds = [self._market.shelf.types[kind].name for kind in np.unique(self._market.shelf.type_of[rows])]
        more = len(kinds) - _MOST_TYPES
        return ", ".join(kinds[:_MOST_TYPES]) + (f" and {more} more types" if more > 0 else "")
