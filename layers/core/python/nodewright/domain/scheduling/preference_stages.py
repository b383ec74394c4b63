"""Trying preferences of one sort: those for zones, which may cost something, or the others, which may not.

What goes too far is given up, lighter preferences first. Where pods of several pools are planned together the
tightest budget holds, and a pod that may come to a pool which ignores preferences has none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Final

from nodewright.domain import nodes
from nodewright.domain.money import show_usd
from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.preference_settings import preference_budget
from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling.agreeing import Agreeing
from nodewright.domain.scheduling.census import Census, census_without, places
from nodewright.domain.scheduling.choosing import Choosing, Stake
from nodewright.domain.scheduling.crowds import Crowd, crowds_of
from nodewright.domain.scheduling.narrowing import Narrower, is_reachable, narrowed, preferred_nodes, together
from nodewright.domain.scheduling.planned_nodes import PlannedNodes
from nodewright.domain.scheduling.reach import Reach
from nodewright.domain.scheduling.relaxing import HARD_SPREAD, NO_NODE, NO_TIME, TOO_DEAR, Preference
from nodewright.domain.scheduling.rules import is_host
from nodewright.domain.scheduling.settled import Settled
from nodewright.domain.scheduling.soft_rules import SoftRule
from nodewright.domain.topology import PreferredNodes

TRIES: Final = 4
"""Quick plans that are made for the preferences of a stage; one where it is urgent."""
WHOLE_TRIES: Final = 2
_CLOSE: Final = Fraction(1005, 1000)
"""To what is proven: a plan with preferences for zones that costs no more isn't made cheaper afterwards."""
_LITTLE_MORE: Final = Fraction(103, 100)
"""Where the nodes of a plan stay what they are and that comes no dearer than this, many pods aren't planned anew: it
would take long and hardly be cheaper."""
_MANY: Final = 1_000
_ZONES: Final = frozenset({nodes.ZONE_LABEL, nodes.ZONE_ID_LABEL})


def is_zonal(keys: Iterable[str]) -> bool:
    """Whether these labels are one, and a zone's."""
    names = tuple(keys)
    return len(names) == 1 and names[0] in _ZONES


def _alike(key: str) -> frozenset[str]:
    return _ZONES if key in _ZONES else frozenset([key])


