from datetime import timedelta

from nodewright.domain.interruption.rebalance import REBALANCE
from tests.builders import NOW
from tests.events.samples import sample


def test_it_is_a_hint_about_the_offering_and_no_node_goes() -> None:
    told = REBALANCE.read(sample("Rebalance"), NOW)
    assert told.cools_down
    assert not told.retires
    assert told.deadline is None


def test_hours_later_it_is_worth_nothing() -> None:
    told = REBALANCE.read(sample("Rebalance"), NOW + timedelta(hours=2))
    assert told.is_stale(NOW + timedelta(hours=2))
