import pytest

from nodewright.domain.limits import LAUNCHES, PRICE, Limits, exceeded, shown, tightest
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import node_usage

NODE = node_usage(Resources.parse({"cpu": "4", "memory": "16Gi", "pods": 58}), 400_000_000)


def test_what_is_in_use_comes_off_what_is_limited_and_nothing_else() -> None:
    left = Limits.parse({"cpu": "10", "nodes": 3}) - NODE.times(2)
    assert isinstance(left, Limits)
    assert dict(left) == {"cpu": 2000, "nodes": 1}


def test_what_is_read_is_rounded_down() -> None:
    read = Limits.parse({"nodes": 1.5, "cpu": "1500100u", "memory": "1.5"})
    assert dict(read) == {"nodes": 1, "cpu": 1500, "memory": 1}


@pytest.mark.parametrize(
    ("limits", "which"),
    [
        ({}, None),
        ({"cpu": 12_000}, None),
        ({"cpu": 11_900}, "cpu"),
        ({"memory": 48 * 2**30}, None),
        ({"memory": 47 * 2**30}, "memory"),
        ({"nodes": 3}, None),
        ({"nodes": 2}, "nodes"),
        ({"cpu": 100_000, "nodes": 2}, "nodes"),
        ({"cpu": 1, "nodes": 2}, "cpu"),
        ({"nvidia.com/gpu": 0}, None),
        ({PRICE: 1_200_000_000}, None),
        ({PRICE: 1_199_999_999}, PRICE),
    ],
)
def test_one_more_node_must_stay_inside_every_limit(limits: dict[str, int], which: str | None) -> None:
    assert exceeded(Limits(limits), NODE.times(2), NODE) == which


@pytest.mark.parametrize("resource", ["cpu", "memory", "nodes", PRICE])
def test_a_limit_of_zero_is_a_limit(resource: str) -> None:
    assert exceeded(Limits({resource: 0}), Resources(), NODE) == resource


def test_a_limit_used_up_to_the_last_unit_is_still_a_limit() -> None:
    used_up = Limits({"cpu": 8000})
    assert dict(used_up - NODE.times(2)) == {"cpu": 0}
    assert exceeded(used_up, NODE.times(2), NODE) == "cpu"


def test_an_overdrawn_limit_keeps_out_only_what_takes_more_of_it() -> None:
    gpu_node = NODE + Resources({"nvidia.com/gpu": 2})
    overdrawn = Limits({"nvidia.com/gpu": 1})
    assert exceeded(overdrawn, gpu_node, NODE) is None
    assert exceeded(overdrawn, gpu_node, gpu_node) == "nvidia.com/gpu"


def test_of_several_limits_each_resource_has_its_tightest() -> None:
    left = tightest([Limits({"cpu": 0, PRICE: 5}), Limits({PRICE: 3, "nodes": -1})])
    assert left is not None
    assert dict(left) == {"cpu": 0, "nodes": -1, PRICE: 3}


def test_no_limits_are_none() -> None:
    assert tightest([]) is None
    assert tightest([Limits(), Limits()]) is None


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 1500, "cpu 1500m"),
        ("nodes", 2, "nodes 2"),
        (PRICE, 400_000_000, "USD per hour 0.40"),
        (LAUNCHES, 500, "launches per hour 500"),
    ],
)
def test_amounts_are_shown_in_words_of_people(resource: str, amount: int, text: str) -> None:
    assert shown(resource, amount) == text
