"""Which nodes have a host port taken."""

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from nodewright.domain.host_ports import HostPort, conflicts
from nodewright.domain.pods import DaemonSet
from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.tiers import Tier, daemon_rows


class Ports:
    """Taken ports by number and protocol, then by site."""

    def __init__(self) -> None:
        self._taken: defaultdict[tuple[int, str], list[tuple[HostPort, int]]] = defaultdict(list)

    def take(self, ports: Iterable[HostPort], site: int) -> None:
        """These are taken there."""
        for port in ports:
            self._taken[port.port, port.protocol].append((port, site))

    def refuse(self, wanted: Iterable[HostPort]) -> frozenset[int]:
        """Sites where one of the wanted ports is taken."""
        return frozenset(
            site
            for port in wanted
            for taken, site in self._taken.get((port.port, port.protocol), ())
            if port.conflicts(taken)
        )


def clashing_rows(place: Tier, wanted: tuple[HostPort, ...], daemon_sets: Iterable[DaemonSet]) -> Bools:
    """Offerings on whose nodes a DaemonSet takes one of these ports (cases.md 12)."""
    mask = np.zeros(len(place.prices), dtype=np.bool_)
    clashing = [each for each in daemon_sets if any(conflicts(wanted, each.host_ports))]
    for daemon_set in clashing:
        mask |= daemon_rows(place, daemon_set)
    return mask
