from decimal import Decimal

import pytest

from nodewright.domain.gaps import gap
from nodewright.domain.plans import Plan


@pytest.mark.parametrize(
    ("cost", "bound", "percent"), [(200, 199, "0.5"), (3, 2, "33.3"), (5, 5, "0.0"), (0, 0, "0.0"), (5, None, None)]
)
def test_the_gap_is_what_could_be_saved_at_most(cost: int, bound: int | None, percent: str | None) -> None:
    assert gap(Plan(cost=cost, bound=bound)) == (None if percent is None else Decimal(percent))
