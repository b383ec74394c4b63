"""What DaemonSets will take of a node before any pod comes (cases.md 2)."""

from collections.abc import Iterable, Sequence

import numpy as np

from nodewright.domain.pods import DaemonSet
from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.offerings import Market
from nodewright.domain.taints import untolerated


def runs_on(market: Market, daemon_set: DaemonSet) -> Bools:
    """Rows on whose nodes it will have a pod.

    Startup taints don't matter: they go, and the DaemonSet's pod comes.
    """
    if untolerated(daemon_set.tolerations, market.pool.taints):
        return np.zeros(market.shelf.rows, dtype=np.bool_)
    return market.columns.admits_any(daemon_set.alternatives)


def overhead(market: Market, daemon_sets: Iterable[DaemonSet], resources: Sequence[str]) -> Ints:
    """Rows × resources: the sum of the DaemonSets that will run on a node of each row.

    Exact per offering, so also where one selects a type, a zone or a capacity type.
    """
    total = np.zeros((market.shelf.rows, len(resources)), dtype=np.int64)
    for daemon_set in daemon_sets:
        amounts = np.array([daemon_set.requests.get(resource) for resource in resources], dtype=np.int64)
        total += runs_on(market, daemon_set)[:, None] * amounts
    return total
