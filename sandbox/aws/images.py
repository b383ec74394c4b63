"""The EKS images AWS publishes: in EC2, and under the SSM parameters that point at the newest."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from moto.ec2.models import ec2_backends
from moto.ec2.models.amis import Ami
from moto.ssm.models import Parameter, ssm_backends

from sandbox.aws.defaults import ACCOUNT

KUBERNETES_VERSIONS = tuple(f"1.{minor}" for minor in range(30, 38))
# No AL2 image exists for later versions.
AL2_VERSIONS = ("1.30", "1.31", "1.32")
EKS_OWNER = "602401143452"
BOTTLEROCKET_OWNER = "092701018921"
AL2_ARCHITECTURES = {"": "x86_64", "-arm64": "arm64", "-gpu": "x86_64"}
AL2023_VARIANTS = (
    ("x86_64", "standard"),
    ("arm64", "standard"),
    ("x86_64", "nvidia"),
    ("arm64", "nvidia"),
    ("x86_64", "neuron"),
)
# Image names say aarch64 where parameters say arm64.
BOTTLEROCKET_NAMES = {"x86_64": "x86_64", "arm64": "aarch64"}


@dataclass(frozen=True, slots=True)
class Release:
    """One publishing day: `v20260810` images of Amazon Linux, `1.44.0` of Bottlerocket."""

    day: datetime
    bottlerocket: str

    @property
    def linux(self) -> str:
        """Amazon Linux images are named by their day."""
        return f"v{self.day:%Y%m%d}"


# Two at the start, so that a pinned version and the latest differ.
RELEASES = (
    Release(datetime(2026, 9, 14, tzinfo=UTC), "1.43.0"),
    Release(datetime(2026, 11, 9, tzinfo=UTC), "1.45.0"),
)


@dataclass(frozen=True, slots=True)
class _Image:
    name: str
    architecture: str
    owner: str
    root_device: str
    # Paths of parameters without their last part: pinned, and the moving one.
    pinned: str
    recommended: str
    version: str
    version_parameter: str

    @property
    def id(self) -> str:
        return f"ami-{sha256(self.name.encode()).hexdigest()[:17]}"


class Images:
    """Publishes image releases of one region."""

    def __init__(self, region: str) -> None:
        self._region = region

    def publish(self, release: Release) -> None:
        """Register the release's images and point the parameters for the newest at them."""
        for image in _images(release):
            self._register(image, release)
            self._point(image, release)

    def _register(self, image: _Image, release: Release) -> None:
        backend: Any = ec2_backends[ACCOUNT][self._region]
        backend.amis[image.id] = Ami(
            backend,
            image.id,
            name=image.name,
            description=f"{image.name} (sandbox)",
            owner_id=image.owner,
            owner_alias="amazon",
            public=True,
            virtualization_type="hvm",
            architecture=image.architecture,
            hypervisor="xen",
            image_location=f"amazon/{image.name}",
            root_device_type="ebs",
            root_device_name=image.root_device,
            region_name=self._region,
            creation_date=release.day,
        )

    def _point(self, image: _Image, release: Release) -> None:
        for path in (image.pinned, image.recommended):
            self._put(f"{path}/image_id", image.id, release.day)
            self._put(f"{path}/{image.version_parameter}", image.version, release.day)

    def _put(self, name: str, value: str, day: datetime) -> None:
        parameter: Any = Parameter
        versions: Any = ssm_backends[ACCOUNT][self._region]._parameters[name]  # noqa: SLF001  no public way in
        versions.append(
            parameter(
                account_id=ACCOUNT,
                name=name,
                value=value,
                parameter_type="String",
                description=None,
                allowed_pattern=None,
                keyid=None,
                last_modified_date=day,
                version=len(versions) + 1,
                data_type="aws:ec2:image" if name.endswith("/image_id") else "text",
            )
        )


def _images(release: Release) -> Iterator[_Image]:
    for version in KUBERNETES_VERSIONS:
        yield from _al2023(version, release)
        yield from _bottlerocket(version, release)
    for version in AL2_VERSIONS:
        yield from _al2(version, release)


def _al2023(kubernetes: str, release: Release) -> Iterator[_Image]:
    root = f"/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023"
    for architecture, variant in AL2023_VARIANTS:
        name = f"amazon-eks-node-al2023-{architecture}-{variant}-{kubernetes}-{release.linux}"
        path = f"{root}/{architecture}/{variant}"
        yield _linux_image(name, architecture, path, release)


def _al2(kubernetes: str, release: Release) -> Iterator[_Image]:
    root = f"/aws/service/eks/optimized-ami/{kubernetes}"
    for suffix, architecture in AL2_ARCHITECTURES.items():
        name = f"amazon-eks{suffix}-node-{kubernetes}-{release.linux}"
        yield _linux_image(name, architecture, f"{root}/amazon-linux-2{suffix}", release)


def _linux_image(name: str, architecture: str, path: str, release: Release) -> _Image:
    return _Image(
        name=name,
        architecture=architecture,
        owner=EKS_OWNER,
        root_device="/dev/xvda",
        pinned=f"{path}/{name}",
        recommended=f"{path}/recommended",
        version=release.linux,
        version_parameter="release_version",
    )


def _bottlerocket(kubernetes: str, release: Release) -> Iterator[_Image]:
    for suffix in ("", "-nvidia"):
        for architecture, named in BOTTLEROCKET_NAMES.items():
            path = f"/aws/service/bottlerocket/aws-k8s-{kubernetes}{suffix}/{architecture}"
            yield _Image(
                name=f"bottlerocket-aws-k8s-{kubernetes}{suffix}-{named}-v{release.bottlerocket}-5aa3d0b1",
                architecture=architecture,
                owner=BOTTLEROCKET_OWNER,
                root_device="/dev/xvda",
                pinned=f"{path}/{release.bottlerocket}",
                recommended=f"{path}/latest",
                version=release.bottlerocket,
                version_parameter="image_version",
            )
