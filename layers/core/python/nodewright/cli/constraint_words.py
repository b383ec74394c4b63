"""What constraints cost, for people."""

from collections.abc import Iterator
from typing import Final

from nodewright.domain.money import show_usd
from nodewright.domain.scheduling.constraint_costs import ConstraintCost, ConstraintCosts

MOST_FREE: Final = 8
"""Rules without a price that are named."""


def priced(costs: ConstraintCosts) -> Iterator[tuple[str, str, str]]:
    """Subject, rule and price of those that cost something."""
    for each in costs.costs:
        if each.cost or each.waiting:
            pods = f" ({_count(each.pods, 'pod')})" if each.pods else ""
            yield each.subject, f"{each.rule}{pods}", _price(each)


def unpriced(costs: ConstraintCosts) -> Iterator[str]:
    """A line for those that cost nothing, and one for those that weren't tried."""
    free = [f"{each.subject} {each.rule}" for each in costs.costs if not each.cost and not each.waiting]
    if free:
        more = f" and {len(free) - MOST_FREE} more" if len(free) > MOST_FREE else ""
        yield f"Cost nothing: {', '.join(free[:MOST_FREE])}{more}"
    if costs.skipped:
        yield f"Not tried, for each takes a plan: {_count(costs.skipped, 'rule')} of the smallest workloads"
    if not costs.costs:
        yield "No pod that waits, and no pool, has a rule that could be left out."


def _price(each: ConstraintCost) -> str:
    """`+0.12 USD/h`; what waiting pods would cost is no price of the rule."""
    if not each.waiting:
        return f"+{show_usd(each.cost)} USD/h"
    waits = f"{_count(each.waiting, 'pod')} would have a place without it"
    if each.cost < 0:
        return f"{waits}, for {show_usd(-each.cost)} USD/h more"
    return waits + (f", for {show_usd(each.cost)} USD/h less" if each.cost else ", at the same price")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
