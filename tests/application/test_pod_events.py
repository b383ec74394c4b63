"""Reconcile notices that pods came to nodes or left them."""

from dataclasses import replace

import pytest

from nodewright.adapters.memory import InMemoryLedger
from nodewright.application.pod_events import EVENTS_PER_RUN, record_pod_events
from nodewright.application.ports import ClusterState
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.retiring import begin
from tests.application.disrupting import MINUTE, Scene, web
from tests.application.world import CLUSTER
from tests.builders import NOW, claim, daemon_pod, node, pod


def test_a_node_counts_from_its_initialization_and_then_from_each_coming_and_going() -> None:
    scene = Scene(*web())
    (first,) = scene.world.claims
    assert first.last_pod_event is not None
    scene.world.later(MINUTE)
    scene.world.reconcile()
    assert scene.world.claims == (first,)
    scene.world.later(MINUTE)
    scene.empty()
    (then,) = scene.world.claims
    assert then.last_pod_event is not None
    assert then.last_pod_event - first.last_pod_event >= 2 * MINUTE
    assert then.pods_hash != first.pods_hash


def test_a_node_that_is_not_initialized_has_none() -> None:
    scene = Scene()
    scene.replicas = 1
    scene.world.cluster.add(*web())
    scene.world.provision()
    scene.world.join(ready=False)
    scene.world.reconcile()
    assert [(each.pods_hash, each.last_pod_event) for each in scene.world.claims] == [("", None)]


@pytest.mark.parametrize("what", ["daemon", "elsewhere"])
def test_neither_daemons_nor_pods_of_other_nodes_count(what: str) -> None:
    scene = Scene(*web())
    (before,) = scene.world.claims
    there = {"daemon": daemon_pod("agent-x", before.node_name, "agent"), "elsewhere": pod("other", node_name="m")}
    scene.world.cluster.add(there[what])
    scene.world.later(MINUTE)
    scene.world.reconcile()
    assert scene.world.claims == (before,)


def test_of_a_node_that_leaves_nothing_is_written() -> None:
    scene = Scene(*web())
    (before,) = scene.world.claims
    begun = begin(before, "rebalance", scene.world.clock.now())
    assert begun is not None
    (leaving,) = scene.world.ledger.start_retirements(CLUSTER, [begun], None)
    scene.empty()
    assert [each.pods_hash for each in scene.world.claims] == [leaving.pods_hash]


def test_one_that_somebody_changes_at_this_moment_is_left_for_the_next_run() -> None:
    ledger = InMemoryLedger()
    here = claim("c", state=ClaimState.INITIALIZED, node_name="n")
    ledger.reserve(CLUSTER, 0, LaunchRecord("l", (), "", NOW, NOW), [here])
    known = ledger.claims(CLUSTER)
    ledger.save_claim(CLUSTER, replace(here, zone="b"))
    state = ClusterState((node("n"),), (), (), (), ())
    assert record_pod_events(CLUSTER, ledger, state, known, NOW) == (here,)
    assert ledger.claim(CLUSTER, "c").pods_hash == ""


def test_after_a_great_change_the_rest_is_written_by_the_next_run() -> None:
    ledger = InMemoryLedger()
    many = [claim(f"c-{n}", state=ClaimState.INITIALIZED, node_name=f"n-{n}") for n in range(EVENTS_PER_RUN + 10)]
    for start in range(0, len(many), 90):
        ledger.reserve(CLUSTER, start // 90, LaunchRecord(f"l-{start}", (), "", NOW, NOW), many[start : start + 90])
    state = ClusterState(tuple(node(each.node_name) for each in many), (), (), (), ())
    seen = [sum(bool(claim.pods_hash) for claim in recorded(ledger, state)) for _ in range(2)]
    assert seen == [EVENTS_PER_RUN, len(many)]


def recorded(ledger: InMemoryLedger, state: ClusterState) -> tuple[NodeClaim, ...]:
    return record_pod_events(CLUSTER, ledger, state, ledger.claims(CLUSTER), NOW)
