"""The covering problem without whole numbers: how often each pattern, so that every pod has a place.

HiGHS solves it; nothing else here knows HiGHS, and importing this module is what loads it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import highspy
import numpy as np

from nodewright.domain.scheduling.arrays import Floats, Ints
from nodewright.domain.scheduling.pricing import by_wholes
from nodewright.domain.scheduling.problems import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One content of one kind of node."""

    row: int
    counts: Ints

    @property
    def key(self) -> tuple[int, bytes]:
        """Equal for equal columns."""
        return (self.row, self.counts.tobytes())


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """An optimum over the columns known so far."""

    times: Floats
    """Of each column, in the order of adding."""
    values: Floats
    """Nanodollars per hour that one more pod of each item would cost: the duals."""
    tolls: Floats
    """Purses × limited resources: nanodollars per hour that one more unit of a limit would save."""
    cost: float
    """Of nodes and of pods that found no place, in nanodollars per hour."""


class Master:
    """The linear program. Pods that find no place cost more than any node would for each.

    Without limits, and where items are many, they cost what they would among their like: values begin near what they
    come to, where contents of items that never meet again would leave them anywhere (several hundred items, as many
    nodes: 30 rounds before the program gets any cheaper).
    """

    def __init__(self, problem: Problem, counts: Ints, remaining: Floats) -> None:
        self.columns: list[Column] = []
        self._problem = problem
        self._known: set[tuple[int, bytes]] = set()
        self._limits = _limits(problem, remaining)
        self._shape = remaining.shape
        self._highs = _quiet()
        self._highs.addRows(
            len(counts), counts.astype(np.float64), np.full(len(counts), np.inf), 0, _NONE, _NONE, np.zeros(0)
        )
        for purse, resource in self._limits:
            self._highs.addRow(-np.inf, remaining[purse, resource] / _UNIT, 0, _NONE, np.zeros(0))
        self._outcasts = len(counts)
        for item, price in enumerate(_outcast_prices(problem).tolist()):
            self._highs.addCol(price / _DOLLAR, 0, np.inf, 1, np.array([item], dtype=np.int32), np.ones(1))

    def add(self, columns: Sequence[Column]) -> int:
        """How many of them were new."""
        fresh = [column for column in columns if column.key not in self._known]
        for column in fresh:
            self._known.add(column.key)
            self._add(column)
        self.columns += fresh
        return len(fresh)

    def demand(self, counts: Ints) -> None:
        """Ask for other numbers of pods."""
        self._highs.setOptionValue("simplex_strategy", _DUAL)
        for item, count in enumerate(counts.tolist()):
            self._highs.changeRowBounds(item, count, np.inf)

    def solve(self) -> Relaxation | None:
        """None when HiGHS doesn't come to an optimum; then what is known so far has to do."""
        self._highs.run()
        if self._highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        solution = self._highs.getSolution()
        prices = np.array(solution.row_dual)
        tolls = np.zeros(self._shape)
        for (purse, resource), price in zip(self._limits, prices[self._outcasts :], strict=True):
            tolls[purse, resource] = max(0.0, -price) * _DOLLAR / _UNIT
        return Relaxation(
            times=np.array(solution.col_value[self._outcasts :]),
            values=np.maximum(prices[: self._outcasts], 0.0) * _DOLLAR,
            tolls=tolls,
            cost=self._highs.getInfo().objective_function_value * _DOLLAR,
        )

    def whole(self, start: Relaxation, to_beat: int) -> Ints | None:
        """Whole numbers of the columns known, searched for with bounded work; None where none were found.

        At the values of `start`, an optimum of the same program, a column that loses more than all whole numbers may
        can't be part of a plan cheaper than `to_beat`; of the others those that lose least are looked at. Call it last:
        the program is one in whole numbers from then on.
        """
        numbers = np.arange(self._outcasts + len(self.columns), dtype=np.int32)
        losses = self._losses(start)
        beyond = np.argsort(losses, kind="stable")[_MIP_ENTRIES // self._outcasts :]
        useless = self._outcasts + np.union1d(np.flatnonzero(losses > to_beat - start.cost), beyond)
        useless = np.concatenate([np.arange(self._outcasts), useless]).astype(np.int32)
        self._highs.changeColsBounds(len(useless), useless, np.zeros(len(useless)), np.zeros(len(useless)))
        self._highs.changeColsIntegrality(
            len(numbers), numbers, np.full(len(numbers), highspy.HighsVarType.kInteger.value, dtype=np.uint8)
        )
        self._highs.setOptionValue("mip_max_nodes", _MIP_NODES)
        self._highs.run()
        solution = self._highs.getSolution()
        if not solution.value_valid:
            return None
        times: Floats = np.rint(np.array(solution.col_value[self._outcasts :]))
        return times.astype(np.int64)

    def _losses(self, relaxation: Relaxation) -> Floats:
        """By how much each column costs more than its content is worth."""
        rows = [column.row for column in self.columns]
        purse = self._problem.purse[rows]
        tolls = np.where(purse >= 0, (self._problem.usage[rows] * relaxation.tolls[purse]).sum(axis=1), 0.0)
        worth = np.array([column.counts @ relaxation.values for column in self.columns])
        losses: Floats = self._problem.prices[rows] + tolls - worth
        return losses

    def _add(self, column: Column) -> None:
        items = np.flatnonzero(column.counts)
        indices, amounts = items.tolist(), column.counts[items].tolist()
        purse = int(self._problem.purse[column.row])
        for number, (owner, resource) in enumerate(self._limits):
            if owner == purse:
                indices.append(self._outcasts + number)
                amounts.append(self._problem.usage[column.row, resource] / _UNIT)
        price = float(self._problem.prices[column.row]) / _DOLLAR
        entries = np.array(indices, dtype=np.int32), np.array(amounts, dtype=np.float64)
        self._highs.addCol(price, 0, np.inf, len(indices), *entries)


_DUAL: Final = 1
_PRIMAL: Final = 4
"""What is quick where columns come in: the last optimum still keeps all rows."""
_MIP_NODES: Final = 200
_MIP_ENTRIES: Final = 8_000
"""Items × columns. Before the first node HiGHS looks for cuts, however long that takes: 10 s of 91 items × 1,253."""
_DOLLAR: Final = 1e9
_UNIT: Final = 1e3
"""Limits are counted in thousands of their unit: HiGHS likes numbers of like size."""
_OUTCAST: Final = 10
_NONE: Final = np.zeros(0, dtype=np.int32)


def _outcast_prices(problem: Problem) -> Floats:
    dearest = np.full(len(problem.demand), float(problem.prices.max(initial=1)) * _OUTCAST)
    if len(problem.demand) <= MANY_ITEMS or (problem.purse >= 0).any():
        return dearest
    prices: Floats = np.minimum(by_wholes(problem), dearest)
    return prices


MANY_ITEMS: Final = 40
"""With fewer of them values settle within a few rounds anyway."""


class _Silent(highspy.Highs):
    """HiGHS greets on standard output where its callbacks are prepared, and a plan's JSON goes there."""

    def enableCallbacks(self) -> None:  # noqa: N802
        """Silence comes first."""
        self.silent()
        super().enableCallbacks()  # type: ignore[no-untyped-call]


def _quiet() -> highspy.Highs:
    highs: highspy.Highs = _Silent()  # type: ignore[no-untyped-call]
    # The same everywhere: instances that differ in it fail silently (planning.md).
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("simplex_strategy", _PRIMAL)
    return highs


def _limits(problem: Problem, remaining: Floats) -> list[tuple[int, int]]:
    """Those (purse, resource) that some row counts towards."""
    purses = np.unique(problem.purse[problem.purse >= 0]).tolist()
    return [
        (purse, resource)
        for purse in purses
        for resource in range(remaining.shape[1])
        if problem.usage[problem.purse == purse, resource].any()
    ]
