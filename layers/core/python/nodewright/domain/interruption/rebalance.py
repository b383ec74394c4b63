"""A spot instance is at elevated risk: a weak hint, as most never end in an interruption (users-ask 17, 18)."""

from dataclasses import dataclass, field
from datetime import datetime

from nodewright.domain.interruption.event import STALE_AFTER, Interruption, Raw, event_id, instance_id, noticed


@dataclass(frozen=True, slots=True)
class Rebalance:
    """Its offering cools down, so that nothing more is bought there; the node serves on."""

    name: str = "Rebalance"
    source: str = "aws.ec2"
    detail_type: str = "EC2 Instance Rebalance Recommendation"
    pattern: Raw = field(default_factory=dict)

    def read(self, raw: Raw, now: datetime) -> Interruption:
        """Every one of them."""
        sent = noticed(raw, now)
        return Interruption(
            event_id(raw),
            "rebalance",
            (instance_id(raw),),
            sent,
            retires=False,
            cools_down=True,
            stale_at=sent + STALE_AFTER,
        )


REBALANCE = Rebalance()
