"""What reconcile does about nodes that nobody answers for any more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.application.errors import OutsideError
from nodewright.application.marking import Marker
from nodewright.application.orphans import Before, Orphans
from nodewright.application.overdue import Overdue
from nodewright.application.ports import Fleet, Observer
from nodewright.application.retirement_ports import NodeLedger, RetiringCluster
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.domain.nodes import Node
from nodewright.domain.retirement import DISRUPTED
from nodewright.domain.stale_taints import may_be_at_work, stale_marks


@dataclass(frozen=True, slots=True)
class Upkeep:
    """One duty's trouble keeps no other from being done; it is told, and the next run tries again."""

    ledger: NodeLedger
    fleet: Fleet
    starts: RetirementStarts
    observer: Observer

    def keep(self, name: str, cluster: RetiringCluster, before: Before, nodes: Sequence[Node], now: datetime) -> None:
        """What was read before the nodes, so that one that registers meanwhile doesn't look overdue."""
        orphans = Orphans(self.ledger, self.fleet, self.starts, self.observer)
        self._try(name, "overdue", lambda: Overdue(self.starts, self.observer).follow(name, before.claims, nodes, now))
        self._try(name, "orphans", lambda: orphans.follow(name, before, nodes, now))
        self._try(name, "stale-taints", lambda: self._unmark(name, cluster, nodes, now))

    def _unmark(self, name: str, cluster: RetiringCluster, nodes: Sequence[Node], now: datetime) -> int:
        """Marks whose run died before it started their retirement. Claims are read after the nodes: see Marker."""
        marked = [node for node in nodes if DISRUPTED in node.taints]
        if not marked or may_be_at_work(self.ledger.last_run(name, "disrupt"), now):
            return 0
        stale = stale_marks(marked, self.ledger.claims(name))
        for node, claim in stale:
            Marker(name, self.ledger, cluster).unmark(node.name, claim)
        return len(stale)

    def _try(self, name: str, what: str, duty: Callable[[], int]) -> None:
        try:
            duty()
        except OutsideError as error:
            self.observer.problem(name, what, f"{error}; the next run tries again")
