"""DescribeSpotPriceHistory from the price table, in real pages."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zlib import crc32

from sandbox.aws import offerings
from sandbox.aws.capacity import Offering
from sandbox.aws.gateway import Operations
from sandbox.aws.launch_templates import Raw
from sandbox.aws.pages import page
from sandbox.aws.prices import Prices
from sandbox.aws.protocol import Call

PAGE = 1000
PRODUCT = "Linux/UNIX"
# What a type cost before its last change.
EARLIER_FACTOR = Decimal("1.05")
EARLIER = timedelta(hours=20)


@dataclass(frozen=True, slots=True)
class SpotHistory:
    """Each type and zone changed its price once in the last half day, and once before that."""

    prices: Prices
    clock: Callable[[], datetime]

    def operations(self) -> Operations:
        """What is answered here instead of by moto."""
        return {("ec2", "DescribeSpotPriceHistory"): self._describe}

    def _describe(self, call: Call) -> object:
        parameters = call.parameters
        wanted = [
            row for row in self._rows(call.region, _instant(parameters, "StartTime")) if _matches(row, parameters)
        ]
        rows, token = page(wanted, parameters, PAGE)
        return {"SpotPriceHistory": rows, "NextToken": token or ""}

    def _rows(self, region: str, since: datetime | None) -> Iterator[Raw]:
        """Newest first for each offering; AWS gives the price in force at `since` and every one after it."""
        for instance_type in offerings.types_offered(region):
            for zone in sorted(offerings.zones_offering(region, instance_type)):
                if offerings.sold(region, Offering(instance_type, zone, "spot")):
                    yield from self._changes(instance_type, zone, since)

    def _changes(self, instance_type: str, zone: str, since: datetime | None) -> Iterator[Raw]:
        price = self.prices.spot(instance_type, zone)
        hour = self.clock().replace(minute=0, second=0, microsecond=0)
        changed = hour - timedelta(minutes=crc32(f"{zone}/{instance_type}".encode()) % 720)
        yield _row(instance_type, zone, price, changed)
        if since is None or since < changed:
            yield _row(instance_type, zone, price * EARLIER_FACTOR, changed - EARLIER)


def _row(instance_type: str, zone: str, price: Decimal, changed: datetime) -> Raw:
    return {
        "AvailabilityZone": zone,
        "InstanceType": instance_type,
        "ProductDescription": PRODUCT,
        "SpotPrice": f"{price:.6f}",
        "Timestamp": changed,
    }


def _instant(parameters: Raw, name: str) -> datetime | None:
    given: datetime | None = parameters.get(name)
    if given is None:
        return None
    return given if given.tzinfo else given.replace(tzinfo=UTC)


def _matches(row: Raw, parameters: Raw) -> bool:
    wanted = {
        "InstanceType": parameters.get("InstanceTypes"),
        "ProductDescription": parameters.get("ProductDescriptions"),
        "AvailabilityZone": [parameters["AvailabilityZone"]] if parameters.get("AvailabilityZone") else None,
    }
    for one in parameters.get("Filters") or ():
        wanted[_FILTERS[one["Name"]]] = one["Values"]
    return all(values is None or row[name] in values for name, values in wanted.items())


_FILTERS = {
    "instance-type": "InstanceType",
    "product-description": "ProductDescription",
    "availability-zone": "AvailabilityZone",
}
