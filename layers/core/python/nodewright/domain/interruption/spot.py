"""EC2 takes a spot instance back in two minutes (karpenter-behaviour §8.12)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
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

#: How long before it acts EC2 says so. Hibernation begins at once: EC2's own notice promises no lead.
_LEADS: Final[Mapping[object, timedelta]] = {
    "terminate": timedelta(minutes=2),
    "stop": timedelta(minutes=2),
    "hibernate": timedelta(),
}


@dataclass(frozen=True, slots=True)
class SpotInterruption:
    """The node goes at once, whatever EC2 is going to do with its instance, and its offering cools down."""

    name: str = "SpotInterruption"
    source: str = "aws.ec2"
    detail_type: str = "EC2 Spot Instance Interruption Warning"
    pattern: Raw = field(default_factory=dict)

    def read(self, raw: Raw, now: datetime) -> Interruption:
        """Every one of them."""
        action = detail(raw).get("instance-action")
        if not isinstance(action, str) or action not in _LEADS:
            raise unreadable(raw, "detail.instance-action", action)
        sent = noticed(raw, now)
        return Interruption(
            event_id(raw),
            "spot-interruption",
            (instance_id(raw),),
            sent,
            cools_down=True,
            deadline=sent + _LEADS[action],
            stale_at=sent + STALE_AFTER,
        )


SPOT = SpotInterruption()
