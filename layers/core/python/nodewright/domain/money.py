"""Prices as exact integers: nanodollars (10⁻⁹ USD) per hour.

AWS lists at most ten decimals and Karpenter's reserved offerings divide by 10⁷; an int64 of
nanodollars holds both and sums of a million nodes.
"""

from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

NANOS_PER_USD = 1_000_000_000
MOST_USD = 1_000_000
"""Per hour: no account pays so much, and thousands of such prices still add up in an int64."""


def parse_usd(text: str) -> int:
    """`"0.0126"` → 12_600_000 nanodollars. ValueError when it is not a decimal from 0 to a million."""
    try:
        nanos = (Decimal(text) * NANOS_PER_USD).to_integral_value(rounding=ROUND_HALF_UP)
    except InvalidOperation:
        nanos = Decimal("NaN")
    if not nanos.is_finite():
        raise ValueError(f"{text!r} is not a price in USD per hour, e.g. 0.0126")
    if nanos < 0:
        raise ValueError(f"{text!r} is negative; a price is at least 0")
    if nanos > MOST_USD * NANOS_PER_USD:
        raise ValueError(f"{text!r} is a price of more than {MOST_USD:,} USD per hour; correct it")
    return int(nanos)


def to_usd(nanos: int) -> Decimal:
    """Exact USD of an amount in nanodollars, without trailing zeros."""
    value = Decimal(nanos) / NANOS_PER_USD
    return value.normalize() if value else Decimal(0)


def show_usd(nanos: int) -> str:
    """For people: `0.0126`; at most six decimals, at least two."""
    text = f"{Decimal(nanos) / NANOS_PER_USD:.6f}".rstrip("0")
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals:0<2}"
