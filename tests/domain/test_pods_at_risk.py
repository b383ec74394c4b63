import pytest

from nodewright.domain.pods_at_risk import MAX_PODS_AT_RISK, fault, most_on_a_node
from tests.builders import pool


@pytest.mark.parametrize(
    ("value", "replicas", "most"),
    [("3", 100, 3), ("3", 1, 3), ("25%", 8, 2), ("25%", 11, 2), ("25%", 3, 1), ("33.4%", 3, 1), ("100%", 7, 7)],
)
def test_a_number_or_a_share_of_all_rounded_down_to_one_at_least(value: str, replicas: int, most: int) -> None:
    assert fault(value) is None
    assert most_on_a_node(pool(settings={MAX_PODS_AT_RISK: value}), replicas) == most


def test_unless_it_is_set_any_number_may_be_on_a_node() -> None:
    assert most_on_a_node(pool(), 100) is None


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("many", "'many' is neither a number of pods nor a share of them; write it like 3 or 25%"),
        ("-1", "'-1' is neither a number"),
        ("2.5", "'2.5' is neither a number"),
        ("٣", "is neither a number"),
        ("", "'' is neither a number"),
        ("0", "0 would keep every pod off the pool; use 1 or 1% at least"),
        ("0%", "0% would keep every pod off the pool"),
        ("101%", "101% is more than everything; use 1% to 100%"),
    ],
)
def test_what_cannot_be_is_named_with_the_fix(value: str, told: str) -> None:
    assert told in (fault(value) or "")
