from fractions import Fraction

import pytest

from nodewright.adapters.manifests.overlays import read_overlay, read_overlays
from nodewright.domain.overlays import NodeOverlay, PriceChange
from tests.adapters.manifests.raw import Json, node_overlay, requirement


def overlay(spec: Json) -> Json:
    """The manifest with this spec."""
    raw = node_overlay()
    return {**raw, "spec": {"requirements": [], **spec}}


def sound(raw: Json) -> NodeOverlay:
    reading = read_overlay(raw)
    assert reading.warnings == ()
    assert reading.overlay is not None
    return reading.overlay


@pytest.mark.parametrize(
    ("spec", "change"),
    [
        ({"price": "0.0126"}, PriceChange(Fraction(0), 12_600_000)),
        ({"price": 2}, PriceChange(Fraction(0), 2_000_000_000)),
        ({"priceAdjustment": "-15%"}, PriceChange(Fraction(85, 100))),
        ({"priceAdjustment": "+12.5%"}, PriceChange(Fraction(1125, 1000))),
        ({"priceAdjustment": "-100%"}, PriceChange(Fraction(0))),
        ({"priceAdjustment": "+0.02"}, PriceChange(nanos=20_000_000)),
        ({"priceAdjustment": "-.5"}, PriceChange(nanos=-500_000_000)),
    ],
)
def test_a_price_is_read_exactly(spec: Json, change: PriceChange) -> None:
    assert sound(overlay(spec)).price == change


def test_an_overlay_may_be_about_one_pool() -> None:
    read = sound(node_overlay(price="1", requirements=[requirement("karpenter.sh/nodepool", "In", "gpu")]))
    assert read.requirements["karpenter.sh/nodepool"].allows("gpu")


def test_an_amount_of_zero_hides_a_resource() -> None:
    assert sound(node_overlay(capacity={"nvidia.com/gpu": 0})).capacity == {"nvidia.com/gpu": 0}


@pytest.mark.parametrize(
    ("spec", "path", "message"),
    [
        ({"price": "1", "priceAdjustment": "+1"}, "spec.priceAdjustment", "exclude each other"),
        ({"price": "-1"}, "spec.price", "write it like 0.0126"),
        ({"price": "9" * 20}, "spec.price", "more than 1,000,000 USD per hour"),
        ({"priceAdjustment": "+" + "9" * 20}, "spec.priceAdjustment", "more than 1,000,000 USD per hour"),
        ({"priceAdjustment": f"+{'9' * 20}%"}, "spec.priceAdjustment", "+999900% is the most"),
        ({"capacity": {"a.io/x": "10E"}}, "spec.capacity.a.io/x", "no node has 10E of it"),
        ({"price": "1e3"}, "spec.price", "write it like 0.0126"),
        ({"priceAdjustment": "10%"}, "spec.priceAdjustment", "write it like -15%"),
        ({"priceAdjustment": "-101%"}, "spec.priceAdjustment", "-100% is the least"),
        ({"price": "1", "weight": 10_001}, "spec.weight", "from 1 to 10000"),
        ({"capacity": {"cpu": 4}}, "spec.capacity.cpu", "only extended resources"),
        ({"capacity": {"memory": "4Gi"}}, "spec.capacity.memory", "only extended resources"),
        ({"capacity": {"pods": 4}}, "spec.capacity.pods", "only extended resources"),
        ({"capacity": {"ephemeral-storage": "1Gi"}}, "spec.capacity.ephemeral-storage", "only extended resources"),
        ({"capacity": {"hugepages-2Mi": "2Mi"}}, "spec.capacity.hugepages-2Mi", "only extended resources"),
        ({"capacity": {"a/b": "some"}}, "spec.capacity.a/b", "not a whole number"),
        ({"capacity": {"a/b": -1}}, "spec.capacity.a/b", "not a whole number"),
        ({}, "spec", "it changes nothing"),
        (
            {"price": "1", "requirements": [requirement("a", "Is", "b")]},
            "spec.requirements[0]",
            "operator is not known",
        ),
    ],
)
def test_what_can_not_be_applied_is_told_with_the_fix(spec: Json, path: str, message: str) -> None:
    reading = read_overlay(overlay(spec))
    assert reading.overlay is None
    (warning,) = reading.warnings
    assert (warning.object, warning.path) == ("NodeOverlay/default", path)
    assert message in warning.message
    assert "it is not applied until this is fixed" in warning.message


def test_one_bad_overlay_leaves_the_others_alone() -> None:
    raws = [node_overlay(metadata={"name": name}, price=price) for name, price in (("b", "1"), ("x", "no"), ("a", "2"))]
    overlays, warnings = read_overlays(raws)
    assert [each.name for each in overlays] == ["a", "b"]
    assert [each.object for each in warnings] == ["NodeOverlay/x"]
