import pytest

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.disruption.candidates import candidates, objecting
from nodewright.domain.nodes import Node
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.pods import DO_NOT_DISRUPT, Pod
from nodewright.domain.pools import NodePool
from nodewright.domain.requirements import Requirements
from nodewright.domain.retiring import begin
from tests.builders import NOW, claim, daemon_pod, node, pod, pool

HELD = {DO_NOT_DISRUPT: "true"}


def member(**changes: object) -> NodeClaim:
    return claim("c", **{"state": ClaimState.INITIALIZED, "node_name": "n", **changes})


def test_a_node_is_judged_with_its_pool_and_pods() -> None:
    here, there, done = pod("a", node_name="n"), pod("b", node_name="m"), pod("c", node_name="n", phase="Succeeded")
    (found,) = candidates([member()], [node("n")], [pool()], [here, there, done, pod("waiting")])
    assert (found.claim, found.node, found.pool, found.pods) == (member(), node("n"), pool(), (here,))


@pytest.mark.parametrize("state", [ClaimState.RESERVED, ClaimState.LAUNCHED, ClaimState.REGISTERED])
def test_one_that_starts_is_none(state: ClaimState) -> None:
    assert candidates([member(state=state)], [node("n")], [pool()], ()) == ()


@pytest.mark.parametrize(
    ("of", "on", "by"),
    [
        (begin(member(), "rebalance", NOW), node("n"), pool()),
        (begin(member(), "scheduled-event", NOW, not_before=NOW.replace(year=2027)), node("n"), pool()),
        (member(), node("n", terminating=True), pool()),
        (member(), node("m"), pool()),
        (member(), node("n"), pool("other")),
        (member(), node("n"), pool(terminating=True)),
        (member(), node("n", annotations=HELD), pool()),
        (member(), node("n"), pool(annotations=HELD)),
    ],
)
def test_neither_is_one_that_leaves_already_has_no_node_or_pool_or_is_kept_by_annotation(
    of: NodeClaim, on: Node, by: NodePool
) -> None:
    assert candidates([of], [on], [by], ()) == ()


def test_the_annotation_keeps_it_only_when_true() -> None:
    assert candidates([member()], [node("n", annotations={DO_NOT_DISRUPT: "false"})], [pool()], ())


def budget(allowed: int, name: str = "pdb") -> PodDisruptionBudget:
    return PodDisruptionBudget("default", name, Requirements.from_labels({"app": "db"}), allowed)


DB = pod("db-0", labels={"app": "db"}, node_name="n")


@pytest.mark.parametrize(
    ("pods", "budgets", "why"),
    [
        ((DB,), (budget(1),), None),
        ((DB,), (budget(0),), "default/db-0 is held by budget pdb"),
        ((DB,), (budget(1), budget(1, "second")), "covered by several budgets: pdb, second"),
        ((pod("job", annotations=HELD),), (), f"default/job forbids it by annotation {DO_NOT_DISRUPT}"),
        ((daemon_pod("agent-x", "n", "agent", annotations=HELD),), (), "kube-system/agent-x forbids it"),
        ((pod("job", annotations={DO_NOT_DISRUPT: "false"}),), (), None),
        ((pod("job", annotations=HELD, phase="Succeeded"),), (), None),
    ],
)
def test_pods_object_by_annotation_and_by_budgets(
    pods: tuple[Pod, ...], budgets: tuple[PodDisruptionBudget, ...], why: str | None
) -> None:
    found = objecting(pods, budgets, NOW)
    assert [each.pod for each in found] == ([pods[0]] if why else [])
    assert all(why in each.why for each in found if why)
