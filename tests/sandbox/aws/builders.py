"""Fleets to ask for, in the account of the first seed."""

import base64
from typing import Any

from sandbox.aws.account import Account, BuiltAccount
from sandbox.aws.server import SandboxAws

ZONE_A, ZONE_B = "ap-northeast-2a", "ap-northeast-2b"
SUBNET_A, SUBNET_B = "subnet-01aaaaaaaaaaaaaaa", "subnet-02aaaaaaaaaaaaaaa"
IMAGES = {
    "arm64": "/aws/service/bottlerocket/aws-k8s-1.37/arm64/latest/image_id",
    "x86_64": "/aws/service/eks/optimized-ami/1.37/amazon-linux-2023/x86_64/standard/recommended/image_id",
}
Json = dict[str, Any]


class Buyer:
    """Buys instances from the sandbox."""

    def __init__(self, aws: SandboxAws) -> None:
        self.aws = aws
        self.ec2 = aws.client("ec2")
        self.account: BuiltAccount = Account.for_seed_one().build(aws)

    def image(self, architecture: str) -> str:
        return str(self.aws.client("ssm").get_parameter(Name=IMAGES[architecture])["Parameter"]["Value"])

    def template(self, name: str = "nodes", architecture: str = "arm64", **data: Any) -> str:
        content = {
            "ImageId": self.image(architecture),
            "UserData": base64.b64encode(b"[settings.kubernetes]\n").decode(),
            "SecurityGroupIds": list(self.account.security_groups.values()),
            "IamInstanceProfile": {"Name": "AmazonEKSNodeRole"},
            **data,
        }
        self.ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=content)
        return name

    def fleet(self, *overrides: Json, capacity: int = 1, spot: bool = True, **more: Any) -> Json:
        """Ask for a fleet of the template `nodes`."""
        answer: Json = self.ec2.create_fleet(**request(*overrides, capacity=capacity, spot=spot, **more))
        return answer

    def instances(self) -> list[Json]:
        return [one for row in self.ec2.describe_instances()["Reservations"] for one in row["Instances"]]


def request(*overrides: Json, capacity: int = 1, spot: bool = True, template: str = "nodes", **more: Any) -> Json:
    wanted = {"TotalTargetCapacity": capacity, "DefaultTargetCapacityType": "spot" if spot else "on-demand"}
    specification = {"LaunchTemplateName": template, "Version": "$Latest"}
    configuration = {"LaunchTemplateSpecification": specification, "Overrides": list(overrides)}
    strategy: Json = (
        {"SpotOptions": {"AllocationStrategy": "price-capacity-optimized"}}
        if spot
        else {"OnDemandOptions": {"AllocationStrategy": "lowest-price"}}
    )
    asked = {"Type": "instant", "LaunchTemplateConfigs": [configuration], "TargetCapacitySpecification": wanted}
    return {**asked, **strategy, **more}


def override(instance_type: str, subnet: str = SUBNET_A, **more: Any) -> Json:
    return {"InstanceType": instance_type, "SubnetId": subnet, **more}


def bought(answer: Json) -> dict[tuple[str, str], int]:
    """(type, zone) → how many."""
    counts: dict[tuple[str, str], int] = {}
    for row in answer["Instances"]:
        key = (row["InstanceType"], row["LaunchTemplateAndOverrides"]["Overrides"]["AvailabilityZone"])
        counts[key] = counts.get(key, 0) + len(row["InstanceIds"])
    return counts


def errors(answer: Json) -> dict[tuple[str, str], str]:
    """(type, zone) → error code."""
    found = {}
    for row in answer["Errors"]:
        overrides = row["LaunchTemplateAndOverrides"]["Overrides"]
        found[overrides["InstanceType"], overrides["AvailabilityZone"]] = row["ErrorCode"]
    return found
