"""The Pricing service's GetProducts for EC2, in the shape of AWS's price list."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256

from sandbox.aws import offerings
from sandbox.aws.gateway import Operations
from sandbox.aws.launch_templates import Raw
from sandbox.aws.pages import page
from sandbox.aws.prices import Prices
from sandbox.aws.protocol import AwsError, Call

PAGE = 100
ON_DEMAND_TERM = "JRTCKXETXF"
HOURLY_RATE = "6YS6EN2CT7"
LOCATIONS = {"us-east-1": "US East (N. Virginia)", "ap-northeast-2": "Asia Pacific (Seoul)"}
USAGE_PREFIXES = {"us-east-1": "", "ap-northeast-2": "APN2-"}
# What else the list sells at other prices: a client that filters too little gets these too.
WINDOWS_FACTOR = Decimal("1.8")
DEDICATED_FACTOR = Decimal("1.1")


@dataclass(frozen=True, slots=True)
class PriceList:
    """Answers for the region the prices are of; the Pricing endpoint itself is in another."""

    prices: Prices

    def operations(self) -> Operations:
        """What is answered here instead of by moto, which has no Pricing."""
        return {("pricing", "GetProducts"): self._get_products}

    def _get_products(self, call: Call) -> object:
        parameters = call.parameters
        if parameters.get("ServiceCode") != "AmazonEC2":
            raise AwsError("NotFoundException", f"The sandbox sells EC2 only, not {parameters.get('ServiceCode')!r}.")
        filters = [(one["Field"], one["Value"]) for one in parameters.get("Filters") or ()]
        wanted = [product for product in self._products() if _matches(product, filters)]
        products, token = page(wanted, parameters, PAGE)
        return {"FormatVersion": "aws_v1", "PriceList": [self._entry(one) for one in products], "NextToken": token}

    def _products(self) -> Iterator[dict[str, str]]:
        for instance_type in offerings.types_offered(self.prices.region):
            yield from _variants(self.prices.region, instance_type)

    def _entry(self, product: dict[str, str]) -> str:
        family, attributes = product["productFamily"], {k: v for k, v in product.items() if k != "productFamily"}
        sku = sha256(json.dumps(product, sort_keys=True).encode()).hexdigest()[:16].upper()
        described = {"productFamily": family, "attributes": attributes, "sku": sku}
        terms = {"OnDemand": {f"{sku}.{ON_DEMAND_TERM}": _term(sku, product, self._price(product))}}
        entry = {"product": described, "serviceCode": "AmazonEC2", "terms": terms, "version": "20260720000000"}
        return json.dumps(entry | {"publicationDate": "2026-07-20T00:00:00Z"})

    def _price(self, product: dict[str, str]) -> Decimal:
        price = self.prices.on_demand(product["instanceType"])
        if product["capacitystatus"] != "Used":
            return Decimal(0)
        price *= WINDOWS_FACTOR if product["operatingSystem"] == "Windows" else 1
        return price * (DEDICATED_FACTOR if product["tenancy"] == "Dedicated" and not _metal(product) else 1)


def _variants(region: str, instance_type: str) -> Iterator[dict[str, str]]:
    linux = _linux(region, instance_type)
    yield linux
    yield linux | {"tenancy": "Dedicated"}
    yield linux | {"capacitystatus": "AllocatedCapacityReservation"}
    yield linux | {"operatingSystem": "Windows", "operation": "RunInstances:0002"}


def _linux(region: str, instance_type: str) -> dict[str, str]:
    described = offerings.described(instance_type)
    metal = instance_type.endswith("metal") or ".metal-" in instance_type
    return {
        "productFamily": "Compute Instance (bare metal)" if metal else "Compute Instance",
        "instanceType": instance_type,
        "regionCode": region,
        "location": LOCATIONS.get(region, region),
        "locationType": "AWS Region",
        "servicecode": "AmazonEC2",
        "servicename": "Amazon Elastic Compute Cloud",
        "operatingSystem": "Linux",
        "operation": "RunInstances",
        "preInstalledSw": "NA",
        "capacitystatus": "Used",
        "tenancy": "Shared",
        "marketoption": "OnDemand",
        "licenseModel": "No License required",
        "usagetype": f"{USAGE_PREFIXES.get(region, '')}BoxUsage:{instance_type}",
        "vcpu": str(described["VCpuInfo"]["DefaultVCpus"]),
        "memory": f"{described['MemoryInfo']['SizeInMiB'] / 1024:g} GiB",
        "currentGeneration": "Yes" if described.get("CurrentGeneration") else "No",
    }


def _metal(product: dict[str, str]) -> bool:
    return product["productFamily"].endswith("(bare metal)")


def _matches(product: dict[str, str], filters: list[tuple[str, str]]) -> bool:
    """TERM_MATCH: equal, letter case apart; a field the product hasn't got doesn't match."""
    return all(product.get(name, "").lower() == value.lower() for name, value in filters)


def _term(sku: str, product: dict[str, str], price: Decimal) -> Raw:
    code = f"{sku}.{ON_DEMAND_TERM}.{HOURLY_RATE}"
    described = f"${price} per On Demand {product['operatingSystem']} {product['instanceType']} Instance Hour"
    dimension = {
        "unit": "Hrs",
        "beginRange": "0",
        "endRange": "Inf",
        "description": described,
        "appliesTo": [],
        "rateCode": code,
        "pricePerUnit": {"USD": f"{price:.10f}"},
    }
    return {
        "priceDimensions": {code: dimension},
        "sku": sku,
        "effectiveDate": "2026-07-01T00:00:00Z",
        "offerTermCode": ON_DEMAND_TERM,
        "termAttributes": {},
    }
