"""What an hour of an instance costs in the sandbox. Sources and rules: data/README.md."""

import csv
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from zlib import crc32

from moto.ec2.models.instance_types import INSTANCE_TYPES

# The middle ratio of Seoul's prices to Virginia's, over the types the data has for both.
SEOUL_MARKUP = Decimal("1.23")
UNKNOWN_PER_VCPU = Decimal("0.05")
SPOT_SHARE_MIN = Decimal("0.30")
SPOT_SHARE_RANGE = Decimal("0.15")
MICRO_DOLLAR = Decimal("0.000001")


class Prices:
    """The price table of one region; a test may set prices of its own."""

    def __init__(self, region: str) -> None:
        self.region = region
        self._on_demand: dict[str, Decimal] = {}
        self._spot: dict[tuple[str, str], Decimal] = {}

    def on_demand(self, instance_type: str) -> Decimal:
        """USD per hour, on demand."""
        own = self._on_demand.get(instance_type)
        return own if own is not None else _listed(self.region, instance_type)

    def spot(self, instance_type: str, zone: str) -> Decimal:
        """USD per hour, spot, in a zone."""
        own = self._spot.get((instance_type, zone))
        return (
            own
            if own is not None
            else (self.on_demand(instance_type) * _share(instance_type, zone)).quantize(MICRO_DOLLAR)
        )

    def set_on_demand(self, instance_type: str, price: Decimal | str) -> None:
        """Sell a type at this price on demand; spot prices not set follow it."""
        self._on_demand[instance_type] = Decimal(price)

    def set_spot(self, instance_type: str, zone: str, price: Decimal | str) -> None:
        """Sell spot of a type in a zone at this price."""
        self._spot[instance_type, zone] = Decimal(price)

    def clear(self) -> None:
        """Back to the data's prices."""
        self._on_demand.clear()
        self._spot.clear()


def _listed(region: str, instance_type: str) -> Decimal:
    row = _table().get(instance_type, {})
    if price := row.get(region):
        return price
    virginia = row.get("us-east-1") or UNKNOWN_PER_VCPU * _vcpus(instance_type)
    return (virginia * SEOUL_MARKUP).quantize(MICRO_DOLLAR) if region == "ap-northeast-2" else virginia


def _vcpus(instance_type: str) -> int:
    described = INSTANCE_TYPES.get(instance_type)
    return int(described["VCpuInfo"]["DefaultVCpus"]) if described else 1


def _share(instance_type: str, zone: str) -> Decimal:
    """A share that looks arbitrary and never changes."""
    return SPOT_SHARE_MIN + SPOT_SHARE_RANGE * (crc32(f"{instance_type}/{zone}".encode()) % 1000) / 1000


@cache
def _table() -> Mapping[str, Mapping[str, Decimal]]:
    text = (files("sandbox.aws") / "data" / "on-demand.csv").read_text()
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {
        row.pop("instance_type"): {region: Decimal(price) for region, price in row.items() if price} for row in rows
    }
