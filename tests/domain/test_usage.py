from nodewright.domain.limits import NODES, PRICE
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import added, counted, node_usage, settled, usage_of
from tests.builders import claim, resources

SMALL, LARGE = resources(cpu=2, memory="4Gi"), resources(cpu=8, memory="8Gi")


def test_a_node_counts_its_capacity_itself_and_its_price() -> None:
    assert node_usage(SMALL, 7) == SMALL + Resources({NODES: 1, PRICE: 7})


def test_usage_is_summed_by_pool_and_for_the_whole_cluster() -> None:
    held = (
        claim("a", pool="x", counts=node_usage(SMALL, 1)),
        claim("b", pool="x", counts=node_usage(SMALL, 2)),
        claim("c", pool="y", counts=node_usage(LARGE, 4)),
    )
    assert usage_of(held) == {
        "x": SMALL.times(2) + Resources({NODES: 2, PRICE: 3}),
        "y": LARGE + Resources({NODES: 1, PRICE: 4}),
        "*": SMALL.times(2) + LARGE + Resources({NODES: 3, PRICE: 7}),
    }
    assert usage_of(()) == {}


def test_a_claim_of_an_older_release_counts_its_capacity_and_price() -> None:
    assert counted(claim(capacity=SMALL, price=5)) == node_usage(SMALL, 5)


def test_what_comes_to_nothing_is_left_out() -> None:
    assert added([{"x": SMALL}, {"x": SMALL.times(-1)}, {"y": LARGE}]) == {"y": LARGE, "*": LARGE}


def test_what_came_counts_instead_of_the_largest_that_might_have() -> None:
    reserved = node_usage(LARGE, 9)
    came = settled(claim(capacity=SMALL), reserved, 3)
    assert came.counts == node_usage(SMALL, 3)


def test_at_an_unknown_price_it_counts_the_reserved_one() -> None:
    assert settled(claim(capacity=SMALL), node_usage(LARGE, 9), None).counts == node_usage(SMALL, 9)


def test_never_more_is_counted_than_was_reserved() -> None:
    came = settled(claim(capacity=LARGE + resources(gpu=1)), node_usage(SMALL, 3), 9)
    assert came.counts == node_usage(SMALL, 3)
