"""Where pods would like to be: for each the values of a label with which most weight of its preferences holds.

A preference holds with the values it names; affinity holds where a pod is that it selects, anti-affinity where
fewest of them are, a spread where it keeps within its skew. Pods choose one after the other, and those that
others are about before these.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nodewright.domain.pods import PodKey
from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling.census import Census
from nodewright.domain.scheduling.crowds import Crowd, Crowds
from nodewright.domain.scheduling.reach import NOT_BOUGHT, Reach
from nodewright.domain.scheduling.soft_rules import SoftRule, Sort
from nodewright.domain.topology import PreferredNodes


@dataclass(frozen=True, slots=True)
class Stake:
    """A preference of a crowd."""

    crowd: int
    weight: int
    nodes: PreferredNodes | None = None
    rule: int | None = None
    """Or a soft rule."""


@dataclass(frozen=True, slots=True)
class Wants:
    """What of a crowd's preferences counts."""

    nodes: tuple[PreferredNodes, ...]
    rules: tuple[int, ...]


class Choosing:
    """Of values of one label key."""

    def __init__(self, key: str, crowds: Crowds, reach: Reach, census: Census, homes: Mapping[PodKey, str]) -> None:
        """`homes`: the value where a pod is in a plan without preferences; it stays there if that is as good."""
        self._key = key
        self._crowds = crowds
        self._reach = reach
        self._census = census
        self._homes = homes

    def choose(self, stakes: Sequence[Stake]) -> Iterator[tuple[PodKey, Requirement]]:
        """What pods are to ask for, so that of these preferences as much weight as possible holds."""
        active = frozenset(stake.rule for stake in stakes if stake.rule is not None)
        wants = wants_of(stakes, len(self._crowds.crowds))
        census = self._census.copy()
        for number in sorted(range(len(wants)), key=lambda each: self._turn(each, wants[each])):
            crowd = self._crowds.crowds[number]
            counted = tuple(rule for rule in crowd.selected if rule in active)
            if wants[number].nodes or wants[number].rules or self._attracted(counted):
                yield from self._crowd(crowd, wants[number], counted, census)

    def _turn(self, number: int, wants: Wants) -> tuple[bool, int, int]:
        """Those that follow others come after them, heavy ones first."""
        selected = self._crowds.crowds[number].selected
        follows = any(self._rule(each).sort is Sort.TOGETHER and each not in selected for each in wants.rules)
        weights = [each.weight for each in wants.nodes] + [self._rule(each).weight for each in wants.rules]
        return follows, -max(weights, default=0), number

    def _attracted(self, counted: Sequence[int]) -> bool:
        return any(self._rule(each).sort is Sort.TOGETHER for each in counted)

    def _rule(self, number: int) -> SoftRule:
        return self._crowds.rules[number]

    def _crowd(
        self, crowd: Crowd, wants: Wants, counted: Sequence[int], census: Census
    ) -> Iterator[tuple[PodKey, Requirement]]:
        prices = self._reach.prices(crowd.shape, self._key)
        if not prices:
            return
        fixed = {value: sum(each.weight for each in wants.nodes if names(each, value)) for value in prices}
        asking = cache(self._asking)
        if not counted:
            # What one chooses changes nothing for the next.
            ties = self._best(fixed, wants, counted, census)
            yield from ((pod, asking(ties)) for pod in crowd.shape.pods if len(ties) < len(prices))
            return
        queue = _Queue(crowd.shape.pods, self._homes)
        while queue:
            best = self._best(fixed, wants, counted, census)
            pod, value = queue.at_home(sorted(best, key=lambda each: self._rank(each, prices)))
            census.add(counted, {self._key: value})
            if len(prices) > 1:
                yield pod, asking((value,))

    def _best(self, fixed: Mapping[str, int], wants: Wants, counted: Sequence[int], census: Census) -> tuple[str, ...]:
        """Values with which most weight holds; `fixed`: that of preferences for them."""
        scores = dict(fixed)
        for rule in wants.rules:
            for value in self._holding(rule, counted, census, fixed):
                scores[value] += self._rule(rule).weight
        most = max(scores.values())
        return tuple(value for value, score in scores.items() if score == most)

    def _asking(self, values: tuple[str, ...]) -> Requirement:
        return Requirement.of(self._key, "In", values)

    def _holding(self, number: int, counted: Sequence[int], census: Census, values: Collection[str]) -> Iterator[str]:
        """Values with which a rule holds for one more pod."""
        rule, counts = self._rule(number), census.counts[number]
        fewest = min(counts[value] for value in values)
        if rule.sort is Sort.TOGETHER:
            return (value for value in values if counts[value])
        skew = rule.max_skew - (number in counted) if rule.sort is Sort.SPREAD else 0
        return (value for value in values if counts[value] - fewest <= skew)

    def _rank(self, value: str, prices: Mapping[str, float]) -> tuple[bool, float, str]:
        price = prices[value]
        return price == NOT_BOUGHT, price, value


def wants_of(stakes: Sequence[Stake], crowds: int) -> list[Wants]:
    """Crowd by crowd."""
    mine: list[list[Stake]] = [[] for _ in range(crowds)]
    for stake in stakes:
        mine[stake.crowd].append(stake)
    return [
        Wants(
            tuple(stake.nodes for stake in some if stake.nodes is not None),
            tuple(stake.rule for stake in some if stake.rule is not None),
        )
        for some in mine
    ]


def names(preferred: PreferredNodes, value: str) -> bool:
    """Whether it holds with this value."""
    return all(requirement.allows(value) for requirement in preferred.requirements.values())


class _Queue:
    """Pods alike that choose one after the other."""

    def __init__(self, pods: Sequence[PodKey], homes: Mapping[PodKey, str]) -> None:
        self._there: dict[str | None, list[PodKey]] = {}
        for pod in reversed(pods):
            self._there.setdefault(homes.get(pod), []).append(pod)

    def __bool__(self) -> bool:
        return bool(self._there)

    def at_home(self, values: Sequence[str]) -> tuple[PodKey, str]:
        """Who takes which of these: somebody who is there already; else one from nowhere, or from where most are."""
        value = next((each for each in values if each in self._there), None)
        if value is not None:
            return self._take(value), value
        home = None if None in self._there else max(self._there, key=lambda each: len(self._there[each]))
        return self._take(home), values[0]

    def _take(self, home: str | None) -> PodKey:
        there = self._there[home]
        pod = there.pop()
        if not there:
            del self._there[home]
        return pod
