from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewright.domain.money import NANOS_PER_USD, parse_usd, show_usd, to_usd


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("0.0126", 12_600_000),
        ("0.0126000000", 12_600_000),
        ("1", NANOS_PER_USD),
        ("0", 0),
        ("1e-9", 1),
        ("0.0000000005", 1),
        ("0.0000000004", 0),
        ("98.32", 98_320_000_000),
    ],
)
def test_prices_are_read_to_the_nanodollar(text: str, nanos: int) -> None:
    assert parse_usd(text) == nanos


@pytest.mark.parametrize("text", ["", "free", "1,5", "$1", "nan", "inf", "-inf", "-0.01", "1000001", "1e400"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="price"):
        parse_usd(text)


@given(st.integers(min_value=0, max_value=10**15))
def test_a_price_reads_back_as_the_same(nanos: int) -> None:
    assert parse_usd(str(to_usd(nanos))) == nanos


@given(st.lists(st.integers(min_value=0, max_value=10**12), max_size=30))
def test_sums_are_exact(prices: list[int]) -> None:
    assert sum((to_usd(price) for price in prices), Decimal(0)) == to_usd(sum(prices))


@pytest.mark.parametrize(
    ("nanos", "text"),
    [
        (12_600_000, "0.0126"),
        (NANOS_PER_USD, "1.00"),
        (1_500_000_000, "1.50"),
        (0, "0.00"),
        (1, "0.00"),
        (96_000_000, "0.096"),
        (1_234_567_891, "1.234568"),
    ],
)
def test_prices_are_shown_with_two_to_six_decimals(nanos: int, text: str) -> None:
    assert show_usd(nanos) == text


def test_exact_usd_has_no_trailing_zeros() -> None:
    assert str(to_usd(1_500_000_000)) == "1.5"
    assert to_usd(0) == Decimal(0)
