"""What constraints cost, in words: prices, waiting pods, and what wasn't tried."""

import pytest

from nodewright.cli.constraint_words import MOST_FREE, priced, unpriced
from nodewright.domain.scheduling.constraint_costs import ConstraintCost, ConstraintCosts

USD = 1_000_000_000


@pytest.mark.parametrize(
    ("cost", "waiting", "told"),
    [
        (USD // 8, 0, "+0.125 USD/h"),
        (-USD, 2, "2 pods would have a place without it, for 1.00 USD/h more"),
        (USD, 1, "1 pod would have a place without it, for 1.00 USD/h less"),
        (0, 1, "1 pod would have a place without it, at the same price"),
    ],
)
def test_each_price_says_what_it_means(cost: int, waiting: int, told: str) -> None:
    costs = ConstraintCosts((ConstraintCost("Deployment a/web", "zone spread", 3, cost, waiting),), 0)
    assert list(priced(costs)) == [("Deployment a/web", "zone spread (3 pods)", told)]
    assert list(unpriced(costs)) == []


def test_rules_that_cost_nothing_are_named_as_far_as_there_is_room() -> None:
    free = tuple(ConstraintCost("NodePool/p", f"rule {number}", 0, 0, 0) for number in range(MOST_FREE + 2))
    (line,) = unpriced(ConstraintCosts(free, 0))
    assert line.startswith("Cost nothing: NodePool/p rule 0, ")
    assert line.endswith(" and 2 more")


def test_what_was_not_tried_is_counted_and_nothing_at_all_is_said() -> None:
    only = (ConstraintCost("NodePool/p", "minValues", 0, USD, 0),)
    assert list(unpriced(ConstraintCosts(only, 1))) == [
        "Not tried, for each takes a plan: 1 rule of the smallest workloads"
    ]
    assert list(unpriced(ConstraintCosts((), 0))) == [
        "No pod that waits, and no pool, has a rule that could be left out."
    ]
