import pytest

from nodewright.adapters.packaged_catalogue import SPOT_PERCENT, packaged_catalogue, regions
from nodewright.application.plan import BadInputError
from nodewright.domain.plans import Launch, LaunchOffering, Plan
from nodewright.domain.quantities import Resources
from sandbox.catalogue import TARGET, contents
from tests.application.resolved import resolved


@pytest.mark.parametrize("name", sorted(contents()))
def test_the_files_are_what_the_script_makes(name: str) -> None:
    assert (TARGET / name).read_bytes() == contents()[name], "run: python -m sandbox.catalogue"


def test_its_regions_are_those_of_its_files() -> None:
    assert regions() == ("ap-northeast-2", "us-east-1")


def test_another_region_is_refused_with_those_there_are() -> None:
    with pytest.raises(BadInputError, match=r"'eu-west-1' .* only of ap-northeast-2, us-east-1; use --catalogue FILE"):
        packaged_catalogue("eu-west-1")


def test_types_are_as_production_makes_them_of_what_ec2_says() -> None:
    types = {each.name: each for each in packaged_catalogue("us-east-1").instance_types(resolved("us-east-1a"))}
    assert len(types) > 1000
    found = types["m5.large"]
    assert found.labels["karpenter.k8s.aws/instance-category"] == "m"
    assert found.capacity.get("pods") == 29
    assert found.allocatable.get("cpu") == 1930
    assert found.volumes == 25
    assert {(o.zone, o.capacity_type, o.price) for o in found.offerings} == {
        ("us-east-1a", "on-demand", 96_000_000),
        ("us-east-1a", "spot", 96_000_000 * SPOT_PERCENT // 100),
    }


def test_a_plan_with_estimated_prices_says_so() -> None:
    catalogue = packaged_catalogue("us-east-1")
    offering = LaunchOffering("m5.large", "us-east-1a", 1)
    spot, on_demand = (Launch("default", kind, (offering,), 1, Resources(), ((),)) for kind in ("spot", "on-demand"))
    assert catalogue.remark(Plan(launches=(on_demand,))) == ()
    (told,) = catalogue.remark(Plan(launches=(on_demand, spot)))
    assert f"estimated at {SPOT_PERCENT} % of on-demand (2026-07-20)" in told.message
