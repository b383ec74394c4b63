"""Durations as Go writes them, which Kubernetes annotations use: `90s`, `1h30m`."""

import re
from datetime import timedelta
from typing import Final

_UNIT_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s)")


def go_duration(text: str) -> timedelta | None:
    """The duration, or None when it is none. `0` needs no unit."""
    if text == "0":
        return timedelta()
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return timedelta(seconds=sum(float(number) * _UNIT_SECONDS[unit] for number, unit in parts))
