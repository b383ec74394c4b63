from datetime import timedelta

import pytest

from nodewright.adapters.manifests.pool_readings import PoolReading
from nodewright.adapters.manifests.pools import read_pool
from nodewright.domain.pools import DisruptionBudget, NodePool
from tests.adapters.manifests.raw import node_pool

HOUR = timedelta(hours=1)


def reading(version: str = "v1", **disruption: object) -> PoolReading:
    return read_pool(node_pool(version=version, disruption=disruption))


def sound(version: str = "v1", **disruption: object) -> NodePool:
    found = reading(version, **disruption)
    assert found.warnings == ()
    assert found.pool is not None
    return found.pool


def warned(**disruption: object) -> tuple[NodePool, str, str]:
    """The pool in spite of it, and the warning's path and message."""
    found = reading("v1", **disruption)
    (warning,) = found.warnings
    assert found.pool is not None
    return found.pool, warning.path, warning.message


def test_without_a_word_nodes_are_consolidated_at_once_a_tenth_at_a_time() -> None:
    for pool in (sound(), sound("v1beta1")):
        assert pool.consolidation_policy == "WhenEmptyOrUnderutilized"
        assert pool.consolidate_after == timedelta(0)
        assert pool.budgets == (DisruptionBudget("10%"),)


def test_each_generation_s_name_of_a_policy_is_known() -> None:
    assert sound(consolidationPolicy="WhenEmpty", consolidateAfter="30s").consolidation_policy == "WhenEmpty"
    assert sound("v1beta1", consolidationPolicy="WhenUnderutilized").consolidation_policy == "WhenEmptyOrUnderutilized"


def test_never_is_no_time() -> None:
    assert sound(consolidateAfter="1h30m").consolidate_after == 1.5 * HOUR
    assert sound(consolidateAfter="Never").consolidate_after is None


def test_budgets_are_kept_as_they_were_written() -> None:
    budgets = [
        {"nodes": 5},
        {"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h", "reasons": ["Drifted", "Underutilized"]},
        {"nodes": "20%", "schedule": "@daily", "duration": "1h30m0s"},
        {"reasons": ["Empty"]},
    ]
    assert sound(budgets=budgets).budgets == (
        DisruptionBudget("5"),
        DisruptionBudget("0", "0 9 * * mon-fri", 8 * HOUR, ("Drifted", "Underutilized")),
        DisruptionBudget("20%", "@daily", 1.5 * HOUR),
        DisruptionBudget("10%", reasons=("Empty",)),
    )


def test_a_list_without_budgets_is_no_bound() -> None:
    assert sound(budgets=[]).budgets == ()


@pytest.mark.parametrize(
    ("budget", "field"),
    [
        ({"nodes": "110%"}, "nodes"),
        ({"nodes": "-1"}, "nodes"),
        ({"nodes": "some"}, "nodes"),
        ({"schedule": "0 9 * * 1-5"}, "duration"),
        ({"duration": "8h"}, "schedule"),
        ({"schedule": "at nine", "duration": "8h"}, "schedule"),
        ({"schedule": "0 0 9 * * 1", "duration": "8h"}, "schedule"),
        ({"schedule": "@fortnightly", "duration": "8h"}, "schedule"),
        ({"schedule": "@daily", "duration": "90s"}, "duration"),
        ({"schedule": "@daily", "duration": "Never"}, "duration"),
    ],
)
def test_a_budget_that_can_not_be_read_lets_nothing_go(budget: object, field: str) -> None:
    pool, path, message = warned(budgets=[{"nodes": "3"}, budget])
    assert pool.budgets == (DisruptionBudget("3"), DisruptionBudget("0"))
    assert path == f"spec.disruption.budgets[1].{field}"
    assert "until this is fixed no node of the pool is disrupted" in message


def test_a_budget_of_an_unknown_reason_counts_for_all() -> None:
    pool, path, message = warned(budgets=[{"nodes": "1", "reasons": ["Empty", "Expired"]}])
    assert pool.budgets == (DisruptionBudget("1"),)
    assert path == "spec.disruption.budgets[0].reasons"
    assert "Expired" in message


def test_an_unknown_policy_takes_only_empty_nodes() -> None:
    pool, path, message = warned(consolidationPolicy="Always")
    assert pool.consolidation_policy == "WhenEmpty"
    assert path == "spec.disruption.consolidationPolicy"
    assert "WhenEmptyOrUnderutilized" in message


def test_balanced_is_said_to_be_what_it_is_here() -> None:
    pool, path, _ = warned(consolidationPolicy="Balanced")
    assert pool.consolidation_policy == "WhenEmptyOrUnderutilized"
    assert path == "spec.disruption.consolidationPolicy"


def test_a_time_that_can_not_be_read_is_never() -> None:
    pool, path, message = warned(consolidateAfter="1d")
    assert pool.consolidate_after is None
    assert path == "spec.disruption.consolidateAfter"
    assert "'1d' is not a duration" in message


def test_an_unknown_field_of_a_budget_is_a_warning() -> None:
    _, path, _ = warned(budgets=[{"nodes": "1", "reason": "Empty"}])
    assert path == "spec.disruption.budgets[0].reason"
