"""What AWS tells about instances: one self-describing file per kind of event (style.md §6.4).

To add one: write its file, name it here, and put a sample of it into tests/events.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from nodewright.domain.interruption.event import Event, Interruption, UnreadableEventError
from nodewright.domain.interruption.health import HEALTH
from nodewright.domain.interruption.rebalance import REBALANCE
from nodewright.domain.interruption.spot import SPOT
from nodewright.domain.interruption.state_change import STATE_CHANGE

__all__ = ["EVENTS", "Event", "Interruption", "UnreadableEventError", "read"]

EVENTS: Final[tuple[Event, ...]] = (SPOT, REBALANCE, STATE_CHANGE, HEALTH)


def read(raw: object, now: datetime) -> Interruption | None:
    """What an EventBridge event means to us; None: nothing. UnreadableEventError when it isn't one, or a broken one."""
    if not isinstance(raw, Mapping) or "source" not in raw or "detail-type" not in raw:
        raise UnreadableEventError(f"no EventBridge event: {str(raw)[:200]!r}; dropped")
    for event in EVENTS:
        if raw["source"] == event.source and raw["detail-type"] == event.detail_type:
            return event.read(raw, now)
    return None
