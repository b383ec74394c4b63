"""Usage set right: what is counted towards limits, against the claims themselves (architecture §4, rule 1)."""

from collections.abc import Mapping

from nodewright.application.errors import ConflictError, RefusedError
from nodewright.application.ports import Ledger, Observer
from nodewright.domain.claims import NodeClaim
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import usage_of


def recount(cluster: str, ledger: Ledger, observer: Observer) -> tuple[NodeClaim, ...]:
    """Count anew, and write only where the ledger says something else; the claims that were counted.

    Epoch, usage, claims are read in this order: nothing can be reserved unseen, and what is given back
    meanwhile is counted for a minute too long at worst.
    """
    epoch = ledger.epoch(cluster)
    told = _told(cluster, ledger, observer)
    claims = ledger.claims(cluster)
    counted = usage_of(claims)
    if told == counted:
        return claims
    try:
        ledger.set_usage(cluster, epoch, counted)
    except ConflictError:
        return claims  # a planner was at work: the next run counts again
    if told is not None:
        wrong = sorted(pool for pool in {*told, *counted} if told.get(pool) != counted.get(pool))
        observer.problem(cluster, "usage", f"of {', '.join(wrong)} it was not that of the claims; it was set right")
    return claims


def _told(cluster: str, ledger: Ledger, observer: Observer) -> Mapping[str, Resources] | None:
    """What the ledger says; None where it can't be read."""
    try:
        return ledger.usage(cluster)
    except RefusedError as error:
        observer.problem(cluster, "usage", f"{error}; it is counted anew")
        return None
