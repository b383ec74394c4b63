from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws.images import KUBERNETES_VERSIONS, Release
from sandbox.aws.server import SandboxAws


def parameter(aws: SandboxAws, name: str) -> str:
    return str(aws.client("ssm").get_parameter(Name=name)["Parameter"]["Value"])


def image(aws: SandboxAws, name: str) -> dict[str, Any]:
    (found,) = aws.client("ec2").describe_images(ImageIds=[parameter(aws, name)])["Images"]
    return dict(found)


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
@pytest.mark.parametrize(
    ("path", "architecture", "name"),
    [
        ("eks/optimized-ami/{}/amazon-linux-2023/x86_64/standard/recommended", "x86_64", "al2023-x86_64-standard-{}"),
        ("eks/optimized-ami/{}/amazon-linux-2023/arm64/standard/recommended", "arm64", "al2023-arm64-standard-{}"),
        ("eks/optimized-ami/{}/amazon-linux-2023/x86_64/nvidia/recommended", "x86_64", "al2023-x86_64-nvidia-{}"),
        ("eks/optimized-ami/{}/amazon-linux-2023/x86_64/neuron/recommended", "x86_64", "al2023-x86_64-neuron-{}"),
        ("bottlerocket/aws-k8s-{}/arm64/latest", "arm64", "bottlerocket-aws-k8s-{}-aarch64-v"),
        ("bottlerocket/aws-k8s-{}/x86_64/latest", "x86_64", "bottlerocket-aws-k8s-{}-x86_64-v"),
        ("bottlerocket/aws-k8s-{}-nvidia/x86_64/latest", "x86_64", "bottlerocket-aws-k8s-{}-nvidia-x86_64-v"),
    ],
)
def test_parameters_lead_to_images(aws: SandboxAws, version: str, path: str, architecture: str, name: str) -> None:
    found = image(aws, f"/aws/service/{path.format(version)}/image_id")
    assert found["Architecture"] == architecture
    assert name.format(version) in found["Name"]
    assert found["State"] == "available"
    assert found["ImageOwnerAlias"] == "amazon"


def test_al2_ends_with_1_32(aws: SandboxAws) -> None:
    name = "/aws/service/eks/optimized-ami/{}/amazon-linux-2-arm64/recommended/image_id"
    assert image(aws, name.format("1.32"))["Name"].startswith("amazon-eks-arm64-node-1.32-v")
    with pytest.raises(ClientError, match="ParameterNotFound"):
        parameter(aws, name.format("1.33"))


def test_a_pinned_version_stays_while_the_latest_moves(aws: SandboxAws) -> None:
    path = "/aws/service/bottlerocket/aws-k8s-1.37/arm64"
    pinned, latest = parameter(aws, f"{path}/1.45.0/image_id"), parameter(aws, f"{path}/latest/image_id")
    assert pinned == latest
    aws.images.publish(Release(datetime(2026, 12, 1, tzinfo=UTC), "1.46.0"))
    assert parameter(aws, f"{path}/1.45.0/image_id") == pinned
    newer = parameter(aws, f"{path}/latest/image_id")
    assert newer != latest
    found = aws.client("ec2").describe_images(ImageIds=[latest, newer])["Images"]
    dates = {one["ImageId"]: one["CreationDate"] for one in found}
    assert dates[newer] > dates[latest]


def test_images_are_found_by_owner_and_name(aws: SandboxAws) -> None:
    names = [{"Name": "name", "Values": ["amazon-eks-node-al2023-arm64-standard-1.37-*"]}]
    found = aws.client("ec2").describe_images(Owners=["self", "amazon"], Filters=names)["Images"]
    assert len(found) == 2


def test_parameters_are_listed_by_path(aws: SandboxAws) -> None:
    pages = aws.client("ssm").get_paginator("get_parameters_by_path")
    path = "/aws/service/eks/optimized-ami/1.37/amazon-linux-2023/arm64"
    names = [one["Name"] for page in pages.paginate(Path=path, Recursive=True) for one in page["Parameters"]]
    assert f"{path}/standard/recommended/image_id" in names
