"""The whole path on the first seed as it stands: zero nodes, twelve pods, spot Graviton with Bottlerocket."""

import tomllib
from decimal import Decimal
from pathlib import Path

import pytest

import sandbox
from nodewright.domain.claims import NodeClaim
from nodewright.domain.money import show_usd
from sandbox.world.world import STACK
from tests.sandbox.spine.manifests import Manifest
from tests.sandbox.spine.scene import Scene, tags

pytestmark = pytest.mark.sandbox

SEED = Path(sandbox.__file__).parent / "seeds/one"
SUBNET_OF_ZONE = {"ap-northeast-2a": "subnet-01aaaaaaaaaaaaaaa", "ap-northeast-2b": "subnet-02aaaaaaaaaaaaaaa"}
TAGS = {
    "kubernetes.io/cluster/my-cluster": "owned",
    "eks:eks-cluster-name": "my-cluster",
    "karpenter.sh/nodepool": "karpenter-node-pool",
    "karpenter.k8s.aws/ec2nodeclass": "default",
    "nodewright.dev/stack": STACK,
}


@pytest.fixture
def seeded(scene: Scene) -> Scene:
    """Nginx of the first seed, twelve times, runs on a cluster that had no node."""
    assert scene.nodes() == {}
    # All pods are there before there is a pool: else a slow controller's last ones come too late for the first plan.
    scene.apply((SEED / "nginx.yaml").read_text())
    scene.kubernetes.patch("apps/v1", "Deployment", "nginx", {"spec": {"replicas": 12}})
    scene.eventually(lambda: len(scene.pods()) == 12, "twelve pods")
    scene.quiet()
    scene.apply(*((SEED / f"{name}.yaml").read_text() for name in ("ec2nodeclass", "nodepool")))
    scene.hint("provision", "there-is-a-pool")
    scene.running(12)
    return scene


def test_twelve_pods_run_on_what_the_seed_asks_for(seeded: Scene) -> None:
    claims = seeded.initialized(len(seeded.nodes()))
    instances = {instance["InstanceId"]: instance for instance in seeded.instances()}

    assert {claim.instance_id for claim in claims} == set(instances)
    assert {claim.node_name for claim in claims} == {pod["spec"]["nodeName"] for pod in seeded.pods()}
    for claim in claims:
        instance = instances[claim.instance_id]
        _was_bought_as_asked(seeded, instance)
        _is_tagged(seeded, instance, claim)
        _was_told_how_to_join(seeded, instance)
        _is_labelled(seeded.nodes()[claim.node_name], instance)
    _was_decided(seeded, claims)
    assert seeded.failures() == []


def _was_bought_as_asked(scene: Scene, instance: Manifest) -> None:
    assert instance["InstanceType"].startswith("t4g.")
    assert instance["InstanceLifecycle"] == "spot"
    assert instance["SubnetId"] == SUBNET_OF_ZONE[instance["Placement"]["AvailabilityZone"]]
    (image,) = scene.ec2.describe_images(ImageIds=[instance["ImageId"]])["Images"]
    assert image["Name"].startswith("bottlerocket-aws-k8s-1.37-aarch64")
    (group,) = instance["SecurityGroups"]
    assert group["GroupId"] == scene.world.account.security_groups["my-cluster-node"]
    assert instance["MetadataOptions"]["HttpTokens"] == "required"
    assert scene.roles(instance) == ["AmazonEKSNodeRole"]
    volumes = {
        device["DeviceName"]: scene.volume(device["Ebs"]["VolumeId"]) for device in instance["BlockDeviceMappings"]
    }
    assert {name: (v["Size"], v["VolumeType"]) for name, v in volumes.items()} == {
        "/dev/xvda": (2, "gp3"),
        "/dev/xvdb": (20, "gp3"),
    }


