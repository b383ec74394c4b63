from dataclasses import replace
from fractions import Fraction

from nodewright.application.overlaying import overlaid
from nodewright.domain.overlays import NodeOverlay, PriceChange
from tests.application.world import World
from tests.builders import instance_type, options, pod, pool, requirements

TYPE = "node.kubernetes.io/instance-type"
SMALL = options(pool(), [instance_type("x.s")])
GPU = options(pool("gpu"), [instance_type("x.s"), instance_type("g.m", gpu=1)])


def free(name: str, *entries: tuple[object, ...], weight: int = 0) -> NodeOverlay:
    return NodeOverlay(name, requirements(*entries), weight, PriceChange(Fraction(0)))


def test_without_overlays_everything_stays() -> None:
    assert overlaid([SMALL, GPU], ()) == ((SMALL, GPU), ())


def test_each_pool_s_types_are_what_overlays_make_them() -> None:
    (small, gpu), warnings = overlaid([SMALL, GPU], [free("o", ("karpenter.sh/nodepool", "In", "gpu"))])
    assert small == SMALL
    assert {o.price for each in gpu.instance_types for o in each.offerings} == {0}
    assert warnings == ()


def test_an_overlay_that_loses_or_matches_nothing_is_told_of() -> None:
    lower = replace(free("a"), price=PriceChange(Fraction(1, 2)))
    _, warnings = overlaid([SMALL], [lower, free("b"), free("c", (TYPE, "In", "y.s"))])
    assert [(each.object, each.path) for each in warnings] == [
        ("NodeOverlay/a", "spec.weight"),
        ("NodeOverlay/c", "spec.requirements"),
    ]
    assert warnings[0].message == (
        "it and NodeOverlay/b have the same weight and differ in price of x.s (on-demand, a), so it is not applied;"
        " give them different weights"
    )


def test_the_market_of_a_cluster_has_its_overlays_applied() -> None:
    here = World()
    here.cluster.overlays = (free("o", (TYPE, "In", "m5.large")), free("lost", (TYPE, "In", "y.s")))
    market = here.market()
    large = market.lookup("default", "m5.large")
    assert large is not None
    assert {o.price for o in large.offerings} == {0}
    assert all(o.overlaid for o in large.offerings)
    assert [w.object for w in market.warnings] == ["NodeOverlay/lost"]


def bought(here: World) -> dict[tuple[str, str], int | None]:
    """(type, zone) → the price EC2 was told."""
    here.cluster.add(pod())
    here.wait_and_provision()
    (request,) = here.fleet.calls
    return {(o.instance_type, o.zone): o.price for template in request.templates for o in template.overrides}


def test_ec2_is_told_the_prices_of_a_launch_that_an_overlay_priced() -> None:
    here = World()
    here.cluster.overlays = (free("o", (TYPE, "In", "m5.large")),)
    told = bought(here)
    assert {price for (name, _), price in told.items() if name == "m5.large"} == {0}
    assert None not in told.values()


def test_ec2_goes_by_its_own_prices_where_no_overlay_says_another() -> None:
    assert set(bought(World()).values()) == {None}
