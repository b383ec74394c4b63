"""Exceptions from cdk-nag's rules, each with its reason."""

from collections.abc import Sequence

from aws_cdk import Acknowledgment, Aws, Validations
from aws_cdk import aws_iam as iam
from constructs import IConstruct

_CHOSEN_LATER = "Node classes choose it long after deployment; what is launched on it must be tagged ours"
_OURS_BY_TAG = "Made by launches, so its id is unknown here; a condition demands our tag on it"

#: Why a resource of this kind ends in a wildcard. A kind without a reason fails the synthesis.
_WILDCARD_REASONS = {
    "*": "EC2's Describe calls and the price list know no resources",
    "image": _CHOSEN_LATER,
    "snapshot": _CHOSEN_LATER,
    "subnet": _CHOSEN_LATER,
    "security-group": _CHOSEN_LATER,
    "fleet": _OURS_BY_TAG,
    "instance": _OURS_BY_TAG,
    "volume": _OURS_BY_TAG,
    "network-interface": _OURS_BY_TAG,
    "spot-instances-request": _OURS_BY_TAG,
    "launch-template": _OURS_BY_TAG,
    "instance-profile": "Named by the hash of a role, under a path of this stack alone",
    "parameter": "AWS's public parameters, only read",
    "cluster": "Clusters are connected after deployment; the call only reads how to reach them",
}


def acknowledge(construct: IConstruct, rule: str, reason: str) -> None:
    """Accept one rule's finding on this construct and on what is inside it."""
    Validations.of(construct).acknowledge(Acknowledgment(id=rule, reason=reason))


def acknowledge_wildcards(role: iam.Role, statements: Sequence[iam.PolicyStatement]) -> None:
    """Accept the wildcards in these statements' resources one by one; those in actions never."""
    for resource in sorted({each for statement in statements for each in statement.resources}):
        if resource.endswith("*"):
            kind = resource.rpartition(":")[2].partition("/")[0]
            acknowledge(role, f"AwsSolutions-IAM5[Resource::{_as_nag_says(resource)}]", _WILDCARD_REASONS[kind])


def _as_nag_says(resource: str) -> str:
    named = {"Partition": Aws.PARTITION, "Region": Aws.REGION, "AccountId": Aws.ACCOUNT_ID}
    for name, token in named.items():
        resource = resource.replace(token, f"<AWS::{name}>")
    return resource
