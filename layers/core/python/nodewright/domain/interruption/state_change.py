"""An instance stops or ends, whoever wanted it (cases.md 26)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from nodewright.domain.interruption.event import (
    STALE_AFTER,
    Interruption,
    Raw,
    detail,
    event_id,
    instance_id,
    noticed,
    unreadable,
)
from nodewright.domain.retirement import Reason

_LEAVING: Final[Mapping[str, Reason]] = {
    "stopping": "instance-stopped",
    "stopped": "instance-stopped",
    "shutting-down": "instance-gone",
    "terminated": "instance-gone",
}
_STAYING: Final = frozenset({"pending", "running"})


def _pattern() -> Raw:
    # In whatever case: EC2's own documentation doesn't promise one.
    return {"state": [{"equals-ignore-case": state} for state in _LEAVING]}


@dataclass(frozen=True, slots=True)
class StateChange:
    """Nothing runs there any more: no drain, only a replacement and what is to be cleaned up.

    A stopped instance may have been started again by the time an event comes late; an ended one stays ended.
    """

    name: str = "StateChange"
    source: str = "aws.ec2"
    detail_type: str = "EC2 Instance State-change Notification"
    pattern: Raw = field(default_factory=_pattern)

    def read(self, raw: Raw, now: datetime) -> Interruption | None:
        """None for an instance that starts or runs."""
        state = detail(raw).get("state")
        known = state.lower() if isinstance(state, str) else ""
        if known in _STAYING:
            return None
        if known not in _LEAVING:
            raise unreadable(raw, "detail.state", state)
        reason, sent = _LEAVING[known], noticed(raw, now)
        stale_at = sent + STALE_AFTER if reason == "instance-stopped" else None
        return Interruption(event_id(raw), reason, (instance_id(raw),), sent, stale_at=stale_at, common=True)


STATE_CHANGE = StateChange()