def _is_tagged(scene: Scene, instance: Manifest, claim: NodeClaim) -> None:
    """All of karpenter-behaviour §7.3, and ours."""
    launch = {"nodewright.dev/launch": claim.launch_id}
    named = {"Name": claim.node_name, "karpenter.sh/nodeclaim": claim.id}
    assert tags(instance).items() >= (TAGS | launch | named).items()
    for device in instance["BlockDeviceMappings"]:
        assert tags(scene.volume(device["Ebs"]["VolumeId"])).items() >= (TAGS | launch).items()
    (template,) = scene.ec2.describe_launch_templates(LaunchTemplateIds=[tags(instance)["aws:ec2launchtemplate:id"]])[
        "LaunchTemplates"
    ]
    assert tags(template) == TAGS
    assert template["LaunchTemplateName"].startswith("nodewright/")
    (version,) = scene.ec2.describe_launch_template_versions(LaunchTemplateId=template["LaunchTemplateId"])[
        "LaunchTemplateVersions"
    ]
    through_template = {
        each["ResourceType"]: {tag["Key"]: tag["Value"] for tag in each["Tags"]}
        for each in version["LaunchTemplateData"]["TagSpecifications"]
    }
    assert through_template["network-interface"] == through_template["spot-instances-request"] == TAGS


def _was_told_how_to_join(scene: Scene, instance: Manifest) -> None:
    settings = tomllib.loads(scene.user_data(instance))["settings"]["kubernetes"]
    assert settings["cluster-name"] == "my-cluster"
    assert settings["api-server"] == scene.world.control_plane.url
    assert settings["cluster-dns-ip"] == "10.96.0.10"
    assert (
        settings["node-labels"].items() >= {"scope": "karpenter-service", "karpenter.sh/capacity-type": "spot"}.items()
    )
    assert "node-taints" not in settings


def _is_labelled(node: Manifest, instance: Manifest) -> None:
    """Everything a pod may select by, whoever set it: kubelet, the cloud or reconcile."""
    zone, instance_type = instance["Placement"]["AvailabilityZone"], instance["InstanceType"]
    labels = {key.removeprefix("karpenter.k8s.aws/"): value for key, value in node["metadata"]["labels"].items()}
    assert (
        labels.items()
        >= {
            "scope": "karpenter-service",
            "karpenter.sh/nodepool": "karpenter-node-pool",
            "karpenter.sh/capacity-type": "spot",
            "karpenter.sh/registered": "true",
            "karpenter.sh/initialized": "true",
            "kubernetes.io/arch": "arm64",
            "kubernetes.io/os": "linux",
            "kubernetes.io/hostname": node["metadata"]["name"],
            "node.kubernetes.io/instance-type": instance_type,
            "topology.kubernetes.io/zone": zone,
            "topology.kubernetes.io/region": "ap-northeast-2",
            "topology.k8s.aws/zone-id": {"ap-northeast-2a": "apne2-az1", "ap-northeast-2b": "apne2-az2"}[zone],
            "ec2nodeclass": "default",
            "instance-category": "t",
            "instance-family": "t4g",
            "instance-size": instance_type.removeprefix("t4g."),
            "instance-generation": "4",
            "instance-cpu": "4" if instance_type == "t4g.xlarge" else "2",
            "instance-cpu-manufacturer": "aws",
            "instance-hypervisor": "nitro",
            "instance-tenancy": "default",
            "instance-encryption-in-transit-supported": "false",
        }.items()
    )
    assert {"instance-memory", "instance-network-bandwidth", "instance-ebs-bandwidth"} <= labels.keys()
    assert node["spec"].get("taints", []) == []


def _was_decided(scene: Scene, claims: tuple[NodeClaim, ...]) -> None:
    """The recorded price is what the nodes cost now."""
    (decision,) = [each for each in scene.decisions() if each["launches"]]
    assert sum(launch["nodes"] for launch in decision["launches"]) == len(claims)
    assert {pod for launch in decision["launches"] for pod in launch["pods"]} == {
        f"default/{pod['metadata']['name']}" for pod in scene.pods()
    }
    spot = scene.spot_prices()
    assert [claim.price for claim in claims] == [spot[claim.instance_type, claim.zone] for claim in claims]
    assert decision["cost"] == show_usd(sum(claim.price for claim in claims))
    assert Decimal(decision["bound"]) <= Decimal(decision["cost"])
    assert (decision["unschedulable"], decision["warnings"]) == ([], [])
