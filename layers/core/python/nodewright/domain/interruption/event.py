"""What AWS tells about an instance, and the shape of a file that reads one kind of it.

An event describes itself: where it comes from, which of its kind are wanted (`pattern`, as EventBridge
understands it) and what it means. infra builds one rule per member of EVENTS, so the stack can't
send what nobody reads, or leave out what somebody does.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from nodewright.domain.retirement import Reason

Raw = Mapping[str, object]

#: After that whatever a warning warned of has happened, or came to nothing (cases.md 23; users-ask 18).
STALE_AFTER: Final = timedelta(minutes=10)


class UnreadableEventError(Exception):
    """An event of a kind we know lacks what it must have; the message names event, field and what is there."""


@dataclass(frozen=True, slots=True)
class Interruption:
    """What one event means for the instances it names."""

    event_id: str
    reason: Reason
    instance_ids: tuple[str, ...]
    noticed: datetime
    """When AWS sent it; never later than when it was read, whatever the clocks say."""
    retires: bool = True
    """Its nodes go. Otherwise it is a hint about their offering."""
    withdraws: bool = False
    """What an earlier event of this reason announced isn't going to happen."""
    cools_down: bool = False
    """EC2 is short of the offerings its instances are of."""
    deadline: datetime | None = None
    """When EC2 takes the instance. None: it already has, or nobody knows."""
    scheduled: bool = False
    """Announced long before its deadline: retirement begins the pool's lead ahead of it, and not at once."""
    stale_at: datetime | None = None
    """From then on it is worth nothing; None: it stays true."""
    common: bool = False
    """AWS sends it for every instance of the account, so a stranger isn't worth a look at its tags."""

    def is_stale(self, now: datetime) -> bool:
        """Whether it came too late to be acted upon."""
        return self.stale_at is not None and now >= self.stale_at


class Event(Protocol):
    """One kind of event."""

    @property
    def name(self) -> str:
        """One CamelCase word: of its rule in the stack, and in metrics."""
        ...

    @property
    def source(self) -> str:
        """`aws.ec2`."""
        ...

    @property
    def detail_type(self) -> str:
        """As EventBridge names the kind."""
        ...

    @property
    def pattern(self) -> Raw:
        """Which of the kind are wanted: EventBridge's pattern for `detail`; empty for all."""
        ...

    def read(self, raw: Raw, now: datetime) -> Interruption | None:
        """What it means; None where it means nothing to us. UnreadableEventError."""
        ...


def detail(raw: Raw) -> Raw:
    """What is particular to the event."""
    found = raw.get("detail")
    if not isinstance(found, Mapping):
        raise unreadable(raw, "detail", found)
    return found


def instance_id(raw: Raw) -> str:
    """From `detail`: the ARN in `resources` has had its zone in the region's place (cases.md 24)."""
    found = detail(raw).get("instance-id")
    if not isinstance(found, str) or not is_instance_id(found):
        raise unreadable(raw, "detail.instance-id", found)
    return found


def is_instance_id(text: str) -> bool:
    """`i-` and what EC2 makes up; so no volume, no host, no fragment."""
    return _INSTANCE_ID.fullmatch(text) is not None


def event_id(raw: Raw) -> str:
    """The same for every delivery of one event."""
    found = raw.get("id")
    if not isinstance(found, str) or not found:
        raise unreadable(raw, "id", found)
    return found


def noticed(raw: Raw, now: datetime) -> datetime:
    """When it was sent. Without a time it counts as sent now, as it does when it comes from the future."""
    text = raw.get("time")
    if not isinstance(text, str):
        return now
    try:
        sent = datetime.fromisoformat(text)
    except ValueError:
        return now
    return min(sent, now) if sent.tzinfo else now


def unreadable(raw: Raw, field: str, found: object) -> UnreadableEventError:
    """The error of a field that isn't as AWS documents it."""
    shown = "is missing" if found is None else f"is {str(found)[:80]!r}"
    return UnreadableEventError(f"event {raw.get('detail-type')!r} {raw.get('id')!r}: {field} {shown}; dropped")


_INSTANCE_ID: Final = re.compile(r"i-[0-9a-z]+")
