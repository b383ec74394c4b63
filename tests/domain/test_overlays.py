from collections.abc import Mapping
from fractions import Fraction

import pytest

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.overlays import NodeOverlay, PriceChange, Ranking, Shelf, apply, rank
from tests.builders import USD, instance_type, requirements

TYPE = "node.kubernetes.io/instance-type"
CAPACITY = "karpenter.sh/capacity-type"
ZONE = "topology.kubernetes.io/zone"
POOL = "karpenter.sh/nodepool"
GPU = "nvidia.com/gpu"

FREE = PriceChange(Fraction(0))


def shelf(pool: str = "default", *types: InstanceType) -> Shelf:
    """x.s and x.m, 1 and 2 USD on demand, 0.40 and 0.80 as spot."""
    sold = types or (instance_type("x.s"), instance_type("x.m", on_demand=2.0, spot=0.8))
    return Shelf(pool, {POOL: pool, "team": "a"}, sold)


def overlay(name: str = "o", *entries: tuple[object, ...], **fields: object) -> NodeOverlay:
    return NodeOverlay(name, requirements(*entries), **fields)  # type: ignore[arg-type]


def fixed(usd: float) -> PriceChange:
    return PriceChange(Fraction(0), round(usd * USD))


def prices(types: tuple[InstanceType, ...]) -> Mapping[tuple[str, str, str], float]:
    return {(t.name, o.zone, o.capacity_type): o.price / USD for t in types for o in t.offerings}


def on(overlays: tuple[NodeOverlay, ...], what: Shelf | None = None) -> tuple[InstanceType, ...]:
    """What they make of a shelf, conflicts settled."""
    sold = what or shelf()
    return apply(rank(overlays, [sold]).in_force, sold)