class Stage:
    """Beginning with what was settled before."""

    def __init__(self, before: Settled, base: Settled, *, zonal: bool, whole: bool) -> None:
        """`base` is without any preference; `whole`: by whole plans, not by quick ones."""
        self._before = before
        self._base = base
        self._whole = whole
        self._zonal = zonal
        self._plan = before.plan(whole=whole)
        self._crowds = crowds_of(before.snapshot, self._plan)
        self._all = self._crowds.crowds
        wished = dict.fromkeys(each.requirements for crowd in self._all for each in crowd.nodes)
        self._reach = Reach(before.snapshot, [crowd.shape for crowd in self._all], list(wished))
        self.given_up: dict[Preference, str] = {}
        """Preferences that can't be kept by all, and why."""
        self.lost = 0
        """By how many pods, each preference counted."""
        self._waiting = {each.pod for each in base.plan(whole=whole).unschedulable}

    def run(self) -> Settled:
        """What holds with the most that may be kept of its preferences, heavy ones first."""
        stakes = everything = sorted(self._stakes(), key=self._turn)
        why = NO_TIME
        best, kept, most = self._before, 0, len(stakes)
        for _ in range(self._tries):
            if kept >= most:
                break
            count = most if most == len(stakes) else (kept + most + 1) // 2
            tried = self._tried(stakes[:count])
            if tried is self._before or self._will_do(tried.plan(whole=self._whole), self._limit):
                best, kept = tried, count
            else:
                why = self._fault(tried.plan(whole=self._whole))
                stakes = stakes if kept else self._without_hopeless(stakes, tried.plan(whole=self._whole))
                most = min(count - 1, len(stakes))
        kept_ones = set(map(self._preference, stakes[:kept]))
        lost = [stake for stake in everything if self._preference(stake) not in kept_ones]
        self.given_up |= dict.fromkeys(map(self._preference, lost), why)
        self.lost = sum(len(self._all[stake.crowd].shape.pods) for stake in lost)
        return best

    def repeated(self) -> Settled | None:
        """What holds with most that may be kept on the nodes that are planned already; None where those won't do."""
        stakes = sorted(self._stakes(), key=self._turn)
        asked = (self._agreed(stakes) if self._zonal else self._afforded(stakes)) if stakes else {}
        contents = self._nodes.holding(asked) if asked else ()
        if not contents:
            return None
        found = self._before.repeating(narrowed(self._before.snapshot, asked), contents)
        most = min(self._limit, self._plan.cost * _LITTLE_MORE) if self._are_many else self._limit
        return found if self._will_do(found.plan(whole=self._whole), most) else None

    def is_enough(self, found: Settled) -> bool:
        """Whether nothing better is worth looking for."""
        return self._are_many or (not self.lost and found.whole.cost <= self._plan.cost)

    def is_confirmed(self, found: Settled) -> bool:
        """Whether the whole plan will do as the quick one did; a proven bound often spares the one to compare."""
        plan = found.whole
        if not self._zonal:
            return self._will_do(plan, Fraction(self._before.whole.cost))
        proven = Fraction(self._base.quick.bound or 0) * (1 + self._share)
        return self._will_do(plan, proven) or self._will_do(plan, self._base.whole.cost * (1 + self._share))

    @property
    def _tries(self) -> int:
        if self._base.is_urgent:
            return 1
        return WHOLE_TRIES if self._whole else TRIES

    def _stakes(self) -> Iterator[Stake]:
        for number, crowd in enumerate(self._all):
            yield from self._stakes_of(number, crowd)

    def _stakes_of(self, number: int, crowd: Crowd) -> Iterator[Stake]:
        for each in crowd.nodes:
            if is_zonal(each.requirements) == self._zonal and self._is_open(crowd, each):
                yield Stake(number, each.weight, nodes=each)
        for index in crowd.owns:
            rule = self._crowds.rules[index]
            if is_zonal([rule.key]) == self._zonal and not is_host(rule.key) and self._is_open(crowd, rule):
                yield Stake(number, rule.weight, rule=index)

    def _is_open(self, crowd: Crowd, preference: Preference) -> bool:
        """Whether it can be kept at all."""
        keys = [preference.key] if isinstance(preference, SoftRule) else preference.requirements.keys()
        if any(_alike(key) & crowd.spread for key in keys):
            self.given_up[preference] = HARD_SPREAD
        elif isinstance(preference, PreferredNodes) and not is_reachable(crowd, preference.requirements, self._reach):
            self.given_up[preference] = NO_NODE
        else:
            return True
        return False

    def _preference(self, stake: Stake) -> Preference:
        return stake.nodes if stake.rule is None and stake.nodes else self._crowds.rules[stake.rule or 0]

    def _fault(self, plan: Plan) -> str:
        """Of a plan that won't do."""
        left = len({each.pod for each in plan.unschedulable} - self._waiting)
        if left:
            return f"keeping it, {left} pods would wait"
        least = f"{show_usd(plan.cost)} instead of {show_usd(self._free.cost)} USD/h"
        may = f"{float(self._share * 100):g} % more" if self._zonal else "nothing more"
        return f"keeping it, the plan would cost {least}, and it may cost {may}"

    def _turn(self, stake: Stake) -> tuple[int, int, int]:
        """Of equal weight those of many pods first: what it costs to be apart grows less than they do."""
        return -stake.weight, -len(self._all[stake.crowd].shape.pods), stake.crowd

    @property
    def _are_many(self) -> bool:
        return len(self._before.snapshot.pods) > _MANY

    @cached_property
    def _nodes(self) -> PlannedNodes:
        wished = dict.fromkeys(each.requirements for crowd in self._all for each in crowd.nodes)
        return PlannedNodes(self._before.snapshot, self._plan, list(wished))

    def _agreed(self, stakes: Sequence[Stake]) -> Narrower:
        return together(self._chosen(stakes, agreed=True))

    def _afforded(self, stakes: Sequence[Stake]) -> Narrower:
        """Of preferences for nodes those that cost nothing; the others are given up."""
        crowds = [crowd.shape.pods for crowd in self._all]
        if any(stake.rule is not None for stake in stakes) or self._plan.nominations:
            return {}
        mine: dict[PodKey, list[Stake]] = {}
        for stake in stakes:
            for pod in crowds[stake.crowd]:
                mine.setdefault(pod, []).append(stake)
        asked: list[tuple[PodKey, Requirement]] = []
        kept: Counter[Stake] = Counter()
        for pod, stake in self._nodes.affordable(mine):
            kept[stake] += 1
            if stake.nodes:
                asked += ((pod, each) for each in stake.nodes.requirements.values())
        lost = [stake for stake in stakes if kept[stake] < len(crowds[stake.crowd])]
        self.given_up |= dict.fromkeys(map(self._preference, lost), TOO_DEAR)
        self.lost = sum(len(crowds[stake.crowd]) - kept[stake] for stake in lost)
        return together(asked)

    def _tried(self, stakes: Sequence[Stake]) -> Settled:
        asked = [*self._chosen(stakes)]
        if not self._zonal:
            asked += preferred_nodes(self._crowds, stakes, self._reach)
        if not asked:
            return self._before
        enough = (self._base.quick.bound or 0) * _CLOSE if self._zonal else 0
        return self._before.asking(narrowed(self._before.snapshot, together(asked)), int(enough))

    def _chosen(self, stakes: Sequence[Stake], *, agreed: bool = False) -> Iterator[tuple[PodKey, Requirement]]:
        """Between domains of each label; `agreed`: first by nodes."""
        keyed = [(self._key(stake), stake) for stake in stakes]
        for key in sorted({key for key, _ in keyed if key is not None}):
            mine = [stake for each, stake in keyed if each == key]
            homes = self._homes(key)
            if agreed:
                homes |= Agreeing(key, self._crowds, mine, self._census).homes(self._nodes)
            yield from Choosing(key, self._crowds, self._reach, self._census, homes).choose(mine)

    def _key(self, stake: Stake) -> str | None:
        if stake.rule is not None:
            return self._crowds.rules[stake.rule].key
        return next(iter(stake.nodes.requirements)) if self._zonal and stake.nodes is not None else None

    @cached_property
    def _census(self) -> Census:
        return census_without(self._before.snapshot, self._plan, self._crowds)

    def _homes(self, key: str) -> dict[PodKey, str]:
        found = places(self._before.snapshot, self._plan)
        return {pod: labels[key] for pods, labels in found if key in labels for pod in pods}

    def _will_do(self, plan: Plan, limit: Fraction) -> bool:
        left = {each.pod for each in plan.unschedulable}
        return not plan.truncated and left <= self._waiting and plan.cost <= limit

    @cached_property
    def _limit(self) -> Fraction:
        """Most that a plan may cost."""
        if not self._zonal:
            return Fraction(self._plan.cost)
        return max(Fraction(self._plan.cost), self._base.plan(whole=self._whole).cost * (1 + self._share))

    @property
    def _free(self) -> Plan:
        """What it is compared with."""
        return self._base.plan(whole=self._whole) if self._zonal else self._plan

    @cached_property
    def _share(self) -> Fraction:
        """Of the cost without preferences, that those for zones may add."""
        pools = {pool.name: pool for crowd in self._all for pool in self._reach.pools(crowd.shape)}
        return min((preference_budget(pool) for pool in pools.values()), default=Fraction(0))

    def _without_hopeless(self, stakes: Sequence[Stake], plan: Plan) -> list[Stake]:
        """Without those of pods that they would leave waiting; those under hard rules may leave others so, too."""
        left = {each.pod for each in plan.unschedulable} - self._waiting
        if not left:
            return list(stakes)
        hopeless = {n for n, crowd in enumerate(self._all) if crowd.ruled or left.intersection(crowd.shape.pods)}
        return [stake for stake in stakes if stake.crowd not in hopeless]
