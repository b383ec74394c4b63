"""Trying preferences of one sort: those for zones, which may cost something, or the others, which may not.

What goes too far is given up, lighter preferences first. Where pods of several pools are planned together the
tightest budget holds, and a pod that may come to a pool which ignores preferences has none.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

from nodewright.domain import nodes
from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.preference_settings import preference_budget, respects_preferences
from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling.budget import Budget
from nodewright.domain.scheduling.census import Census, census_without, places
from nodewright.domain.scheduling.choosing import Choosing, Stake
from nodewright.domain.scheduling.crowds import Crowd, crowds_of
from nodewright.domain.scheduling.narrowing import is_reachable, narrowed, preferred_nodes, together
from nodewright.domain.scheduling.reach import Reach
from nodewright.domain.scheduling.rules import is_host
from nodewright.domain.snapshot import Snapshot

Planner = Callable[[Snapshot, Budget], Plan]

TRIES: Final = 4
"""Plans that are made for the preferences of a stage; one where it is urgent."""
_ZONES: Final = frozenset({nodes.ZONE_LABEL, nodes.ZONE_ID_LABEL})


def is_zonal(keys: Iterable[str]) -> bool:
    """Whether these labels are one, and a zone's."""
    names = tuple(keys)
    return len(names) == 1 and names[0] in _ZONES


@dataclass(frozen=True, slots=True)
class Settled:
    """What holds so far."""

    snapshot: Snapshot
    """Its pods ask for the preferences that they got."""
    plan: Plan


class Stage:
    """Beginning with what was settled before."""

    def __init__(self, before: Settled, base: Plan, budget: Budget, planner: Planner, *, zonal: bool) -> None:
        self._before = before
        self._base = base
        self._budget = budget
        self._planner = planner
        self._zonal = zonal
        self._crowds = crowds_of(before.snapshot, before.plan)
        self._all = self._crowds.crowds
        wished = dict.fromkeys(each.requirements for crowd in self._all for each in crowd.nodes)
        self._reach = Reach(before.snapshot, [crowd.shape for crowd in self._all], list(wished))
        self._waiting = {each.pod for each in base.unschedulable}

    def run(self) -> Settled:
        """What holds with the most that may be kept of its preferences, heavy ones first."""
        stakes = sorted(self._stakes(), key=self._turn)
        best, kept, most = self._before, 0, len(stakes)
        for _ in range(TRIES if self._budget.columns else 1):
            if kept >= most:
                break
            count = most if most == len(stakes) else (kept + most + 1) // 2
            tried = self._tried(stakes[:count])
            if self._will_do(tried.plan):
                best, kept = tried, count
            else:
                stakes = stakes if kept else self._without_hopeless(stakes, tried.plan)
                most = min(count - 1, len(stakes))
        return best

    def _stakes(self) -> Iterator[Stake]:
        for number, crowd in enumerate(self._all):
            if all(map(respects_preferences, self._reach.pools(crowd.shape))):
                yield from self._stakes_of(number, crowd)

    def _stakes_of(self, number: int, crowd: Crowd) -> Iterator[Stake]:
        for each in crowd.nodes:
            if is_zonal(each.requirements) == self._zonal and is_reachable(crowd, each.requirements, self._reach):
                yield Stake(number, each.weight, nodes=each)
        for index in crowd.owns:
            rule = self._crowds.rules[index]
            if is_zonal([rule.key]) == self._zonal and not is_host(rule.key):
                yield Stake(number, rule.weight, rule=index)

    def _turn(self, stake: Stake) -> tuple[int, int, int]:
        """Of equal weight those of many pods first: what it costs to be apart grows less than they do."""
        return -stake.weight, -len(self._all[stake.crowd].shape.pods), stake.crowd

    def _tried(self, stakes: Sequence[Stake]) -> Settled:
        asked = [*self._chosen(stakes)]
        if not self._zonal:
            asked += preferred_nodes(self._crowds, stakes, self._reach)
        if not asked:
            return self._before
        snapshot = narrowed(self._before.snapshot, together(asked))
        return Settled(snapshot, self._measured(self._planner(snapshot, self._budget)))

    def _chosen(self, stakes: Sequence[Stake]) -> Iterator[tuple[PodKey, Requirement]]:
        """Between domains of each label."""
        keyed = [(self._key(stake), stake) for stake in stakes]
        for key in sorted({key for key, _ in keyed if key is not None}):
            choosing = Choosing(key, self._crowds, self._reach, self._census, self._homes(key))
            yield from choosing.choose([stake for each, stake in keyed if each == key])

    def _key(self, stake: Stake) -> str | None:
        if stake.rule is not None:
            return self._crowds.rules[stake.rule].key
        return next(iter(stake.nodes.requirements)) if self._zonal and stake.nodes is not None else None

    @cached_property
    def _census(self) -> Census:
        return census_without(self._before.snapshot, self._before.plan, self._crowds)

    def _homes(self, key: str) -> dict[PodKey, str]:
        found = places(self._before.snapshot, self._before.plan)
        return {pod: labels[key] for pods, labels in found if key in labels for pod in pods}

    def _will_do(self, plan: Plan) -> bool:
        left = {each.pod for each in plan.unschedulable}
        return not plan.truncated and left <= self._waiting and plan.cost <= self._limit

    @cached_property
    def _limit(self) -> Fraction:
        """Most that a plan may cost."""
        if not self._zonal:
            return Fraction(self._before.plan.cost)
        pools = {pool.name: pool for crowd in self._all for pool in self._reach.pools(crowd.shape)}
        share = min((preference_budget(pool) for pool in pools.values()), default=Fraction(0))
        return max(Fraction(self._before.plan.cost), self._base.cost * (1 + share))

    def _without_hopeless(self, stakes: Sequence[Stake], plan: Plan) -> list[Stake]:
        """Without those of pods that they would leave waiting; those under hard rules may leave others so, too."""
        left = {each.pod for each in plan.unschedulable} - self._waiting
        if not left:
            return list(stakes)
        hopeless = {n for n, crowd in enumerate(self._all) if crowd.entangled or left.intersection(crowd.shape.pods)}
        return [stake for stake in stakes if stake.crowd not in hopeless]

    def _measured(self, plan: Plan) -> Plan:
        """With what is proven of plans without preferences."""
        mine, others = _bought(plan), _bought(self._base)
        known = self._base.bound is not None and others <= mine
        return replace(plan, bound=self._base.bound if known else None)


def _bought(plan: Plan) -> frozenset[PodKey]:
    return frozenset(pod for launch in plan.launches for node in launch.nodes for pod in node)
