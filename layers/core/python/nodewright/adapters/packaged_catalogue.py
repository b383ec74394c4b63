"""Instance types and prices that come with the package: a plan needs no AWS. sandbox/catalogue.py makes the files."""

import functools
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Final

import msgspec

from nodewright.application.node_class_resolution import ResolvedNodeClass
from nodewright.application.plan import BadInputError
from nodewright.application.ports import ManifestWarning
from nodewright.domain.capacity import PriceBook, instance_types
from nodewright.domain.catalogue import InstanceType
from nodewright.domain.instance_facts import InstanceFacts
from nodewright.domain.money import parse_usd
from nodewright.domain.plans import Plan

DEFAULT_REGION: Final = "us-east-1"
SPOT_PERCENT: Final = 40
"""Of the on-demand price. Spot prices move by zone and hour, typically within 30 and 45 %, so none are packaged."""

_FOLDER: Final = "data"
_PREFIX, _SUFFIX = "ec2-", ".json.gz"
_TYPES: Final = "types"


class _Region(msgspec.Struct):
    prices_taken: str
    on_demand: dict[str, str]
    zones: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PackagedCatalogue:
    """One region (implements Catalogue)."""

    name: str
    facts: tuple[InstanceFacts, ...]
    zones_by_type: Mapping[str, frozenset[str]]
    prices: PriceBook
    taken: str
    """The day of its on-demand prices."""

    @property
    def zones(self) -> tuple[str, ...]:
        """Those in which anything is sold, sorted."""
        return tuple(sorted(frozenset().union(*self.zones_by_type.values())))

    def instance_types(self, resolved: ResolvedNodeClass) -> tuple[InstanceType, ...]:
        """As production makes them of what EC2 says."""
        return instance_types(self.facts, resolved.node_class, self.zones_by_type, self.prices, resolved.zones)

    def remark(self, plan: Plan) -> tuple[ManifestWarning, ...]:
        """How old the prices are, and which of them are only estimated."""
        if not any(launch.capacity_type == "spot" for launch in plan.launches):
            return ()
        message = (
            f"spot prices are estimated at {SPOT_PERCENT} % of on-demand ({self.taken}): "
            "they move by zone and hour; give prices of yours with --catalogue"
        )
        return (ManifestWarning("catalogue", "", message),)


def regions() -> tuple[str, ...]:
    """Those that are packaged."""
    names = (each.name for each in resources.files("nodewright.adapters").joinpath(_FOLDER).iterdir())
    found = (n.removeprefix(_PREFIX).removesuffix(_SUFFIX) for n in names if n.startswith(_PREFIX))
    return tuple(sorted(name for name in found if name != _TYPES))


def packaged_catalogue(region: str) -> PackagedCatalogue:
    """BadInputError with the regions there are."""
    if region not in regions():
        known = ", ".join(regions())
        raise BadInputError(f"no prices of region {region!r} are packaged, only of {known}; use --catalogue FILE")
    sold = msgspec.json.decode(_content(region), type=_Region)
    on_demand = {name: parse_usd(price) for name, price in sold.on_demand.items()}
    spot = {(n, z): price * SPOT_PERCENT // 100 for n, price in on_demand.items() for z in sold.zones[n]}
    return PackagedCatalogue(
        name=region,
        facts=tuple(each for each in _facts() if each.name in on_demand),
        zones_by_type={name: frozenset(zones) for name, zones in sold.zones.items()},
        prices=PriceBook(on_demand, spot),
        taken=sold.prices_taken,
    )


@functools.cache
def _facts() -> tuple[InstanceFacts, ...]:
    return msgspec.json.decode(_content(_TYPES), type=tuple[InstanceFacts, ...])


def _content(name: str) -> bytes:
    path = resources.files("nodewright.adapters").joinpath(_FOLDER, f"{_PREFIX}{name}{_SUFFIX}")
    return gzip.decompress(path.read_bytes())
