"""What a rule costs: the price of the plan against that of one for the same pods without the rule."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from nodewright.domain.plans import Plan
from nodewright.domain.scheduling.removable_rules import RemovableRule, removable_rules
from nodewright.domain.scheduling.solving import solve
from nodewright.domain.snapshot import Snapshot

MOST_SOLVES: Final = 20
"""Each takes as long as the plan did."""


@dataclass(frozen=True, slots=True)
class ConstraintCost:
    """One rule of one workload or pool."""

    subject: str
    rule: str
    pods: int
    """Pending ones that have it; 0 of a pool, which has it for all of its."""
    cost: int
    """Nanodollars per hour that the plan costs more for it. Negative where it saves by leaving pods waiting."""
    waiting: int
    """Pods, of anybody, that would have a place without it."""


@dataclass(frozen=True, slots=True)
class ConstraintCosts:
    """The dearest first."""

    costs: tuple[ConstraintCost, ...]
    skipped: int
    """Rules that weren't tried, those of the smallest workloads."""


def constraint_costs(
    snapshot: Snapshot, plan: Plan, planner: Callable[[Snapshot], Plan] = solve, most: int = MOST_SOLVES
) -> ConstraintCosts:
    """By planning once more for each rule. Together rules may cost more or less than the sum of each."""
    rules = removable_rules(snapshot)
    told = [_cost(rule, plan, planner(rule.without(snapshot))) for rule in rules[:most]]
    ranked = sorted(told, key=lambda each: (-each.waiting, -each.cost, each.subject, each.rule))
    return ConstraintCosts(tuple(ranked), max(0, len(rules) - most))


def _cost(rule: RemovableRule, plan: Plan, without: Plan) -> ConstraintCost:
    """Whatever the rule allows is allowed without it, so a worse plan without it only says that it costs nothing."""
    waiting = len(plan.unschedulable) - len(without.unschedulable)
    cost = plan.cost - without.cost if waiting >= 0 else 0
    return ConstraintCost(rule.subject, rule.rule, rule.pods, cost if waiting > 0 else max(0, cost), max(0, waiting))
