"""The Ec2Catalogue port: what EC2 sells in this region."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from nodewright.adapters import pricing
from nodewright.adapters.aws_errors import outside
from nodewright.adapters.instance_type_facts import ARCHITECTURES, to_facts
from nodewright.application.ports import Price
from nodewright.domain.instance_facts import InstanceFacts
from nodewright.domain.money import parse_usd

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.type_defs import SpotPriceTypeDef
    from mypy_boto3_pricing import PricingClient

#: The most DescribeInstanceTypes gives in one page.
TYPES_A_PAGE = 100


class AwsCatalogue:
    """EC2 for types, offerings and spot prices; the price list for on-demand."""

    def __init__(self, ec2: "EC2Client", price_list: "PricingClient", region: str) -> None:
        self._ec2 = ec2
        self._price_list = price_list
        self._region = region

    def instance_types(self) -> tuple[InstanceFacts, ...]:
        """All that a 64-bit hardware-virtual image runs on, sorted by name."""
        pages = self._ec2.get_paginator("describe_instance_types").paginate(
            Filters=[
                {"Name": "supported-virtualization-type", "Values": ["hvm"]},
                {"Name": "processor-info.supported-architecture", "Values": sorted(ARCHITECTURES)},
            ],
            PaginationConfig={"PageSize": TYPES_A_PAGE},
        )
        with outside("describing instance types"):
            facts = [to_facts(raw) for page in pages for raw in page.get("InstanceTypes", [])]
        return tuple(sorted((one for one in facts if one), key=lambda one: one.name))

    def zones_by_type(self) -> Mapping[str, frozenset[str]]:
        """Type → zones it is offered in."""
        pages = self._ec2.get_paginator("describe_instance_type_offerings").paginate(
            LocationType="availability-zone", PaginationConfig={"PageSize": 1000}
        )
        zones: defaultdict[str, set[str]] = defaultdict(set)
        with outside("describing instance type offerings"):
            for page in pages:
                for offering in page.get("InstanceTypeOfferings", []):
                    zones[offering.get("InstanceType", "")].add(offering.get("Location", ""))
        return {name: frozenset(found) for name, found in sorted(zones.items())}

    def spot_prices(self, now: datetime) -> tuple[Price, ...]:
        """The newest of each type and zone; a history asked from `now` on begins with the price in force."""
        pages = self._ec2.get_paginator("describe_spot_price_history").paginate(
            ProductDescriptions=["Linux/UNIX"], StartTime=now, PaginationConfig={"PageSize": 1000}
        )
        newest: dict[tuple[str, str], SpotPriceTypeDef] = {}
        with outside("describing spot prices"):
            for page in pages:
                for price in page.get("SpotPriceHistory", []):
                    key = (price.get("InstanceType", ""), price.get("AvailabilityZone", ""))
                    if key not in newest or price["Timestamp"] > newest[key]["Timestamp"]:
                        newest[key] = price
        return tuple(
            Price(instance_type, "spot", zone, parse_usd(price["SpotPrice"]))
            for (instance_type, zone), price in sorted(newest.items())
        )

    def on_demand_prices(self) -> tuple[Price, ...]:
        """Linux, shared tenancy; zone is empty, it is the same in all."""
        return pricing.on_demand_prices(self._price_list, self._region)
