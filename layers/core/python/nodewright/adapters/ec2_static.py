"""Figures of instance types that AWS publishes but DescribeInstanceTypes leaves out; shipped as a small table.

The file's head names date and source. A type that came later is unknown: it gets no branch interfaces,
and no bandwidth where EC2 itself doesn't say it.
"""

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Final, NamedTuple

_FILE: Final = "data/instance-type-limits.tsv"
_UNKNOWN: Final = "-"


class StaticLimits(NamedTuple):
    """One instance type."""

    branch_interfaces: int = 0
    """For security groups of pods; 0 where unknown or not trunking compatible."""
    network_bandwidth_mbps: int | None = None
    """Baseline."""


def static_limits(instance_type: str) -> StaticLimits:
    """What the table has of a type; reads it at the first call."""
    return _table().get(instance_type, StaticLimits())


@functools.cache
def _table() -> Mapping[str, StaticLimits]:
    text = resources.files("nodewright.adapters").joinpath(_FILE).read_text()
    _columns, *rows = (line.split("\t") for line in text.splitlines() if not line.startswith("#"))
    return {name: StaticLimits(_number(branches) or 0, _number(bandwidth)) for name, branches, bandwidth in rows}


def _number(cell: str) -> int | None:
    return None if cell == _UNKNOWN else int(cell)
