import json
from decimal import Decimal
from typing import Any

import pytest

from sandbox.aws.prices import SEOUL_MARKUP, Prices
from sandbox.aws.server import SandboxAws

FILTERS = {
    "regionCode": "ap-northeast-2",
    "operatingSystem": "Linux",
    "tenancy": "Shared",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
}


def products(aws: SandboxAws, **filters: str) -> list[dict[str, Any]]:
    wanted = [{"Type": "TERM_MATCH", "Field": name, "Value": value} for name, value in filters.items()]
    pages = aws.client("pricing").get_paginator("get_products").paginate(ServiceCode="AmazonEC2", Filters=wanted)
    return [json.loads(entry) for page in pages for entry in page["PriceList"]]


def hourly(product: dict[str, Any]) -> Decimal:
    (term,) = product["terms"]["OnDemand"].values()
    (dimension,) = term["priceDimensions"].values()
    assert dimension["unit"] == "Hrs"
    return Decimal(dimension["pricePerUnit"]["USD"])


def test_a_price_of_the_region_comes_before_one_derived() -> None:
    seoul, virginia = Prices("ap-northeast-2"), Prices("us-east-1")
    assert seoul.on_demand("c4.xlarge") == Decimal("0.227")
    assert seoul.on_demand("a1.large") == virginia.on_demand("a1.large") * SEOUL_MARKUP


def test_spot_is_a_steady_share_of_on_demand() -> None:
    prices = Prices("ap-northeast-2")
    for instance_type in ("t4g.medium", "m6i.large", "c7g.4xlarge"):
        shares = {prices.spot(instance_type, zone) / prices.on_demand(instance_type) for zone in ("a", "b", "c")}
        assert all(Decimal("0.299") <= share <= Decimal("0.451") for share in shares)
        assert len(shares) > 1
        assert prices.spot(instance_type, "a") == Prices("ap-northeast-2").spot(instance_type, "a")


def test_the_price_list_has_each_type_once_under_the_usual_filters(aws: SandboxAws) -> None:
    found = products(aws, **FILTERS, productFamily="Compute Instance")
    names = [product["product"]["attributes"]["instanceType"] for product in found]
    assert len(names) == len(set(names)) > 300
    prices = dict(zip(names, map(hourly, found), strict=True))
    assert prices["t4g.medium"] == aws.prices.on_demand("t4g.medium")
    assert not any(name.endswith(".metal") for name in names)


def test_metal_is_another_product_family(aws: SandboxAws) -> None:
    found = products(aws, **FILTERS | {"tenancy": "Dedicated"}, productFamily="Compute Instance (bare metal)")
    assert all("metal" in product["product"]["attributes"]["instanceType"] for product in found)
    assert found


def test_too_few_filters_give_prices_of_other_things_too(aws: SandboxAws) -> None:
    found = products(aws, regionCode="ap-northeast-2", instanceType="t4g.medium")
    assert len({hourly(product) for product in found}) > 2


def test_the_price_list_comes_in_pages_of_a_hundred(aws: SandboxAws) -> None:
    answer = aws.client("pricing").get_products(ServiceCode="AmazonEC2")
    assert len(answer["PriceList"]) == 100
    assert answer["NextToken"]


def history(aws: SandboxAws, **wanted: Any) -> list[dict[str, Any]]:
    pages = aws.client("ec2").get_paginator("describe_spot_price_history").paginate(**wanted)
    return [row for page in pages for row in page["SpotPriceHistory"]]


def test_spot_prices_in_force_are_one_for_each_type_and_zone(aws: SandboxAws, clock: Any) -> None:
    rows = history(aws, StartTime=clock(), ProductDescriptions=["Linux/UNIX"])
    keys = [(row["InstanceType"], row["AvailabilityZone"]) for row in rows]
    assert len(keys) == len(set(keys)) > 1000
    prices = {key: Decimal(row["SpotPrice"]) for key, row in zip(keys, rows, strict=True)}
    assert prices["t4g.medium", "ap-northeast-2a"] == aws.prices.spot("t4g.medium", "ap-northeast-2a")


def test_the_past_has_other_prices_and_their_times(aws: SandboxAws) -> None:
    rows = history(aws, InstanceTypes=["t4g.medium"], AvailabilityZone="ap-northeast-2a")
    assert len({row["SpotPrice"] for row in rows}) == 2
    latest = max(rows, key=lambda row: row["Timestamp"])
    assert Decimal(latest["SpotPrice"]) == aws.prices.spot("t4g.medium", "ap-northeast-2a")


def test_a_page_of_the_history_is_as_long_as_asked(aws: SandboxAws) -> None:
    answer = aws.client("ec2").describe_spot_price_history(MaxResults=7)
    assert len(answer["SpotPriceHistory"]) == 7
    assert answer["NextToken"]


@pytest.mark.parametrize("price", ["0.5", "0.0001"])
def test_a_price_that_is_set_is_sold_at(aws: SandboxAws, price: str) -> None:
    aws.prices.set_on_demand("t4g.medium", price)
    (product,) = products(aws, **FILTERS, instanceType="t4g.medium")
    assert hourly(product) == Decimal(price)


def test_instance_types_are_those_of_the_region_in_pages(aws: SandboxAws) -> None:
    ec2 = aws.client("ec2")
    assert len(ec2.describe_instance_types()["InstanceTypes"]) == 100
    wanted = [{"Name": "processor-info.supported-architecture", "Values": ["arm64"]}]
    pages = ec2.get_paginator("describe_instance_types").paginate(Filters=wanted)
    names = [one["InstanceType"] for page in pages for one in page["InstanceTypes"]]
    assert "t4g.medium" in names
    assert "a1.large" not in names
    assert len(names) == len(set(names))
