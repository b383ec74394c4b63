"""One node less: its pods go to the others, which may become larger ones, if that costs no more than it did."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Floats, Ints, every
from nodewright.domain.scheduling.packing import Packing, Pattern, merged_patterns, pay, times_affordable
from nodewright.domain.scheduling.problems import Problem

MOST_NODES: Final = 12
"""Where there are more, one fewer matters little."""


def dissolutions(problem: Problem, packing: Packing) -> Iterator[Packing]:
    """Each way to do without a node that is found by putting pod after pod where it adds least, large ones first."""
    nodes = [each for pattern in packing.patterns for each in [replace(pattern, times=1)] * pattern.times]
    if len(nodes) > MOST_NODES:
        return
    for number in sorted(range(len(nodes)), key=lambda each: int(problem.prices[nodes[each].row])):
        purses = packing.remaining.copy()
        pay(problem, purses, nodes[number].row, -1)
        others = _Others(problem, [*nodes[:number], *nodes[number + 1 :]], purses)
        if others.take(nodes[number].counts, int(problem.prices[nodes[number].row])):
            cost = sum(int(problem.prices[each.row]) for each in others.nodes)
            yield replace(packing, patterns=tuple(merged_patterns(others.nodes)), remaining=others.purses, cost=cost)


@dataclass(slots=True, eq=False)
class _Others:
    problem: Problem
    nodes: list[Pattern]
    purses: Floats

    def take(self, counts: Ints, at_most: int) -> bool:
        """Whether all these pods found a place for so much more."""
        left = at_most
        for item in self._large_first(counts):
            steps = [step for number in range(len(self.nodes)) if (step := self._step(number, item)) is not None]
            if not steps or min(steps)[0] > left:
                return False
            more, number, row = min(steps)
            left -= more
            node = self.nodes[number]
            pay(self.problem, self.purses, node.row, -1)
            pay(self.problem, self.purses, row, 1)
            self.nodes[number] = Pattern(row, self._with(node, item), 1)
        return True

    def _large_first(self, counts: Ints) -> Sequence[int]:
        """Each pod's item; large by the share of the largest node that it takes."""
        most = np.maximum(self.problem.room.max(axis=0), 1)
        size = (self.problem.demand / most).max(axis=1)
        order = np.argsort(-size, kind="stable")
        return [int(item) for item in order for _ in range(int(counts[item]))]

    def _step(self, number: int, item: int) -> tuple[int, int, int] | None:
        """What one more pod on a node costs, and on which kind it then is."""
        problem, node = self.problem, self.nodes[number]
        counts = self._with(node, item)
        holds = every(problem.room >= counts @ problem.demand) & every(problem.allowed[:, counts > 0])
        for row in np.flatnonzero(holds).tolist():
            if row == node.row or self._affordable(node.row, row):
                return int(problem.prices[row] - problem.prices[node.row]), number, row
        return None

    def _affordable(self, before: int, after: int) -> bool:
        purses = self.purses.copy()
        pay(self.problem, purses, before, -1)
        return times_affordable(self.problem, purses, after) >= 1

    def _with(self, node: Pattern, item: int) -> Ints:
        counts = node.counts.copy()
        counts[item] += 1
        return counts
