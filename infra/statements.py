"""IAM statements, each as narrow as AWS allows. Ours is what carries the tag `nodewright.dev/stack`.

The shapes follow what Karpenter documents for its controller, with our one tag in place of its several
(reference: AWS service authorization reference; tests/infra/test_permissions.py holds every statement against it).
"""

from collections.abc import Mapping, Sequence

from aws_cdk import Aws
from aws_cdk import aws_iam as iam

STACK_TAG = "nodewright.dev/stack"

#: What a launch makes; each must be tagged in the request that makes it.
_MADE_BY_A_LAUNCH = ("fleet", "instance", "volume", "network-interface", "spot-instances-request")

_LAUNCH = ("ec2:CreateFleet", "ec2:RunInstances")

Conditions = Mapping[str, Mapping[str, str | Sequence[str]]]


def allow(
    actions: Sequence[str], resources: Sequence[str], conditions: Conditions | None = None
) -> iam.PolicyStatement:
    """One statement, said shortly."""
    return iam.PolicyStatement(actions=list(actions), resources=list(resources), conditions=conditions)


def look_up(*actions: str) -> iam.PolicyStatement:
    """EC2's Describe calls know no resources; the region is all that can be said."""
    names = [f"ec2:Describe{action}" for action in actions]
    return allow(names, ["*"], {"StringEquals": {"aws:RequestedRegion": Aws.REGION}})


def launch(stack_id: str) -> list[iam.PolicyStatement]:
    """Launch what is tagged ours, from templates that are ours, on networks and images of anybody.

    A fleet of type instant runs its instances with the caller's own permissions, so both actions are needed.
    """
    chosen = [_ec2("image/*", account=""), _ec2("snapshot/*", account=""), _ec2("subnet/*"), _ec2("security-group/*")]
    made = [_ec2(f"{kind}/*") for kind in _MADE_BY_A_LAUNCH]
    return [
        allow(_LAUNCH, chosen),
        allow(_LAUNCH, [_ec2("launch-template/*")], tagged(stack_id)),
        allow(_LAUNCH, made, requested(stack_id)),
        _tag_at_birth(stack_id, made, "CreateFleet", "RunInstances"),
    ]


def make_launch_templates(stack_id: str) -> list[iam.PolicyStatement]:
    """Make launch templates that are tagged ours."""
    templates = [_ec2("launch-template/*")]
    return [
        allow(["ec2:CreateLaunchTemplate"], templates, requested(stack_id)),
        _tag_at_birth(stack_id, templates, "CreateLaunchTemplate"),
    ]


def label_instances(stack_id: str, *keys: str) -> iam.PolicyStatement:
    """Set these tags, and no others, on instances of ours."""
    only = {"ForAllValues:StringEquals": {"aws:TagKeys": list(keys)}}
    return allow(["ec2:CreateTags"], [_ec2("instance/*")], {**tagged(stack_id), **only})


def terminate_instances(stack_id: str) -> iam.PolicyStatement:
    """End instances of ours."""
    return allow(["ec2:TerminateInstances"], [_ec2("instance/*")], tagged(stack_id))


def instance_profiles(stack_id: str, path: str) -> list[iam.PolicyStatement]:
    """Make instance profiles for roles that classes name, under our path and tagged ours."""
    profiles = [f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:instance-profile{path}*"]
    return [
        allow(["iam:GetInstanceProfile"], profiles),
        allow(["iam:CreateInstanceProfile", "iam:TagInstanceProfile"], profiles, requested(stack_id)),
        allow(["iam:AddRoleToInstanceProfile"], profiles, tagged(stack_id)),
    ]


def pass_roles(role_arns: Sequence[str]) -> iam.PolicyStatement:
    """Give nodes these roles, and give them to nothing else."""
    return allow(["iam:PassRole"], role_arns, {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}})


def describe_clusters() -> iam.PolicyStatement:
    """Endpoint, certificate and version of any cluster here: which ones is `nodewright connect`'s business."""
    return allow(["eks:DescribeCluster"], [f"arn:{Aws.PARTITION}:eks:{Aws.REGION}:{Aws.ACCOUNT_ID}:cluster/*"])


def public_parameters() -> iam.PolicyStatement:
    """AWS's own parameters, such as the image of a Kubernetes version."""
    services = f"arn:{Aws.PARTITION}:ssm:{Aws.REGION}::parameter/aws/service/*"
    return allow(["ssm:GetParameters"], [services])


def price_list() -> iam.PolicyStatement:
    """The price list is public and knows no resources."""
    return allow(["pricing:GetProducts"], ["*"])


def items(table_arn: str, actions: Sequence[str], partitions: Sequence[str] = ()) -> iam.PolicyStatement:
    """Work on items of these partitions (patterns of the `pk`); none given means all."""
    only = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(partitions)}} if partitions else None
    return allow([f"dynamodb:{action}" for action in actions], [table_arn], only)


def send(*queue_arns: str) -> iam.PolicyStatement:
    """Put hints on these queues."""
    return allow(["sqs:SendMessage"], queue_arns)


def write_log(log_group_arn: str) -> iam.PolicyStatement:
    """Write one function's own log; its streams have names that Lambda chooses."""
    return allow(["logs:CreateLogStream", "logs:PutLogEvents"], [log_group_arn])


def tagged(stack_id: str) -> dict[str, dict[str, str]]:
    """The resource is ours."""
    return {"StringEquals": {f"aws:ResourceTag/{STACK_TAG}": stack_id}}


def requested(stack_id: str) -> dict[str, dict[str, str]]:
    """The request makes it ours."""
    return {"StringEquals": {f"aws:RequestTag/{STACK_TAG}": stack_id}}


def _tag_at_birth(stack_id: str, resources: Sequence[str], *creating: str) -> iam.PolicyStatement:
    """Tag what these calls make, as they make it."""
    equal = {**requested(stack_id)["StringEquals"], "ec2:CreateAction": list(creating)}
    return allow(["ec2:CreateTags"], resources, {"StringEquals": equal})


def _ec2(resource: str, *, account: str = Aws.ACCOUNT_ID) -> str:
    return f"arn:{Aws.PARTITION}:ec2:{Aws.REGION}:{account}:{resource}"
