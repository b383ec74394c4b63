"""Pods that came for expected ones are noted with the node that was bought for those."""

from dataclasses import replace

import pytest

from nodewright.adapters.memory import InMemoryLedger, RecordingObserver
from nodewright.application.adopting import MOST, adopt
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.plans import Nomination
from nodewright.domain.pods import PodKey
from nodewright.domain.retiring import begin
from tests.application.world import CLUSTER, NOW, connected
from tests.builders import claim

EXPECTED = (PodKey("default", "web-expected-0"),)
OLD, NEW = PodKey("default", "web-0"), PodKey("default", "web-1")


def bought(id: str = "l-00", **changes: object) -> NodeClaim:  # noqa: A002
    made = {"expected_pods": EXPECTED, "nominated_pods": (OLD,), "instance_id": f"i-{id}", "launch_id": "l", **changes}
    return claim(id, **made)


def adopted(*claims: NodeClaim, node: str = "l-00") -> list[tuple[PodKey, ...]]:
    ledger = InMemoryLedger()
    ledger.put_cluster(connected())
    blank = [replace(each, state=ClaimState.RESERVED, instance_id="", retirement=None) for each in claims]
    record = LaunchRecord("l", tuple(each.id for each in claims), "{}", NOW, NOW)
    ledger.reserve(CLUSTER, ledger.epoch(CLUSTER), record, blank)
    stored = tuple(ledger.save_claim(CLUSTER, replace(each, version=0)) for each in claims)
    adopt(CLUSTER, ledger, RecordingObserver(), stored, [Nomination(node, (OLD, NEW))])
    return [each.nominated_pods for each in ledger.claims(CLUSTER)]


def test_who_came_is_noted_once() -> None:
    assert adopted(bought()) == [(OLD, NEW)]
    assert adopted(bought(node_name="ip-1"), node="ip-1") == [(OLD, NEW)]


@pytest.mark.parametrize(
    "other",
    [
        bought(expected_pods=()),
        bought(instance_id="", state=ClaimState.RESERVED),
        bought(state=ClaimState.INITIALIZED),
        begin(bought(), "empty", NOW),
        bought("l-01"),
    ],
)
def test_other_nodes_are_left_as_they_are(other: NodeClaim) -> None:
    assert adopted(other) == [(OLD,)]


def test_a_run_writes_so_many_claims() -> None:
    every = [bought(f"l-{number:03d}", nominated_pods=()) for number in range(MOST + 5)]
    sent = [Nomination(each.id, (PodKey("default", each.id),)) for each in every]

    class Counting(InMemoryLedger):
        def save_claim(self, cluster: str, claim: NodeClaim) -> NodeClaim:  # noqa: ARG002
            return claim

    assert adopt(CLUSTER, Counting(), RecordingObserver(), every, sent) == MOST
