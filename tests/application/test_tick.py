from datetime import timedelta

from nodewright.adapters.memory import InMemoryLedger, RecordedHints
from nodewright.application.tick import tick
from tests.application.world import NOW, connected


def test_each_cluster_that_is_awake_gets_one_hint_to_reconcile() -> None:
    ledger, hints = InMemoryLedger(), RecordedHints()
    for cluster in (
        connected(name="a"),
        connected(name="b"),
        connected(name="paused", paused=True),
        connected(name="away", unreachable_until=NOW + timedelta(seconds=1)),
        connected(name="back", unreachable_until=NOW),
    ):
        ledger.put_cluster(cluster)
    assert tick(ledger, hints, NOW) == 3
    assert [(hint.cluster, hint.duty) for hint in hints.sent] == [
        ("a", "reconcile"),
        ("b", "reconcile"),
        ("back", "reconcile"),
    ]


def test_without_clusters_nothing_is_sent() -> None:
    hints = RecordedHints()
    assert tick(InMemoryLedger(), hints, NOW) == 0
    assert hints.sent == []
