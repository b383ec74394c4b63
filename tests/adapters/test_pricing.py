import json

import pytest
from botocore.stub import Stubber

from nodewright.adapters import aws_clients
from nodewright.adapters.pricing import endpoint_region, on_demand_prices, read_product
from nodewright.application.ports import Price


def product(name: str, *prices: str, currency: str = "USD", unit: str = "Hrs") -> str:
    dimensions = {str(n): {"unit": unit, "pricePerUnit": {currency: price}} for n, price in enumerate(prices)}
    return json.dumps(
        {
            "product": {"attributes": {"instanceType": name}},
            "terms": {"OnDemand": {"term": {"priceDimensions": dimensions}}},
        }
    )


@pytest.mark.parametrize(
    ("region", "endpoint"),
    [
        ("us-east-1", "us-east-1"),
        ("us-west-2", "us-east-1"),
        ("sa-east-1", "us-east-1"),
        ("us-gov-west-1", "us-east-1"),
        ("ap-northeast-2", "ap-south-1"),
        ("eu-central-2", "eu-central-1"),
        ("cn-north-1", "cn-northwest-1"),
    ],
)
def test_the_price_list_is_asked_where_it_lives(region: str, endpoint: str) -> None:
    assert endpoint_region(region) == endpoint


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (product("m5.large", "0.0960000000"), ("m5.large", 96_000_000)),
        (product("m5.large", "0.0000000000", "0.1"), ("m5.large", 100_000_000)),
        (product("m5.large", "0.7", currency="CNY"), ("m5.large", 700_000_000)),
        (product("m5.large", "0.0000000000"), None),
        (product("m5.large", "5", unit="Quantity"), None),
        (product("m5.large"), None),
        ('{"product": {"attributes": {}}}', None),
        ("[]", None),
    ],
)
def test_an_entry_has_the_hourly_price_above_zero_or_none(text: str, found: tuple[str, int] | None) -> None:
    assert read_product(text) == found


def test_both_product_families_are_read_through_all_pages_and_the_lowest_price_counts(aws: str) -> None:
    client = aws_clients.pricing(aws)
    asked: list[dict[str, str]] = []

    def note(params: dict[str, list[dict[str, str]]], **_: object) -> None:
        asked.append({one["Field"]: one["Value"] for one in params["Filters"]})

    client.meta.events.register("provide-client-params.pricing.GetProducts", note)
    with Stubber(client) as stub:
        stub.add_response("get_products", {"PriceList": [product("m5.large", "0.2")], "NextToken": "more"})
        stub.add_response("get_products", {"PriceList": [product("m5.large", "0.1"), product("m5.large", "0.3")]})
        stub.add_response("get_products", {"PriceList": [product("m5.metal", "4.6")]})
        assert on_demand_prices(client, "eu-west-1") == (
            Price("m5.large", "on-demand", "", 100_000_000),
            Price("m5.metal", "on-demand", "", 4_600_000_000),
        )
    assert [(one["productFamily"], one["tenancy"]) for one in asked] == [
        ("Compute Instance", "Shared"),
        ("Compute Instance", "Shared"),
        ("Compute Instance (bare metal)", "Dedicated"),
    ]
    rest = {k: v for k, v in asked[0].items() if k not in {"productFamily", "tenancy"}}
    assert rest == {
        "regionCode": "eu-west-1",
        "preInstalledSw": "NA",
        "operatingSystem": "Linux",
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
    }
