"""Tags as EC2 and IAM write them, in a fixed order: equal requests are equal bytes."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_ec2.literals import ResourceTypeType
    from mypy_boto3_ec2.type_defs import TagSpecificationTypeDef, TagTypeDef

STACK_TAG = "nodewright.dev/stack"
LAUNCH_TAG = "nodewright.dev/launch"
CLUSTER_TAG = "eks:eks-cluster-name"


def to_tags(tags: Mapping[str, str]) -> "list[TagTypeDef]":
    """`{"a": "b"}` → `[{"Key": "a", "Value": "b"}]`, sorted."""
    return [{"Key": key, "Value": value} for key, value in sorted(tags.items())]


def from_tags(tags: "Iterable[TagTypeDef]") -> dict[str, str]:
    """The other way."""
    return {tag.get("Key", ""): tag.get("Value", "") for tag in tags}


def specifications(kinds: "Iterable[ResourceTypeType]", tags: Mapping[str, str]) -> "list[TagSpecificationTypeDef]":
    """The same tags for each kind of resource a call makes."""
    return [{"ResourceType": kind, "Tags": to_tags(tags)} for kind in kinds]
