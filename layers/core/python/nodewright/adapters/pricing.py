"""On-demand prices from the AWS price list (karpenter-behaviour §5.4)."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nodewright.adapters.aws_errors import outside
from nodewright.application.ports import Price
from nodewright.domain.money import parse_usd

if TYPE_CHECKING:
    from mypy_boto3_pricing import PricingClient
    from mypy_boto3_pricing.type_defs import FilterTypeDef

#: China's regions list yuan; there every price is in yuan, so comparing them still holds.
CURRENCIES = ("USD", "CNY")

#: Product families with the tenancy their plain price is listed under.
PRODUCTS = (("Compute Instance", "Shared"), ("Compute Instance (bare metal)", "Dedicated"))


def endpoint_region(region: str) -> str:
    """Where the price list of a region is asked for: the API lives in few."""
    for prefix, endpoint in (("ap-", "ap-south-1"), ("cn-", "cn-northwest-1"), ("eu-", "eu-central-1")):
        if region.startswith(prefix):
            return endpoint
    return "us-east-1"


def on_demand_prices(client: "PricingClient", region: str) -> tuple[Price, ...]:
    """One price per type, sorted; the lowest where the list has several for one."""
    lowest: dict[str, int] = {}
    with outside("reading the price list"):
        for family, tenancy in PRODUCTS:
            for name, nanos in _listed(client, region, family, tenancy):
                lowest[name] = min(nanos, lowest.get(name, nanos))
    return tuple(Price(name, "on-demand", "", nanos) for name, nanos in sorted(lowest.items()))


def read_product(text: str) -> tuple[str, int] | None:
    """(type, nanodollars per hour) of one entry; None for one without an hourly price above zero."""
    product: object = json.loads(text)
    name = _at(product, "product", "attributes", "instanceType")
    prices = [price for price in _hourly(product) if price > 0]
    return (name, min(prices)) if isinstance(name, str) and prices else None


def _listed(client: "PricingClient", region: str, family: str, tenancy: str) -> Iterator[tuple[str, int]]:
    pages = client.get_paginator("get_products").paginate(
        ServiceCode="AmazonEC2", Filters=_filters(region, family, tenancy), PaginationConfig={"PageSize": 100}
    )
    for page in pages:
        for text in page["PriceList"]:
            if found := read_product(text):
                yield found


def _filters(region: str, family: str, tenancy: str) -> "list[FilterTypeDef]":
    wanted = {
        "regionCode": region,
        "preInstalledSw": "NA",
        "operatingSystem": "Linux",
        "capacitystatus": "Used",
        "marketoption": "OnDemand",
        "productFamily": family,
        "tenancy": tenancy,
    }
    return [{"Type": "TERM_MATCH", "Field": field, "Value": value} for field, value in wanted.items()]


def _hourly(product: object) -> Iterator[int]:
    """Prices of all on-demand terms that are per hour."""
    for term in _values(_at(product, "terms", "OnDemand")):
        for dimension in _values(_at(term, "priceDimensions")):
            per_unit = _at(dimension, "pricePerUnit")
            amounts = [_at(per_unit, currency) for currency in CURRENCIES]
            if _at(dimension, "unit") == "Hrs":
                yield from (parse_usd(amount) for amount in amounts if isinstance(amount, str))


def _at(value: object, *path: str) -> object:
    """What lies at a path of objects; None where nothing does."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _values(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        yield from value.values()
