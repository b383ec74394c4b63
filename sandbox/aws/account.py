"""Builds the account that manifests were written for: subnets with their ids, groups with their tags, node roles."""

import ipaddress
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.ec2.models import ec2_backends, subnets

from sandbox.aws.defaults import ACCOUNT
from sandbox.aws.patches import Patches
from sandbox.aws.server import SandboxAws

NETWORK = "10.0.0.0/16"
SUBNET_PREFIX = 20
EC2_TRUST = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole"}],
}


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet of a zone, under an id of one's choosing."""

    id: str
    zone: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SecurityGroup:
    """A security group, found by its tags or name."""

    name: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NodeRole:
    """A role nodes may have, and the instance profile that gives it to them."""

    name: str
    profile: str


@dataclass(frozen=True, slots=True)
class Account:
    """What must be there before the first node; `+` puts what two need into one."""

    subnets: tuple[Subnet, ...]
    security_groups: tuple[SecurityGroup, ...]
    node_roles: tuple[NodeRole, ...]

    def __add__(self, other: "Account") -> "Account":
        return Account(
            self.subnets + other.subnets,
            self.security_groups + other.security_groups,
            self.node_roles + other.node_roles,
        )

    @classmethod
    def for_seed_one(cls) -> "Account":
        """The account of the first seed's NodePool and EC2NodeClass."""
        return cls(
            subnets=(
                Subnet("subnet-01aaaaaaaaaaaaaaa", "ap-northeast-2a"),
                Subnet("subnet-02aaaaaaaaaaaaaaa", "ap-northeast-2b"),
            ),
            security_groups=(SecurityGroup("my-cluster-node", {"kubernetes.io/cluster/my-cluster": "owned"}),),
            node_roles=(NodeRole("AmazonEKSNodeRole", "AmazonEKSNodeRole"),),
        )

    @classmethod
    def for_seed_two(cls) -> "Account":
        """The account of the second seed's Provisioners and AWSNodeTemplates, prepared as its post says."""
        found = {"karpenter.sh/discovery": "my-cluster"}
        return cls(
            subnets=(
                Subnet("subnet-03aaaaaaaaaaaaaaa", "ap-northeast-2a", {"Name": "subnet-private-a", **found}),
                Subnet("subnet-04aaaaaaaaaaaaaaa", "ap-northeast-2c", {"Name": "subnet-private-c", **found}),
            ),
            security_groups=(
                SecurityGroup("eks-cluster-sg-my-cluster", found),
                SecurityGroup("devops", {"karpenter.sh/discovery": "devops"}),
            ),
            node_roles=(NodeRole("KarpenterNodeRole-my-cluster", "KarpenterNodeInstanceProfile-my-cluster"),),
        )

    def build(self, aws: SandboxAws) -> "BuiltAccount":
        """Make it all in the sandbox."""
        ec2 = aws.client("ec2")
        vpc_id = ec2.create_vpc(CidrBlock=NETWORK)["Vpc"]["VpcId"]
        blocks = ipaddress.ip_network(NETWORK).subnets(new_prefix=SUBNET_PREFIX)
        for subnet, block in zip(self.subnets, blocks, strict=False):
            build_subnet(aws, vpc_id, subnet, str(block))
        groups = {one.name: build_security_group(aws, vpc_id, one) for one in self.security_groups}
        return BuiltAccount(vpc_id, groups, tuple(build_node_role(aws, role) for role in self.node_roles))


@dataclass(frozen=True, slots=True)
class BuiltAccount:
    """Ids of what AWS named itself: the VPC, security groups by name, ARNs of the node roles."""

    vpc_id: str
    security_groups: Mapping[str, str]
    node_role_arns: tuple[str, ...]


def build_subnet(aws: SandboxAws, vpc_id: str, subnet: Subnet, block: str) -> None:
    """Make a subnet under the id it must have. EC2 lets nobody choose one, so moto is made to draw it."""
    backend: Any = ec2_backends[ACCOUNT][aws.region]
    drawing = Patches()
    drawing.replace(subnets, "random_subnet_id", lambda: subnet.id)
    try:
        backend.create_subnet(vpc_id, block, availability_zone=subnet.zone, tags={"subnet": dict(subnet.tags)})
    finally:
        drawing.undo()


def build_security_group(aws: SandboxAws, vpc_id: str, group: SecurityGroup) -> str:
    """Make a security group; its id."""
    ec2 = aws.client("ec2")
    created = ec2.create_security_group(GroupName=group.name, Description=group.name, VpcId=vpc_id)
    if group.tags:
        ec2.create_tags(Resources=[created["GroupId"]], Tags=_tag_list(group.tags))
    return str(created["GroupId"])


def build_node_role(aws: SandboxAws, role: NodeRole) -> str:
    """Make the role and its instance profile; the role's ARN."""
    iam = aws.client("iam")
    made = iam.create_role(RoleName=role.name, AssumeRolePolicyDocument=json.dumps(EC2_TRUST))["Role"]
    iam.create_instance_profile(InstanceProfileName=role.profile)
    iam.add_role_to_instance_profile(InstanceProfileName=role.profile, RoleName=role.name)
    return str(made["Arn"])


def _tag_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]
