"""What a disrupt run decided, kept and told only when it is news."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from nodewright.application.errors import OutsideError
from nodewright.application.ports import Cluster, DecisionRecord, Ledger, Observer
from nodewright.domain.disruption.method import Blocked

#: Of the event on a pod that keeps a node.
BLOCKED_REASON = "DisruptionBlocked"
#: Nodes in one decision; the table's items have a size.
SHOWN = 50
#: How far back it is looked whether the same was said before.
REMEMBERED = 20


@dataclass(frozen=True, slots=True)
class Records:
    """Of one cluster. Best effort: what was decided must not fail because its story couldn't be written."""

    name: str
    ledger: Ledger
    cluster: Cluster
    observer: Observer

    def keep(self, blocked: Sequence[Blocked], now: datetime) -> None:
        """Nodes that are due and stay, each with the reason; the pod that keeps one hears of it."""
        self.observer.disruption_blocked(self.name, len(blocked))
        if not blocked:
            return
        try:
            if self._is_news(blocked, now):
                self._tell_pods(blocked, now)
        except OutsideError as error:
            self.observer.problem(self.name, "decision", str(error))

    def _is_news(self, blocked: Sequence[Blocked], now: datetime) -> bool:
        reasons = {_node(each): each.why for each in blocked[:SHOWN]}
        digest = hashlib.sha256(repr(sorted(reasons.items())).encode()).hexdigest()[:16]
        if any(known.id == digest for known in self.ledger.decisions(self.name, REMEMBERED)):
            return False
        summary = f"{len(blocked)} nodes are due and stay"
        self.ledger.record_decision(
            self.name, DecisionRecord(digest, now, "disrupt", summary, {"count": len(blocked), "blocked": reasons})
        )
        return True

    def _tell_pods(self, blocked: Sequence[Blocked], now: datetime) -> None:
        for each in blocked[:SHOWN]:
            if each.by is not None:
                message = f"node {_node(each)}: {each.why}"
                self.cluster.record_event(each.by.key, each.by.uid, BLOCKED_REASON, message, now)


def _node(blocked: Blocked) -> str:
    return blocked.candidate.node.name
