from collections.abc import Mapping, Sequence

import pytest

from nodewright.adapters.memory import InMemoryLedger, RecordingObserver
from nodewright.application.errors import RefusedError
from nodewright.application.recounting import recount
from nodewright.domain.claims import LaunchRecord, NodeClaim
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import usage_of
from tests.application.provisioning import world
from tests.application.world import CLUSTER
from tests.builders import NOW, claim, pods, resources


def reserve(ledger: InMemoryLedger, *claims: NodeClaim) -> None:
    launch = LaunchRecord(f"l{ledger.epoch(CLUSTER)}", (), "", NOW, NOW)
    ledger.reserve(CLUSTER, ledger.epoch(CLUSTER), launch, claims)


def test_usage_that_is_right_is_not_written() -> None:
    ledger, observer = InMemoryLedger(), RecordingObserver()
    reserve(ledger, claim("a"), claim("b", pool="other"))
    assert recount(CLUSTER, ledger, observer) == ledger.claims(CLUSTER)
    assert (ledger.epoch(CLUSTER), observer.problems) == (1, [])


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"default": resources(cpu=1), "*": resources(cpu=1)},
        {"default": resources(cpu=-1), "ghost": resources(cpu=9)},
    ],
)
def test_usage_that_is_wrong_is_set_right_and_told(wrong: Mapping[str, Resources]) -> None:
    ledger, observer = InMemoryLedger(), RecordingObserver()
    reserve(ledger, claim("a"), claim("b", pool="other"))
    ledger.set_usage(CLUSTER, 1, wrong)
    assert recount(CLUSTER, ledger, observer) == ledger.claims(CLUSTER)
    assert ledger.usage(CLUSTER) == usage_of(ledger.claims(CLUSTER))
    assert ledger.epoch(CLUSTER) == 3
    ((_, what, message),) = observer.problems
    assert (what, "default" in message) == ("usage", True)


class UnreadableLedger(InMemoryLedger):
    def usage(self, cluster: str) -> Mapping[str, Resources]:
        raise RefusedError(f"table item CLUSTER#{cluster} / POOL#default, attribute cpu: not a number")


def test_usage_that_cannot_be_read_is_counted_anew_even_where_there_is_nothing() -> None:
    ledger, observer = UnreadableLedger(), RecordingObserver()
    assert recount(CLUSTER, ledger, observer) == ()
    assert ledger.epoch(CLUSTER) == 1
    assert "POOL#default, attribute cpu" in observer.problems[0][2]


class BusyLedger(InMemoryLedger):
    """A planner reserves while it is counted."""

    def claims(self, cluster: str) -> tuple[NodeClaim, ...]:
        found: Sequence[NodeClaim] = super().claims(cluster)
        reserve(self, claim(f"late-{self.epoch(cluster)}"))
        return tuple(found)


def test_what_was_reserved_meanwhile_is_never_counted_away() -> None:
    ledger, observer = BusyLedger(), RecordingObserver()
    ledger.set_usage(CLUSTER, 0, {"ghost": resources(cpu=9)})
    recount(CLUSTER, ledger, observer)
    assert ledger.usage(CLUSTER)["default"]["nodes"] == 1


def test_reconcile_counts_anew() -> None:
    here = world(*pods(2, cpu="900m"))
    here.provision()
    here.ledger.set_usage(CLUSTER, here.ledger.epoch(CLUSTER), {"default": resources(cpu=99)})
    here.reconcile()
    assert here.ledger.usage(CLUSTER) == usage_of(here.claims)
