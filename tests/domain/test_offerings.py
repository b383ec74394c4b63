from dataclasses import replace

import pytest

from nodewright.domain.catalogue import Offering
from nodewright.domain.offerings import PriceBook, cools_down, offerings
from tests.domain.instances import M5_LARGE

PRICES = PriceBook(on_demand={"m5.large": 96}, spot={("m5.large", "a"): 35})


def test_an_offering_needs_a_known_price() -> None:
    assert offerings(M5_LARGE, {"b", "a"}, PRICES) == (
        Offering("a", "on-demand", 96),
        Offering("a", "spot", 35),
        Offering("b", "on-demand", 96),
    )


def test_before_any_spot_price_the_on_demand_price_stands_in() -> None:
    assert offerings(M5_LARGE, {"a"}, PriceBook(on_demand={"m5.large": 96})) == (
        Offering("a", "on-demand", 96),
        Offering("a", "spot", 96),
    )


def test_only_what_ec2_sells_it_as_is_offered() -> None:
    on_demand_only = replace(M5_LARGE, capacity_types=("on-demand",))
    assert offerings(on_demand_only, {"a"}, PRICES) == (Offering("a", "on-demand", 96),)


@pytest.mark.parametrize(
    ("entry", "covered"),
    [
        (("m5.large", "a", "spot"), True),
        (("*", "a", "spot"), True),
        (("m5.large", "*", "spot"), True),
        (("m5.large", "a", "*"), True),
        (("*", "*", "spot"), True),
        (("*", "*", "*"), True),
        (("m5.large", "b", "spot"), False),
        (("m5.xlarge", "*", "*"), False),
        (("*", "*", "on-demand"), False),
    ],
)
def test_what_cools_down_may_be_written_with_wildcards(entry: tuple[str, str, str], covered: bool) -> None:
    unavailable = frozenset({entry, ("z9.large", "z", "spot")})
    assert cools_down(unavailable, "m5.large", "a", "spot") is covered
    spot = offerings(M5_LARGE, {"a"}, PRICES, unavailable)[1]
    assert spot.available is not covered
