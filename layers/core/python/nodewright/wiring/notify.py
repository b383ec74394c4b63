"""notify, ready to run."""

from dataclasses import dataclass

from nodewright.application.notify import Notify
from nodewright.telemetry import Telemetry
from nodewright.wiring.state import base


@dataclass(frozen=True, slots=True)
class NotifyFunction:
    """The use case with its telemetry."""

    use: Notify
    telemetry: Telemetry


def notify_function() -> NotifyFunction:
    """Made at cold start."""
    parts = base("notify")
    return NotifyFunction(Notify(parts.ledger, parts.hints, parts.observer), parts.telemetry)
