"""Each minute, one hint per connected cluster: what every webhook may miss, reconcile finds."""

from datetime import datetime

from nodewright.application.ports import Hints, Ledger


def tick(ledger: Ledger, hints: Hints, now: datetime) -> int:
    """Send the hints; returns how many. Paused and unreachable clusters get none."""
    awake = [c for c in ledger.clusters() if not c.paused and not c.unreachable(now)]
    for cluster in awake:
        hints.send(cluster.name, "reconcile", now)
    return len(awake)
