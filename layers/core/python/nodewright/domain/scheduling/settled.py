"""A snapshot whose pods ask for some of what they prefer, and its plans."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

from nodewright.domain.plans import Plan
from nodewright.domain.scheduling.budget import Budget, Contents
from nodewright.domain.snapshot import Snapshot

Planner = Callable[[Snapshot, Budget], Plan]


class Settled:
    """What holds so far; its plans are made when they are asked for."""

    def __init__(
        self, snapshot: Snapshot, planner: Planner, budget: Budget, enough: int = 0, contents: Contents = ()
    ) -> None:
        """`enough`: a quick plan that costs no more is taken as it is. `contents`: of nodes that are bought again."""
        self.snapshot = snapshot
        self._planner = planner
        self._budget = budget
        self._enough = enough
        self._contents = contents

    def asking(self, snapshot: Snapshot, enough: int) -> "Settled":
        """The same with pods that ask for more."""
        return Settled(snapshot, self._planner, self._budget, enough)

    def repeating(self, snapshot: Snapshot, contents: Contents) -> "Settled":
        """The same on the nodes of a plan: nothing of it is made cheaper afterwards."""
        return Settled(snapshot, self._planner, self._budget, contents=contents)

    @cached_property
    def quick(self) -> Plan:
        """Without what makes it cheaper afterwards: to compare with others of that kind."""
        return self._planner(self.snapshot, replace(self._budget, columns=0, contents=self._contents))

    @cached_property
    def whole(self) -> Plan:
        """What the budget allows; where time runs out meanwhile, the quick one."""
        if self.is_urgent or self._contents or self.quick.truncated or self.quick.cost <= self._enough:
            return self.quick
        plan = self._planner(self.snapshot, self._budget)
        return self.quick if plan.truncated else plan

    def plan(self, *, whole: bool) -> Plan:
        """Either."""
        return self.whole if whole else self.quick

    @property
    def is_urgent(self) -> bool:
        """There is no time to make plans cheaper."""
        return not self._budget.columns
