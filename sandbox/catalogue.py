"""Makes the catalogue that `nodewright plan` carries with it: `python -m sandbox.catalogue`.

Instance types and the zones that offer them are moto's records of EC2's own answers; on-demand prices and their
dates are those of sandbox/aws/data. A type whose price in a region isn't known is left out of that region.
"""

import csv
import gzip
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Final

import msgspec

from nodewright.adapters.instance_type_facts import to_facts
from nodewright.domain.instance_facts import InstanceFacts
from sandbox.aws import offerings

ROOT: Final = Path(__file__).parents[1]
PRICES: Final = ROOT / "sandbox/aws/data/on-demand.csv"
TARGET: Final = ROOT / "layers/core/python/nodewright/adapters/data"
#: Region → when its prices were taken.
REGIONS: Final = {"us-east-1": "2026-07-20", "ap-northeast-2": "2025-03-02"}


def main() -> None:
    """Write every file."""
    for name, content in contents().items():
        (TARGET / name).write_bytes(content)


def contents() -> dict[str, bytes]:
    """File name → its bytes, the same each time."""
    prices = {region: _prices(region) for region in REGIONS}
    facts = {f.name: f for name in sorted(set().union(*prices.values())) if (f := _facts(name))}
    types = [_without_defaults(each) for each in facts.values()]
    made: dict[str, object] = {"ec2-types.json.gz": types}
    for region, taken in REGIONS.items():
        sold = {name: price for name, price in prices[region].items() if name in facts}
        zones = {name: sorted(offerings.zones_offering(region, name)) for name in sold}
        made[f"ec2-{region}.json.gz"] = {"prices_taken": taken, "on_demand": sold, "zones": zones}
    return {name: gzip.compress(msgspec.json.encode(content), mtime=0) for name, content in made.items()}


def _prices(region: str) -> dict[str, str]:
    """Of the types that some zone of the region offers."""
    with PRICES.open() as lines:
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        known = {row["instance_type"]: row[region] for row in rows if row[region]}
    return {name: known[name] for name in sorted(known) if offerings.zones_offering(region, name)}


def _facts(name: str) -> InstanceFacts | None:
    described = offerings.described(name)
    return to_facts(described) if "hvm" in described.get("SupportedVirtualizationTypes", ()) else None  # type: ignore[arg-type]


def _without_defaults(facts: InstanceFacts) -> Mapping[str, object]:
    return dict(_set_fields(facts))


def _set_fields(facts: InstanceFacts) -> Iterator[tuple[str, object]]:
    for field in fields(facts):
        value = getattr(facts, field.name)
        if value != field.default:
            yield field.name, value


if __name__ == "__main__":
    main()
