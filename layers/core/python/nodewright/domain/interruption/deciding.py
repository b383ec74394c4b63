"""What an interruption means for one claim, whatever was known of it before."""

from dataclasses import replace
from datetime import datetime, timedelta

from nodewright.domain.claims import NodeClaim
from nodewright.domain.interruption.event import Interruption
from nodewright.domain.retiring import begin


def retiring(claim: NodeClaim, told: Interruption, lead: timedelta, now: datetime) -> NodeClaim | None:
    """The claim with the retirement this asks for; None when nothing is to be changed.

    Events come twice and out of order: one as pressing that is under way stays as it is. `lead` is the pool's,
    for a scheduled event, which is told again when its time has changed.
    """
    if not told.scheduled or told.deadline is None:
        return begin(claim, told.reason, now, deadline=told.deadline)
    begins, known = max(told.deadline - lead, now), claim.retirement
    if known is not None and known.reason == told.reason and not known.has_begun(now):
        if (known.not_before, known.deadline) == (begins, told.deadline):
            return None
        claim = replace(claim, retirement=None)
    elif known is not None:
        begins = min(begins, known.not_before)
    return begin(claim, told.reason, now, not_before=begins, deadline=told.deadline)
