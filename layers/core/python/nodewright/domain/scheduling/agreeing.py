"""Nodes choose a value of a label before their pods do, so that pods which share one want the same.

It is a proposal: pods then choose for themselves (choosing.py), and stay where their node is if that is as good.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.census import Census
from nodewright.domain.scheduling.choosing import Stake, Wants, names, wants_of
from nodewright.domain.scheduling.crowds import Crowds
from nodewright.domain.scheduling.planned_nodes import PlannedNodes
from nodewright.domain.scheduling.soft_rules import Sort

_ROUNDS: Final = 4
"""In which nodes choose, those after the first knowing what the others have chosen."""


@dataclass(slots=True)
class _Chooser:
    """A node with pods that have preferences, or that others' are about."""

    pods: tuple[PodKey, ...]
    crowds: Counter[int]
    values: Sequence[str]
    chosen: str | None = None


class Agreeing:
    """Over the values of one label."""

    def __init__(self, key: str, crowds: Crowds, stakes: Sequence[Stake], census: Census) -> None:
        self._key = key
        self._crowds = crowds
        self._census = census.copy()
        self._wants = wants_of(stakes, len(crowds.crowds))
        self._active = frozenset(stake.rule for stake in stakes if stake.rule is not None)
        self._crowd_of = {pod: number for number, crowd in enumerate(crowds.crowds) for pod in crowd.shape.pods}

    def homes(self, nodes: PlannedNodes) -> Mapping[PodKey, str]:
        """The value of each pod's node. Nodes of many such pods choose first: others can make up for it."""
        choosers = sorted(self._choosers(nodes), key=lambda each: -each.crowds.total())
        for _ in range(_ROUNDS):
            for each in choosers:
                if each.chosen is not None:
                    self._count(each, -1)
                each.chosen = max(each.values, key=lambda value: self._score(each.crowds, value))
                self._count(each, 1)
        return {pod: each.chosen for each in choosers for pod in each.pods if each.chosen is not None}

    def _choosers(self, nodes: PlannedNodes) -> Iterator[_Chooser]:
        for number, pods in enumerate(nodes.contents):
            crowds = Counter(self._crowd_of[pod] for pod in pods if pod in self._crowd_of)
            values = nodes.values(number, self._key) if crowds else ()
            if values:
                yield _Chooser(pods, crowds, values)

    def _count(self, chooser: _Chooser, sign: int) -> None:
        for number, many in chooser.crowds.items():
            for rule in self._crowds.crowds[number].selected:
                if rule in self._active:
                    self._census.counts[rule][chooser.chosen or ""] += sign * many

    def _score(self, crowds: Counter[int], value: str) -> int:
        return sum(many * self._weight(self._wants[number], value) for number, many in crowds.items())

    def _weight(self, wants: Wants, value: str) -> int:
        """What a pod gains there; the more there are that it would rather be apart from, the less."""
        gain = sum(each.weight for each in wants.nodes if names(each, value))
        for number in wants.rules:
            rule, there = self._crowds.rules[number], self._census.counts[number][value]
            gain += rule.weight * (min(there, 1) if rule.sort is Sort.TOGETHER else -there)
        return gain
