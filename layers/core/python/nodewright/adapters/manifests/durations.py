"""Durations as Karpenter's manifests write them: `720h`, `1h30m`, `Never`."""

import re
from datetime import timedelta

from nodewright.adapters.manifests.fields import Fields

_DURATION = re.compile(r"(?:[0-9]{1,9}[smh])+")
_PART = re.compile(r"([0-9]+)([smh])")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


def read_duration(fields: Fields, name: str, default: timedelta | None) -> timedelta | None:
    """A duration in hours, minutes and seconds; None for `Never`, the default where it is absent."""
    if name not in fields:
        return default
    try:
        return parse_duration(fields.text(name))
    except ValueError as error:
        fields.refuse(name, str(error))
        return default


def parse_duration(text: str) -> timedelta | None:
    """None for `Never`. ValueError says how to write one."""
    if text == "Never":
        return None
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is not a duration; write it like 720h, 1h30m or 300s, or Never")
    return timedelta(seconds=sum(int(number) * _SECONDS[unit] for number, unit in _PART.findall(text)))
