from typing import TYPE_CHECKING

import pytest
from botocore.stub import Stubber

from nodewright.adapters import aws_clients
from nodewright.adapters.profiles import IamInstanceProfiles
from nodewright.application.errors import RefusedError, UnavailableError
from tests.adapters.builders import STACK

if TYPE_CHECKING:
    from mypy_boto3_iam import IAMClient


@pytest.fixture
def iam(aws: str) -> "IAMClient":
    client = aws_clients.iam(aws)
    for role in ("nodes", "more"):
        client.create_role(RoleName=role, AssumeRolePolicyDocument="{}")
    return client


def profiles(iam: "IAMClient", region: str = "us-east-1") -> IamInstanceProfiles:
    """As a cold container has it."""
    return IamInstanceProfiles(iam, STACK, region)


def test_a_profile_lies_under_the_stacks_path_with_the_role_and_tags(iam: "IAMClient") -> None:
    name = profiles(iam).ensure("prod", "default", "nodes")
    made = iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"]
    assert name.startswith("nodewright-")
    assert made["Path"] == f"/nodewright/{STACK}/"
    assert [role["RoleName"] for role in made["Roles"]] == ["nodes"]
    assert {tag["Key"]: tag["Value"] for tag in made["Tags"]} == {
        "kubernetes.io/cluster/prod": "owned",
        "eks:eks-cluster-name": "prod",
        "karpenter.k8s.aws/ec2nodeclass": "default",
        "topology.kubernetes.io/region": "us-east-1",
        "nodewright.dev/stack": STACK,
    }


def test_two_containers_make_one_profile(iam: "IAMClient") -> None:
    assert profiles(iam).ensure("prod", "default", "nodes") == profiles(iam).ensure("prod", "default", "nodes")
    assert len(iam.list_instance_profiles()["InstanceProfiles"]) == 1


def test_regions_of_one_account_do_not_share_a_profile(iam: "IAMClient") -> None:
    elsewhere = profiles(iam, "eu-west-1").ensure("prod", "default", "nodes")
    assert profiles(iam).ensure("prod", "default", "nodes") != elsewhere


def test_a_profile_whose_role_was_never_added_gets_it(iam: "IAMClient") -> None:
    name = profiles(iam).ensure("prod", "default", "nodes")
    iam.remove_role_from_instance_profile(InstanceProfileName=name, RoleName="nodes")
    profiles(iam).ensure("prod", "default", "nodes")
    made = iam.get_instance_profile(InstanceProfileName=name)["InstanceProfile"]
    assert [role["RoleName"] for role in made["Roles"]] == ["nodes"]


def test_a_profile_that_somebody_gave_another_role_is_refused_with_the_fix(iam: "IAMClient") -> None:
    name = profiles(iam).ensure("prod", "default", "nodes")
    iam.remove_role_from_instance_profile(InstanceProfileName=name, RoleName="nodes")
    iam.add_role_to_instance_profile(InstanceProfileName=name, RoleName="more")
    with pytest.raises(RefusedError, match=f"instance profile {name} has role more in place of nodes.*delete"):
        profiles(iam).ensure("prod", "default", "nodes")


def test_a_warm_container_does_not_ask_again(iam: "IAMClient") -> None:
    warm = profiles(iam)
    name = warm.ensure("prod", "default", "nodes")
    with Stubber(iam):
        assert warm.ensure("prod", "default", "nodes") == name


def test_a_throttle_is_unavailable_and_names_the_class(iam: "IAMClient") -> None:
    with Stubber(iam) as stub:
        stub.add_client_error("create_instance_profile", "Throttling")
        with pytest.raises(UnavailableError, match="EC2NodeClass/default: instance profile nodewright-"):
            profiles(iam).ensure("prod", "default", "nodes")
