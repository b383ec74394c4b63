"""AWS Health announces maintenance or the end of hardware, days ahead, for many instances at once (cases.md 27)."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from nodewright.domain.interruption.event import (
    Interruption,
    Raw,
    detail,
    event_id,
    is_instance_id,
    noticed,
    unreadable,
)

#: Until an event that says no start is taken to begin: long enough to leave in good order.
UNDATED_GRACE: Final = timedelta(hours=1)


def _pattern() -> Raw:
    return {"service": ["EC2"], "eventTypeCategory": ["scheduledChange"]}


@dataclass(frozen=True, slots=True)
class ScheduledEvent:
    """Nodes leave gracefully from a settable time before the start on, and are gone by then.

    AWS Health tells the same event again as it comes near, changes or is closed; a closed one is withdrawn.
    """

    name: str = "ScheduledEvent"
    source: str = "aws.health"
    detail_type: str = "AWS Health Event"
    pattern: Raw = field(default_factory=_pattern)

    def read(self, raw: Raw, now: datetime) -> Interruption | None:
        """None for other services, for mere news, and where no instance is affected any more."""
        told = detail(raw)
        if told.get("service") != "EC2" or told.get("eventTypeCategory") != "scheduledChange":
            return None
        closed = told.get("statusCode") == "closed"
        affected = tuple(dict.fromkeys(_affected(raw, told, closed=closed)))
        if not affected:
            return None
        return Interruption(
            event_id(raw),
            "scheduled-event",
            affected,
            noticed(raw, now),
            retires=not closed,
            withdraws=closed,
            deadline=_start(raw, told, now),
            scheduled=True,
        )


def _affected(raw: Raw, told: Raw, *, closed: bool) -> Iterator[str]:
    """Instances only: hosts and volumes are affected too. One that is resolved still hears that all is over."""
    entities = told.get("affectedEntities", ())
    if not isinstance(entities, list | tuple):
        raise unreadable(raw, "detail.affectedEntities", entities)
    for entity in entities:
        if isinstance(entity, Mapping) and (closed or entity.get("status") != "RESOLVED"):
            value = entity.get("entityValue")
            if isinstance(value, str) and is_instance_id(value):
                yield value


def _start(raw: Raw, told: Raw, now: datetime) -> datetime:
    """`Wed, 15 Jan 2031 10:00:00 GMT`, as AWS Health writes it; ISO 8601, as its API does."""
    text = told.get("startTime")
    if text is None or text == "":
        return now + UNDATED_GRACE
    for parse in (parsedate_to_datetime, datetime.fromisoformat):
        with contextlib.suppress(ValueError):
            start = parse(str(text))
            if start.tzinfo is not None:
                return start
    raise unreadable(raw, "detail.startTime", text)


HEALTH = ScheduledEvent()
