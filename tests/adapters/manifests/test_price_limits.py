import pytest

from nodewright.adapters.manifests.pools import read_pool
from nodewright.adapters.manifests.provisioners import read_provisioner
from nodewright.domain.limits import PRICE
from tests.adapters.manifests.raw import node_pool, provisioner

ANNOTATION = "nodewright.dev/limit-usd-per-hour"


def metadata(usd: str) -> dict[str, object]:
    return {"annotations": {ANNOTATION: usd}}


def test_what_nodes_may_cost_is_a_limit_beside_the_others() -> None:
    pool = read_pool(node_pool(metadata=metadata("12.50"), limits={"cpu": 0})).pool
    assert pool is not None
    assert dict(pool.limits or {}) == {"cpu": 0, PRICE: 12_500_000_000}


def test_it_may_be_the_only_limit_and_zero() -> None:
    pool = read_pool(node_pool(metadata=metadata("0"))).pool
    assert pool is not None
    assert dict(pool.limits or {}) == {PRICE: 0}


def test_provisioners_have_it_too() -> None:
    pool = read_provisioner(provisioner(metadata=metadata("1"), limits={"resources": {"cpu": "4"}})).pool
    assert pool is not None
    assert dict(pool.limits or {}) == {"cpu": 4000, PRICE: 1_000_000_000}


@pytest.mark.parametrize("usd", ["lots", "", "-1", "NaN", "1,50"])
def test_a_limit_in_money_that_cannot_be_read_refuses_the_pool(usd: str) -> None:
    for reading in (
        read_pool(node_pool(metadata=metadata(usd))),
        read_provisioner(provisioner(metadata=metadata(usd))),
    ):
        assert reading.pool is None
        (warning,) = reading.warnings
        assert warning.path == f"metadata.annotations.{ANNOTATION}"
        assert repr(usd) in warning.message
