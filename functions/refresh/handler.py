"""Schedules → refresh."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from nodewright.wiring.refresh import refresh_function

function = refresh_function()


def handler(event: Mapping[str, Sequence[str]], _context: object) -> Mapping[str, str]:
    """`{"refresh": ["types", …]}` names the parts; none means all."""
    with function.telemetry.recording():
        return function.use(tuple(event.get("refresh") or ()), datetime.now(UTC))
