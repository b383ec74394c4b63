"""What can't be used is said, with object, field and fix, and keeps nobody else from being served."""

import pytest

from tests.sandbox.spine.manifests import AMD64, ON_DEMAND, family, node_class, node_pool, pod, requirement
from tests.sandbox.spine.scene import Scene

pytestmark = pytest.mark.sandbox

M7I = (family("m7i"), AMD64, ON_DEMAND)
POOL_LABEL = "karpenter.sh/nodepool"


def test_pools_and_classes_that_cannot_buy_are_warned_of_while_the_others_buy(scene: Scene) -> None:
    nowhere = [{"tags": {"nobody": "has this"}}]
    scene.apply(
        node_class(),
        node_class("homeless", subnetSelectorTerms=nowhere),
        node_class("open", securityGroupSelectorTerms=nowhere),
        node_class("blank", amiFamily="AL2023", amiSelectorTerms=[{"id": "ami-0123456789abcdef0"}]),
        node_pool(*M7I, name="good"),
        node_pool(*M7I, name="homeless", node_class="homeless", weight=90),
        node_pool(*M7I, name="open", node_class="open", weight=80),
        node_pool(*M7I, name="blank", node_class="blank", weight=70),
        node_pool(*M7I, name="orphan", node_class="nobodys", weight=60),
        node_pool(*M7I, name="curious", template={"surprise": {"deep": 1}}, spec_surprise=True),
        pod("web"),
    )

    (web,) = scene.running(1)
    assert scene.node_of(web)["metadata"]["labels"][POOL_LABEL] in {"good", "curious"}
    warnings = scene.decided(lambda each: each["launches"], "a launch")["warnings"]
    for expected in (
        "EC2NodeClass/homeless spec.subnetSelectorTerms: matches no subnet",
        "EC2NodeClass/open spec.securityGroupSelectorTerms: matches no security group",
        "EC2NodeClass/blank spec.amiSelectorTerms: finds no image",
        "NodePool/orphan spec.template.spec.nodeClassRef.name: no EC2NodeClass 'nobodys'",
        "NodePool/curious spec.spec_surprise",
        "NodePool/curious spec.template.spec.surprise",
    ):
        assert any(each.startswith(expected) for each in warnings), (expected, warnings)


def test_impossible_requirements_are_told_on_the_pod_that_meets_only_them(scene: Scene) -> None:
    sparc = requirement("kubernetes.io/arch", "sparc")
    scene.apply(
        node_class(),
        node_pool(family("m7i"), sparc, name="impossible"),
        node_pool(*M7I, name="good"),
        pod("web"),
        pod("stuck", nodeSelector={POOL_LABEL: "impossible"}),
    )

    scene.eventually(lambda: scene.phases() == {"web": "Running", "stuck": "Pending"}, "one pod to run")
    (reason,) = scene.decided(lambda each: each["unschedulable"], "a pod that waits")["unschedulable"]
    assert reason["pods"] == ["default/stuck"]
    assert reason["reason"] == "NoInstanceType"
    told = scene.eventually(lambda: scene.our_events("stuck"), "an event on the pod")
    assert {each["reason"] for each in told} == {"FailedScheduling"}
    assert f"NoInstanceType: {reason['message']}" in [each["note"] for each in told]
    assert "pool impossible: " in reason["message"]
    scene.quiet()
    assert len(scene.instances()) == 1
