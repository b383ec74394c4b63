"""tick, ready to run."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from nodewright.application.tick import tick
from nodewright.telemetry import Telemetry
from nodewright.wiring.state import base


@dataclass(frozen=True, slots=True)
class TickFunction:
    """The use case with its telemetry."""

    use: Callable[[datetime], int]
    telemetry: Telemetry


def tick_function() -> TickFunction:
    """Made at cold start."""
    parts = base("tick")
    return TickFunction(lambda now: tick(parts.ledger, parts.hints, now), parts.telemetry)
