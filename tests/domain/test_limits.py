import pytest

from nodewright.domain.limits import Limits, remaining, within
from nodewright.domain.quantities import Resources

NODE = Resources.parse({"cpu": "4", "memory": "16Gi", "pods": 58})


def test_without_limits_everything_fits() -> None:
    left = remaining(None, [NODE], nodes=1)
    assert left is None
    assert within(NODE.times(1000), left)


def test_what_is_in_use_comes_off_what_is_limited_and_nothing_else() -> None:
    left = remaining(Limits.parse({"cpu": "10", "nodes": 3}), [NODE, NODE], nodes=2)
    assert left == Limits({"cpu": 2000, "nodes": 1})


@pytest.mark.parametrize(
    ("limits", "fits"),
    [
        ({}, True),
        ({"cpu": "12"}, True),
        ({"cpu": "11900m"}, False),
        ({"memory": "48Gi"}, True),
        ({"memory": "47Gi"}, False),
        ({"nodes": 3}, True),
        ({"nodes": 2}, False),
        ({"cpu": "100", "nodes": 2}, False),
        ({"nvidia.com/gpu": 0}, True),
    ],
)
def test_one_more_node_must_stay_inside_every_limit(limits: dict[str, str | int], fits: bool) -> None:
    assert within(NODE, remaining(Limits.parse(limits), [NODE, NODE], nodes=2)) is fits


@pytest.mark.parametrize("resource", ["cpu", "memory", "nodes"])
def test_a_limit_of_zero_is_a_limit(resource: str) -> None:
    left = remaining(Limits.parse({resource: 0}), [], nodes=0)
    assert left == Limits({resource: 0})
    assert not within(NODE, left)


def test_a_limit_used_up_to_the_last_unit_is_still_a_limit() -> None:
    left = remaining(Resources({"cpu": 8000}), [NODE, NODE], nodes=2)
    assert left == Limits({"cpu": 0})
    assert not within(NODE, left)


def test_an_overdrawn_limit_keeps_out_only_what_takes_more_of_it() -> None:
    gpu_node = NODE + Resources({"nvidia.com/gpu": 2})
    left = remaining(Limits.parse({"nvidia.com/gpu": 1}), [gpu_node], nodes=1)
    assert left == Limits({"nvidia.com/gpu": -1})
    assert within(NODE, left)
    assert not within(gpu_node, left)


def test_taking_from_limits_leaves_limits() -> None:
    left = Limits({"cpu": 4000}) - NODE
    assert isinstance(left, Limits)
    assert dict(left) == {"cpu": 0}
