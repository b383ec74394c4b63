"""Nodes that somebody deletes by hand take their instances along."""

from dataclasses import replace
from datetime import timedelta
from typing import cast

import pytest

from nodewright.adapters.memory import RecordedHints
from nodewright.application.errors import ConflictError, UnavailableError
from nodewright.application.node_deletions import NodeDeletions
from nodewright.application.retirement_ports import NodeLedger
from nodewright.application.retirement_starts import RetirementStarts
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.retirement import Step
from tests.application.retiring import Yard
from tests.application.world import CLUSTER
from tests.builders import NOW, claim, node
from tests.domain.retirements import HOUR, MINUTE, running


class Watched(Yard):
    """A yard whose nodes are looked after."""

    def follow(self, claims: tuple[NodeClaim, ...] | None = None) -> int:
        self.hints = RecordedHints()
        starts = RetirementStarts(cast(NodeLedger, self.ledger), self.hints, self.queue, self.clock)
        known = self.ledger.claims(CLUSTER) if claims is None else claims
        return NodeDeletions(starts).follow(CLUSTER, known, self.cluster.read().nodes, self.clock.now())


def test_a_node_that_is_there_is_left_alone() -> None:
    yard = Watched()
    assert yard.follow() == 0
    assert yard.claim.retirement is None


def test_a_node_deleted_by_hand_is_drained_and_takes_its_instance_along() -> None:
    yard = Watched(running("a"))
    yard.cluster.remove_node("n")
    assert yard.node.terminating, "our finalizer keeps it"
    assert yard.follow() == 1
    assert (yard.retirement.reason, yard.retirement.deadline) == ("node-deleted", None)
    yard.run_for(10 * MINUTE)
    assert yard.is_gone
    assert [key.name for key in yard.cluster.evictions] == ["a"]


def test_its_pods_are_given_places_at_once() -> None:
    yard = Watched(running("a"))
    yard.cluster.remove_node("n")
    yard.follow()
    assert [(hint.duty, hint.urgent) for hint in yard.hints.sent] == [("provision", True)]


def test_its_grace_period_is_its_deadline() -> None:
    yard = Watched(termination_grace_period=HOUR)
    yard.cluster.remove_node("n")
    yard.follow()
    assert yard.retirement.deadline == NOW + HOUR


def test_it_is_followed_up_once() -> None:
    yard = Watched(running("a"))
    yard.cluster.remove_node("n")
    assert yard.follow() == 1
    assert yard.follow() == 0
    assert len(yard.queue.waiting) == 1


def test_a_retirement_nobody_asked_for_gives_way_to_it() -> None:
    yard = Watched(running("a"))
    yard.retire("expired")
    yard.run_for(timedelta(seconds=1))
    yard.cluster.remove_node("n")
    assert yard.follow() == 1
    assert (yard.retirement.reason, yard.step) == ("node-deleted", Step.REPLACE)


def test_a_node_that_went_without_our_finalizer_takes_its_instance_along_too() -> None:
    yard = Watched()
    yard.cluster.finalized.clear()
    yard.cluster.remove_node("n")
    assert yard.follow() == 1
    yard.run_for(MINUTE)
    assert yard.is_gone


@pytest.mark.parametrize("state", [ClaimState.RESERVED, ClaimState.LAUNCHED])
def test_a_node_that_hasnt_joined_yet_is_not_missed(state: ClaimState) -> None:
    yard = Watched(state=state, node_name="", instance_id="" if state is ClaimState.RESERVED else "i-n")
    assert yard.follow() == 0


def test_one_that_registered_after_the_claims_were_read_is_not_missed() -> None:
    yard = Watched()
    before = (replace(yard.claim, state=ClaimState.LAUNCHED),)
    del yard.cluster.nodes["n"]
    assert yard.follow(before) == 0


def test_one_claim_that_changes_all_the_time_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    yard = Watched()
    yard.add(claim("d", instance_id="i-d", node_name="d", state=ClaimState.INITIALIZED))
    yard.cluster.add(node("d", terminating=True))
    yard.cluster.remove_node("n")
    store = yard.ledger.start_retirements

    def one_conflicts(name: str, claims: list[NodeClaim], epoch: int | None) -> tuple[NodeClaim, ...]:
        if claims[0].id == "c":
            raise ConflictError("changed")
        return store(name, claims, epoch)

    monkeypatch.setattr(yard.ledger, "start_retirements", one_conflicts)
    with pytest.raises(UnavailableError, match="claim c"):
        yard.follow()
    assert yard.ledger.claim(CLUSTER, "d").retirement is not None