@pytest.mark.parametrize(
    ("change", "price", "becomes"),
    [
        (PriceChange(), 7, 7),
        (fixed(0.5), 7, USD // 2),
        (PriceChange(Fraction(85, 100)), 10, 9),  # 8.5 is rounded half up
        (PriceChange(Fraction(1, 3)), 10, 3),
        (PriceChange(nanos=-20), 10, 0),
        (PriceChange(Fraction(11, 10), 5), 10, 16),
        (PriceChange(Fraction(0)), 10, 0),
    ],
)
def test_a_price_changes_exactly_and_never_below_nothing(change: PriceChange, price: int, becomes: int) -> None:
    assert change.of(price) == becomes


def test_a_price_changes_where_all_requirements_are_met_and_nowhere_else() -> None:
    cheap = overlay("o", (TYPE, "In", "x.s"), (CAPACITY, "In", "spot"), (ZONE, "NotIn", "c"), price=fixed(0.1))
    changed, before = prices(on((cheap,))), prices(shelf().instance_types)
    assert {key: price for key, price in changed.items() if price != before[key]} == {
        ("x.s", "a", "spot"): 0.1,
        ("x.s", "b", "spot"): 0.1,
    }


def test_an_offering_with_a_price_of_ours_is_marked() -> None:
    (small, middle) = on((overlay("o", (TYPE, "In", "x.s"), price=PriceChange()),))
    assert all(offering.overlaid for offering in small.offerings)
    assert not any(offering.overlaid for offering in middle.offerings)


@pytest.mark.parametrize(
    ("entry", "changes"), [((POOL, "In", "default"), True), ((POOL, "In", "other"), False), (("team", "In", "a"), True)]
)
def test_the_pool_s_labels_count_too(entry: tuple[object, ...], changes: bool) -> None:
    assert (0.0 in prices(on((overlay("o", entry, price=FREE),))).values()) is changes


def test_resources_are_added_to_what_pods_can_have_and_replaced_where_they_are() -> None:
    gpu = instance_type("g.m", gpu=4)
    (small, large) = on((overlay(capacity={GPU: 1, "a/fpga": 2}),), shelf("default", instance_type("x.s"), gpu))
    for each in (small, large):
        assert (each.capacity[GPU], each.allocatable[GPU], each.allocatable["a/fpga"]) == (1, 1, 2)
        assert not any(offering.overlaid for offering in each.offerings)
    assert small.allocatable["cpu"] == instance_type("x.s").allocatable["cpu"]


def test_an_amount_of_zero_hides_a_resource() -> None:
    (each,) = on((overlay(capacity={GPU: 0}),), shelf("default", instance_type("g.m", gpu=4)))
    assert GPU not in each.allocatable


def test_resources_of_an_overlay_about_one_offering_are_the_whole_type_s() -> None:
    (small, _) = on((overlay("o", (TYPE, "In", "x.s"), (ZONE, "In", "a"), capacity={"a/fpga": 1}),))
    assert small.allocatable["a/fpga"] == 1


def test_more_weight_wins_for_the_price_as_a_whole_and_for_each_resource() -> None:
    light = overlay("light", weight=1, price=fixed(1), capacity={GPU: 1, "a/fpga": 1})
    heavy = overlay("heavy", weight=2, price=fixed(2), capacity={GPU: 2})
    for order in ((light, heavy), (heavy, light)):
        (small, _) = on(order)
        assert {offering.price for offering in small.offerings} == {2 * USD}
        assert (small.allocatable[GPU], small.allocatable["a/fpga"]) == (2, 1)


def lost(ranking: Ranking) -> list[tuple[str, str, str]]:
    return [(c.loser.name, c.winner.name, c.field) for c in ranking.conflicts]


def test_of_equal_weight_the_later_in_the_alphabet_wins_and_the_other_is_not_applied_at_all() -> None:
    both = (overlay("a", price=fixed(1), capacity={"a/fpga": 1}), overlay("b", (TYPE, "In", "x.s"), price=fixed(2)))
    for order in (both, both[::-1]):
        ranking = rank(order, [shelf()])
        assert [each.overlay.name for each in ranking.in_force] == ["b"]
        assert lost(ranking) == [("a", "b", "price")]
        (small, middle) = apply(ranking.in_force, shelf())
        assert "a/fpga" not in small.allocatable
        assert middle == shelf().instance_types[1]


def test_who_lost_displaces_nobody() -> None:
    three = (
        overlay("c", (TYPE, "In", "x.s"), price=fixed(3)),
        overlay("b", price=fixed(2)),
        overlay("a", (TYPE, "In", "x.m"), price=fixed(1)),
    )
    ranking = rank(three, [shelf()])
    assert [each.overlay.name for each in ranking.in_force] == ["c", "a"]
    assert lost(ranking) == [("b", "c", "price")]


def test_equal_weights_are_no_conflict_where_nothing_differs_or_nothing_is_shared() -> None:
    same = (overlay("a", price=fixed(1), capacity={GPU: 1}), overlay("b", price=fixed(1), capacity={GPU: 1}))
    apart = (overlay("c", (CAPACITY, "In", "spot"), price=fixed(2), weight=5),)
    elsewhere = (overlay("d", (CAPACITY, "In", "on-demand"), price=fixed(3), weight=5, capacity={"a/fpga": 1}),)
    assert lost(rank((*same, *apart, *elsewhere), [shelf()])) == []


def test_resources_are_a_type_s_so_offerings_apart_conflict_in_them() -> None:
    both = tuple(overlay(zone, (ZONE, "In", zone), capacity={GPU: n}) for n, zone in enumerate(("a", "b")))
    assert lost(rank(both, [shelf()])) == [("a", "b", GPU)]


def test_a_conflict_in_one_pool_counts_in_all() -> None:
    both = (overlay("a", price=fixed(1)), overlay("b", (POOL, "In", "gpu"), price=fixed(2)))
    ranking = rank(both, [shelf(), shelf("gpu")])
    assert lost(ranking) == [("a", "b", "price")]
    assert ranking.conflicts[0].place[0] == "gpu"


def test_what_matches_nothing_is_told_apart() -> None:
    ranking = rank((overlay("o", (TYPE, "In", "y.s"), price=FREE),), [shelf()])
    assert ranking.in_force == ()
    assert [each.name for each in ranking.unused] == ["o"]
