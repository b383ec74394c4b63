"""How long before a scheduled event its node begins to leave (cases.md 27)."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from nodewright.domain.durations import go_duration

SCHEDULED_EVENT_LEAD: Final = "nodewright.dev/scheduled-event-lead"
"""Annotation of a pool: `72h`, `30m`; 0 waits for the event itself."""
DEFAULT_LEAD: Final = timedelta(hours=24)
"""Events are announced two weeks ahead: most nodes have left for other reasons by the last day."""


def scheduled_event_lead(settings: Mapping[str, str]) -> timedelta:
    """Of a pool with these settings. ValueError says how to write one."""
    text = settings.get(SCHEDULED_EVENT_LEAD)
    if text is None:
        return DEFAULT_LEAD
    lead = go_duration(text)
    if lead is None:
        raise ValueError(f"annotation {SCHEDULED_EVENT_LEAD}: {text!r} is no duration; write it like 24h or 90m")
    return lead
