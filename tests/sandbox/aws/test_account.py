"""The accounts of both seeds, in one."""

from nodewright.adapters.images import AwsImages
from nodewright.adapters.manifests.configuration import Configuration, read_configuration
from nodewright.adapters.memory import InMemoryInstanceProfiles
from nodewright.adapters.networks import Ec2Networks
from nodewright.application.node_class_resolution import NodeClassResolver, ResolvedNodeClass
from nodewright.domain.clusters import ConnectedCluster
from sandbox.aws.account import Account, BuiltAccount
from sandbox.aws.server import SandboxAws
from tests.adapters.manifests.raw import seed_one, seed_two

STACK_PROFILE = "stack-profile"


def both_seeds() -> Configuration:
    return read_configuration(
        [seed_one("node_pool"), seed_two("general-provisioner"), seed_two("prometheus-provisioner")],
        [seed_one("node_class"), seed_two("general-awsnodetemplate"), seed_two("prometheus-awsnodetemplate")],
    )


def resolved(aws: SandboxAws, version: str) -> dict[str, ResolvedNodeClass]:
    """Each class of both seeds, by name, as a cluster of this version finds it in the account."""
    images = AwsImages(aws.client("ec2"), aws.client("ssm"))
    profiles = InMemoryInstanceProfiles({"AmazonEKSNodeRole"})
    resolver = NodeClassResolver(Ec2Networks(aws.client("ec2")), images, profiles, STACK_PROFILE)
    cluster = ConnectedCluster("my-cluster", "https://k8s.example", "", version, "10.96.0.0/16", "10.96.0.10")
    return {each.name: resolver.resolve(each, cluster, {}) for each in both_seeds().node_classes}


def built(aws: SandboxAws) -> BuiltAccount:
    return (Account.for_seed_one() + Account.for_seed_two()).build(aws)


def test_each_class_finds_its_own_network_and_nothing_of_the_others(aws: SandboxAws) -> None:
    account = built(aws)
    found = resolved(aws, "1.37")
    assert {name: {zone: s.id for zone, s in each.subnets.items()} for name, each in found.items()} == {
        "default": {"ap-northeast-2a": "subnet-01aaaaaaaaaaaaaaa", "ap-northeast-2b": "subnet-02aaaaaaaaaaaaaaa"},
        "general": {"ap-northeast-2a": "subnet-03aaaaaaaaaaaaaaa", "ap-northeast-2c": "subnet-04aaaaaaaaaaaaaaa"},
        "prometheus-node-template": {
            "ap-northeast-2a": "subnet-03aaaaaaaaaaaaaaa",
            "ap-northeast-2c": "subnet-04aaaaaaaaaaaaaaa",
        },
    }
    groups = {
        "default": "my-cluster-node",
        "general": "eks-cluster-sg-my-cluster",
        "prometheus-node-template": "devops",
    }
    for name, group in groups.items():
        assert found[name].security_group_ids == (account.security_groups[group],)


def test_each_class_gets_a_profile_whose_role_is_there(aws: SandboxAws) -> None:
    account = built(aws)
    found = resolved(aws, "1.37")
    assert found["prometheus-node-template"].instance_profile == STACK_PROFILE
    profile = aws.client("iam").get_instance_profile(InstanceProfileName=found["general"].instance_profile)
    assert [role["Arn"] for role in profile["InstanceProfile"]["Roles"]] == [account.node_role_arns[1]]


def test_al2_is_what_the_cluster_s_version_makes_of_it(aws: SandboxAws) -> None:
    built(aws)
    for version, family, warned in (("1.32", "AL2", False), ("1.33", "AL2023", True), ("1.37", "AL2023", True)):
        for name in ("general", "prometheus-node-template"):
            found = resolved(aws, version)[name]
            assert (found.node_class.ami_family, bool(found.warnings)) == (family, warned)
            assert {("amd64", "standard"), ("arm64", "standard")} <= set(found.images)


def test_the_types_its_provisioners_name_are_sold_in_their_zones(aws: SandboxAws) -> None:
    names = ["c6i.4xlarge", "c6i.8xlarge", "t4g.medium"]
    offered = aws.client("ec2").describe_instance_type_offerings(
        LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": names}]
    )
    places = {(each["InstanceType"], each["Location"]) for each in offered["InstanceTypeOfferings"]}
    assert {(name, zone) for name in names for zone in ("ap-northeast-2a", "ap-northeast-2c")} <= places
