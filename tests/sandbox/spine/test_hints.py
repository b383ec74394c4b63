"""Hints that come twice, for clusters that don't answer, or whose run dies: nothing is bought twice or lost."""

import socket
from dataclasses import replace
from threading import Event

import pytest

from nodewright.domain.claims import ClaimState
from sandbox.world.world import CLUSTER
from tests.sandbox.spine.manifests import AMD64, ON_DEMAND, deployment, family, node_class, node_pool, pod
from tests.sandbox.spine.scene import Scene, now

pytestmark = pytest.mark.sandbox

M7I = (family("m7i"), AMD64, ON_DEMAND)


def test_a_hint_delivered_three_times_buys_one_set_of_nodes(scene: Scene) -> None:
    scene.apply(node_class(), node_pool(*M7I), deployment("web", 3, cpu="1500m"))
    for delivery in range(3):
        scene.hint("provision", f"delivery-{delivery}")

    scene.running(3)
    scene.quiet()
    bought = [each for each in scene.decisions() if each["launches"]]
    assert len(bought) == 1
    assert len(scene.instances()) == len(scene.claims()) == sum(each["nodes"] for each in bought[0]["launches"])


def test_a_cluster_that_does_not_answer_is_left_alone_and_delays_no_other(scene: Scene) -> None:
    lost = replace(scene.ledger.cluster(CLUSTER), name="lost", endpoint=f"https://127.0.0.1:{_closed_port()}")
    scene.ledger.put_cluster(lost)
    scene.hint("provision", "lost", cluster="lost")
    scene.hint("reconcile", "lost", cluster="lost")
    scene.apply(node_class(), node_pool(*M7I), pod("web"))

    scene.eventually(lambda: scene.ledger.cluster("lost").unreachable(now()), "the cluster to be marked")
    scene.running(1)
    scene.quiet()
    assert not scene.ledger.cluster(CLUSTER).unreachable(now())
    assert {each["cluster"] for each in scene.problems()} == {"lost"}
    assert all("doesn't answer" in each["reason"] for each in scene.problems())
    assert len(scene.problems()) <= 4 + 2 * scene.runs("tick")
    # It is left alone for a minute, then tried once more.
    scene.eventually(lambda: scene.world.lambdas.invoke("tick", {}).payload == {"clusters": 1}, "it to be left alone")


def test_a_run_killed_as_it_buys_is_finished_by_another_with_what_it_bought(
    scene: Scene, killed_at_launch: Event
) -> None:
    """EC2 has started the instances, nobody has heard its answer. The lease is cut short: it lasts 90 s."""
    scene.apply(node_class(), node_pool(*M7I), deployment("web", 2, cpu="1500m"))
    scene.eventually(killed_at_launch.is_set, "the run to be killed")
    (launch,) = scene.ledger.launches(CLUSTER)
    assert {claim.state for claim in scene.claims()} == {ClaimState.RESERVED}

    scene.ledger.hand_back_launch(CLUSTER, launch.id, now())
    scene.fire("Tick")

    scene.running(2)
    claims = scene.initialized(len(launch.claim_ids))
    assert [claim.id for claim in claims] == list(launch.claim_ids)
    assert {claim.instance_id for claim in claims} == {each["InstanceId"] for each in scene.instances()}
    assert scene.ledger.launches(CLUSTER) == ()
    assert [scene.ledger.owner(claim.instance_id) for claim in claims] == [(CLUSTER, claim.id) for claim in claims]


def test_provision_and_retire_may_call_themselves_and_no_other_function_may(scene: Scene) -> None:
    """They send messages to their own queues; Lambda would stop that after sixteen."""
    allowed = {name for name, spec in scene.world.lambdas.functions.items() if spec.recursive_loop_allowed}
    assert allowed == {scene.world.lambdas.find(verb).spec.logical_id for verb in ("provision", "retire")}
    assert scene.world.lambdas.loops_stopped("provision") == 0


def _closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port
