"""What pools say, honoured from the plan to the node: taints, weights, labels, overhead, kinds of capacity."""

import pytest

from nodewright.domain.claims import ClaimState
from tests.sandbox.spine.manifests import (
    AMD64,
    ARM64,
    EITHER,
    ON_DEMAND,
    SPOT,
    daemon_set,
    deployment,
    family,
    node_class,
    node_pool,
    pod,
    requirement,
    taint,
    tolerates,
)
from tests.sandbox.spine.scene import Scene

pytestmark = pytest.mark.sandbox

M7I = (family("m7i"), AMD64, ON_DEMAND)
POOL_LABEL = "karpenter.sh/nodepool"
TYPE_LABEL = "node.kubernetes.io/instance-type"


def test_daemon_sets_are_on_every_node_and_counted_before_the_pods(scene: Scene) -> None:
    """1.5 cores fit an m7i.large by themselves, and no longer beside an agent of 500m: xlarge it is."""
    scene.apply(node_class(), node_pool(*M7I), daemon_set("agent", cpu="500m"), deployment("web", 2, cpu="1500m"))

    web = scene.running(2, "web")
    (claim,) = scene.initialized(1)
    assert claim.instance_type == "m7i.xlarge"
    (agent,) = scene.running(1, "agent")
    assert {each["spec"]["nodeName"] for each in (*web, agent)} == {claim.node_name}


def test_without_daemon_sets_the_same_pod_gets_the_smaller_type_of_al2023(scene: Scene) -> None:
    scene.apply(node_class(), node_pool(*M7I), pod("web", cpu="1500m"))

    (web,) = scene.running(1)
    (instance,) = scene.instances()
    assert instance["InstanceType"] == "m7i.large"
    assert "InstanceLifecycle" not in instance
    assert scene.node_of(web)["metadata"]["labels"]["kubernetes.io/arch"] == "amd64"
    (image,) = scene.ec2.describe_images(ImageIds=[instance["ImageId"]])["Images"]
    assert image["Name"].startswith("amazon-eks-node-al2023-x86_64-standard-1.37")
    assert "kind: NodeConfig" in scene.user_data(instance)


def test_tainted_pools_take_those_who_tolerate_and_weight_chooses_among_the_rest(scene: Scene) -> None:
    """The tainted pool is heaviest, so who tolerates is planned there; others for the heavier of the two left.

    Where they end up is the scheduler's choice, which may find both at home in the second pool.
    """
    scene.apply(
        node_class(),
        node_pool(*M7I, name="batch", weight=100, template={"taints": [taint("batch", "yes")]}),
        node_pool(*M7I, name="heavy", weight=10),
        node_pool(family("t3"), AMD64, ON_DEMAND, name="light-and-cheap", weight=1),
        pod("tolerant", tolerations=[tolerates("batch")]),
        pod("plain"),
    )

    placed = {each["metadata"]["name"]: _label(scene, each, POOL_LABEL) for each in scene.running(2)}
    assert placed["plain"] == "heavy"
    assert placed["tolerant"] in {"batch", "heavy"}
    launches = scene.decided(lambda each: each["launches"], "launches")["launches"]
    assert {each["pool"]: each["pods"] for each in launches} == {
        "batch": ["default/tolerant"],
        "heavy": ["default/plain"],
    }
    scene.initialized(2)
    batch = next(node for node in scene.nodes().values() if node["metadata"]["labels"][POOL_LABEL] == "batch")
    assert {"key": "batch", "value": "yes", "effect": "NoSchedule"} in batch["spec"]["taints"]


def test_an_arm64_spot_pool_serves_pods_that_ask_for_it_beside_an_amd64_one(scene: Scene) -> None:
    scene.apply(
        node_class(),
        node_class("bottles", amiFamily="Bottlerocket", amiSelectorTerms=[{"alias": "bottlerocket@latest"}]),
        node_pool(*M7I, name="intel", weight=10),
        node_pool(
            ARM64,
            SPOT,
            requirement("karpenter.k8s.aws/instance-category", "m", "c"),
            name="graviton",
            node_class="bottles",
        ),
        pod("anywhere"),
        pod("on-arm", nodeSelector={"kubernetes.io/arch": "arm64"}),
    )

    placed = {each["metadata"]["name"]: scene.node_of(each)["metadata"]["labels"] for each in scene.running(2)}
    assert placed["anywhere"][POOL_LABEL] == "intel"
    assert placed["on-arm"][POOL_LABEL] == "graviton"
    assert placed["on-arm"]["karpenter.sh/capacity-type"] == "spot"
    lifecycles = {each["InstanceType"]: each.get("InstanceLifecycle") for each in scene.instances()}
    assert lifecycles == {"m7i.large": None, placed["on-arm"][TYPE_LABEL]: "spot"}


def test_a_node_is_initialized_when_its_startup_taint_is_gone(scene: Scene) -> None:
    scene.apply(node_class(), node_pool(*M7I, template={"startupTaints": [taint("cni.example.com/agent")]}), pod("web"))

    claim = scene.claim_in(ClaimState.REGISTERED)
    node = scene.nodes()[claim.node_name]
    assert "karpenter.sh/initialized" not in node["metadata"]["labels"]
    assert scene.pods()[0]["spec"].get("nodeName") is None

    left = [each for each in node["spec"]["taints"] if each["key"] != "cni.example.com/agent"]
    scene.kubernetes.patch("v1", "Node", claim.node_name, {"spec": {"taints": left}})
    scene.running(1)
    scene.fire("Tick")
    scene.initialized(1)
    assert scene.nodes()[claim.node_name]["metadata"]["labels"]["karpenter.sh/initialized"] == "true"
    assert len(scene.instances()) == 1


def test_a_label_that_kubelet_may_not_set_is_put_on_before_pods_may_come(scene: Scene) -> None:
    """Until it is there the node keeps its unregistered taint."""
    role = "node-role.kubernetes.io/worker"
    scene.apply(node_class(), node_pool(*M7I, labels={role: "yes"}), pod("web", nodeSelector={role: "yes"}))

    (web,) = scene.running(1)
    (instance,) = scene.instances()
    node = scene.node_of(web)
    assert "karpenter.sh/unregistered" in scene.user_data(instance)
    assert role not in scene.user_data(instance)
    assert node["metadata"]["labels"][role] == "yes"
    assert "karpenter.sh/unregistered" not in {each["key"] for each in node["spec"].get("taints", [])}


def test_pods_go_to_room_that_is_there_before_anything_is_bought(scene: Scene) -> None:
    """A node of four cores with two pods of one core takes a third; only the next needs another node."""
    scene.apply(node_class(), node_pool(family("m7i"), AMD64, EITHER), deployment("web", 2, cpu="1100m"))
    scene.running(2)
    (first,) = scene.initialized(1)

    scene.kubernetes.patch("apps/v1", "Deployment", "web", {"spec": {"replicas": 3}})
    scene.running(3)
    assert [each.id for each in scene.claims()] == [first.id]

    scene.kubernetes.patch("apps/v1", "Deployment", "web", {"spec": {"replicas": 4}})
    scene.running(4)
    assert len(scene.initialized(2)) == len(scene.instances()) == 2


def _label(scene: Scene, pod: dict[str, object], key: str) -> object:
    return scene.node_of(pod)["metadata"]["labels"][key]
