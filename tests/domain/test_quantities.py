from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewright.domain.quantities import (
    Resources,
    format_amount,
    format_bytes,
    format_cpu,
    millicores,
    parse_quantity,
    whole,
)

amounts = st.integers(min_value=-(2**63), max_value=2**63)
resources = st.dictionaries(st.sampled_from(["cpu", "memory", "pods", "nvidia.com/gpu"]), amounts).map(Resources)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1500m", Fraction(3, 2)),
        ("0.5", Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("1e3", Fraction(1000)),
        ("1E3", Fraction(1000)),
        ("1e-3", Fraction(1, 1000)),
        ("1E", Fraction(10**18)),
        ("1Ei", Fraction(2**60)),
        ("128974848", Fraction(128_974_848)),
        ("5k", Fraction(5000)),
        ("129M", Fraction(129_000_000)),
        ("129e6", Fraction(129_000_000)),
        ("123Mi", Fraction(128_974_848)),
        ("128974848000m", Fraction(128_974_848)),
        ("100u", Fraction(1, 10_000)),
        ("3n", Fraction(3, 10**9)),
        ("-1", Fraction(-1)),
        ("+2", Fraction(2)),
        (2, Fraction(2)),
        (0.5, Fraction(1, 2)),
        (0.1, Fraction(1, 10)),
        (1e20, Fraction(10**20)),
    ],
)
def test_every_notation_is_read_exactly(text: str | float, value: Fraction) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "5K",
        "1 Gi",
        "1KI",
        "1.2.3",
        "1e",
        "0x10",
        "1_000",
        "Gi",
        ".",
        "-",
        "1\n",
        "٣",
        "1e3Ki",
        "nan",
        "1e999999",
    ],
)
def test_what_kubernetes_refuses_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(ValueError, match=r"quantity|out of range") as refusal:
        parse_quantity(text)
    assert repr(text) in str(refusal.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_float_that_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not a quantity"):
        parse_quantity(value)


def test_reading_rounds_up() -> None:
    assert (millicores("100u"), millicores("1.0001"), whole("0.1"), whole("1500m")) == (1, 1001, 1, 2)


@given(st.integers(min_value=-(10**9), max_value=10**9))
def test_rounding_up_adds_less_than_one(micros: int) -> None:
    exact = parse_quantity(f"{micros}u")
    assert exact <= whole(f"{micros}u") < exact + 1
    assert exact * 1000 <= millicores(f"{micros}u") < exact * 1000 + 1


@given(amounts)
def test_what_is_shown_reads_back_as_the_same(amount: int) -> None:
    assert millicores(format_cpu(amount)) == amount
    assert whole(format_bytes(amount)) == amount


@given(st.lists(st.integers(min_value=0, max_value=10**6), max_size=20))
def test_sums_of_decimals_have_no_error(thousandths: list[int]) -> None:
    parts = [parse_quantity(f"{n / 1000:.3f}") for n in thousandths]
    assert sum(parts, Fraction(0)) == Fraction(sum(thousandths), 1000)


def test_three_tenths_fill_three_hundred_millicores() -> None:
    tenth = Resources.parse({"cpu": 0.1})
    assert tenth.times(3) == Resources({"cpu": 300})
    assert (tenth + tenth + tenth).fits(Resources({"cpu": 300}))


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 2000, "2"),
        ("cpu", 1500, "1500m"),
        ("cpu", 0, "0"),
        ("memory", 4 * 2**30, "4Gi"),
        ("memory", 128 * 2**20, "128Mi"),
        ("ephemeral-storage", 1000, "1000"),
        ("hugepages-2Mi", 2**21, "2Mi"),
        ("memory", -(2**30), "-1Gi"),
        ("nvidia.com/gpu", 1024, "1024"),
    ],
)
def test_amounts_are_shown_in_their_own_unit(resource: str, amount: int, text: str) -> None:
    assert format_amount(resource, amount) == text


def test_resources_are_read_in_the_unit_of_each_name() -> None:
    read = Resources.parse({"cpu": "1500m", "memory": "1Gi", "nvidia.com/gpu": 1, "pods": "29", "x.io/none": "0"})
    assert dict(read) == {"cpu": 1500, "memory": 2**30, "nvidia.com/gpu": 1, "pods": 29}


@pytest.mark.parametrize("value", ["5K", None, True, [], {}])
def test_an_unreadable_amount_is_refused_by_name(value: object) -> None:
    with pytest.raises(ValueError, match="memory: "):
        Resources.parse({"cpu": "1", "memory": value})


def test_resources_are_shown_for_people() -> None:
    shown = str(Resources({"pods": 3, "memory": 2**30, "cpu": 500, "a.io/b": 1}))
    assert shown == "cpu 500m, memory 1Gi, a.io/b 1, pods 3"
    assert str(Resources()) == "nothing"


def test_what_is_missing_counts_as_none() -> None:
    one = Resources({"cpu": 1})
    assert one.get("memory") == 0
    assert "memory" not in Resources({"memory": 0})


def test_order_of_naming_does_not_matter() -> None:
    one, other = Resources({"cpu": 1, "memory": 2}), Resources({"memory": 2, "pods": 0, "cpu": 1})
    assert one == other
    assert hash(one) == hash(other)
    assert list(one) == list(other)
    assert one == {"cpu": 1, "memory": 2}


def test_fitting_asks_only_for_what_is_named() -> None:
    room = Resources({"cpu": 1000, "memory": 10})
    assert Resources({"cpu": 1000}).fits(room)
    assert not Resources({"cpu": 1000, "nvidia.com/gpu": 1}).fits(room)
    assert Resources({"cpu": 1500, "memory": 3}).short(room) == Resources({"cpu": 500})


@given(resources, resources, resources)
def test_addition_is_a_commutative_group(a: Resources, b: Resources, c: Resources) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + Resources() == a
    assert (a + b) - b == a


@given(resources, resources)
def test_the_maximum_is_the_least_upper_bound(a: Resources, b: Resources) -> None:
    top = a.maximum(b)
    assert top == b.maximum(a)
    assert all(top.get(name) == max(a.get(name), b.get(name)) for name in {*a, *b})
    assert a.maximum(a) == a


@given(resources, resources)
def test_nothing_is_short_exactly_when_it_fits(a: Resources, room: Resources) -> None:
    assert a.fits(room) == (len(a.short(room)) == 0)
    assert all(amount > 0 for amount in a.short(room).values())


@given(resources, st.integers(min_value=0, max_value=5))
def test_times_is_repeated_addition(a: Resources, n: int) -> None:
    assert a.times(n) == sum([a] * n, Resources())


@given(resources)
def test_flooring_leaves_only_what_is_positive(a: Resources) -> None:
    assert dict(a.floor_zero()) == {name: amount for name, amount in a.items() if amount > 0}
