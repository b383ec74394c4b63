"""What nodes run as, where their class names neither role nor instance profile."""

from aws_cdk import Aws
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.nag import acknowledge

#: What kubelet, the VPC CNI, image pulls and SSM sessions need, and no more.
_POLICIES = (
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonSSMManagedInstanceCore",
)


class Nodes(Construct):
    """Role and instance profile under names that tell whose they are; IAM names are global, hence the region."""

    def __init__(self, scope: Construct, construct_id: str, *, stack_id: str) -> None:
        super().__init__(scope, construct_id)
        name = f"{stack_id}-node-{Aws.REGION}"
        self.role = iam.Role(
            self,
            "Role",
            role_name=name,
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            description=f"Nodes that {stack_id} launches",
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(policy) for policy in _POLICIES],
        )
        self.profile = iam.InstanceProfile(
            self, "Profile", instance_profile_name=name, path=profile_path(stack_id), role=self.role
        )
        for policy in _POLICIES:
            finding = f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{policy}]"
            acknowledge(self.role, finding, "What EKS documents for its nodes; AWS keeps it current")


def profile_path(stack_id: str) -> str:
    """Instance profiles made by this stack live under it, and its permissions end there."""
    return f"/nodewright/{stack_id}/"
