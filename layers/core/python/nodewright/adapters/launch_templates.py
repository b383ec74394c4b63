"""Launch templates by the hash of their content: the same content is the same template, made once."""

import base64
import hashlib
import json
from typing import TYPE_CHECKING, cast

from botocore.exceptions import ClientError

from nodewright.adapters.aws_errors import error_code, outside
from nodewright.adapters.ec2_tags import STACK_TAG, specifications
from nodewright.application.errors import RefusedError
from nodewright.application.ports import LaunchTemplateSpec
from nodewright.domain.nodeclasses import BlockDevice, MetadataOptions

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_ec2.literals import ResourceTypeType
    from mypy_boto3_ec2.type_defs import (
        LaunchTemplateBlockDeviceMappingRequestTypeDef,
        LaunchTemplateEbsBlockDeviceRequestTypeDef,
        LaunchTemplateIamInstanceProfileSpecificationRequestTypeDef,
        LaunchTemplateInstanceMetadataOptionsRequestTypeDef,
        RequestLaunchTemplateDataTypeDef,
    )

#: EC2's limit, before base64.
USER_DATA_BYTES = 16 * 1024

_EXISTS = "InvalidLaunchTemplateName.AlreadyExistsException"


class LaunchTemplates:
    """Makes templates and remembers, for this container, which are there."""

    def __init__(self, client: "EC2Client", stack_id: str) -> None:
        self._client = client
        self._stack_id = stack_id
        self._there: set[str] = set()

    def ensure(self, spec: LaunchTemplateSpec) -> str:
        """Name of the template with this content."""
        data = template_data(spec)
        tags = {**spec.tags, STACK_TAG: self._stack_id}
        name = f"nodewright/{_hash([data, tags])}"
        if name not in self._there:
            with outside(f"{spec.node_class}: making its launch template"):
                self._make(name, data, tags)
            self._there.add(name)
        return name

    def forget(self) -> None:
        """One of them was deleted by somebody: look again."""
        self._there.clear()

    def _make(self, name: str, data: "RequestLaunchTemplateDataTypeDef", tags: dict[str, str]) -> None:
        try:
            self._client.create_launch_template(
                LaunchTemplateName=name,
                LaunchTemplateData=data,
                TagSpecifications=specifications(["launch-template"], tags),
            )
        except ClientError as error:
            if error_code(error) != _EXISTS:
                raise


def template_data(spec: LaunchTemplateSpec) -> "RequestLaunchTemplateDataTypeDef":
    """The content as EC2 takes it. RefusedError names the class whose user data is too long."""
    data: RequestLaunchTemplateDataTypeDef = {
        "ImageId": spec.image_id,
        "UserData": _user_data(spec),
        "IamInstanceProfile": _profile(spec.instance_profile),
        "BlockDeviceMappings": [_block_device(device) for device in spec.node_class.block_devices],
        "MetadataOptions": _metadata_options(spec.node_class.metadata_options),
        "Monitoring": {"Enabled": spec.node_class.detailed_monitoring},
        "TagSpecifications": specifications(_tagged_kinds(spec), spec.tags),
    }
    return {**data, **_network(spec)}


def _tagged_kinds(spec: LaunchTemplateSpec) -> "list[ResourceTypeType]":
    """What CreateFleet's own tag specifications don't reach (karpenter-behaviour §7.3)."""
    kinds: list[ResourceTypeType] = ["network-interface"]
    return [*kinds, "spot-instances-request"] if spec.capacity_type == "spot" else kinds


def _network(spec: LaunchTemplateSpec) -> "RequestLaunchTemplateDataTypeDef":
    """Groups directly, or on an interface where the class says something of public addresses."""
    groups = list(spec.security_group_ids)
    public = spec.node_class.associate_public_ip
    if public is None:
        return {"SecurityGroupIds": groups}
    return {"NetworkInterfaces": [{"DeviceIndex": 0, "AssociatePublicIpAddress": public, "Groups": groups}]}


def _profile(profile: str) -> "LaunchTemplateIamInstanceProfileSpecificationRequestTypeDef":
    return {"Arn": profile} if profile.startswith("arn:") else {"Name": profile}


def _user_data(spec: LaunchTemplateSpec) -> str:
    raw = spec.user_data.encode()
    if len(raw) > USER_DATA_BYTES:
        raise RefusedError(
            f"{spec.node_class}: user data is {len(raw)} bytes, EC2 takes {USER_DATA_BYTES}: shorten spec.userData"
        )
    return base64.b64encode(raw).decode()


def _block_device(device: BlockDevice) -> "LaunchTemplateBlockDeviceMappingRequestTypeDef":
    """Only what the class says; the rest is EC2's default."""
    settings = {
        "VolumeSize": device.volume_size_gib,
        "VolumeType": device.volume_type or None,
        "Iops": device.iops,
        "Throughput": device.throughput,
        "Encrypted": device.encrypted,
        "KmsKeyId": device.kms_key_id or None,
        "SnapshotId": device.snapshot_id or None,
        "DeleteOnTermination": device.delete_on_termination,
    }
    said = {name: value for name, value in settings.items() if value is not None}
    # A manifest's text isn't one of the stubs' literals; EC2 judges it.
    return {"DeviceName": device.device_name, "Ebs": cast("LaunchTemplateEbsBlockDeviceRequestTypeDef", said)}


def _metadata_options(options: MetadataOptions) -> "LaunchTemplateInstanceMetadataOptionsRequestTypeDef":
    """Tags stay off: their keys may hold `/`, with which EC2 would refuse the launch."""
    said = {
        "HttpEndpoint": options.http_endpoint,
        "HttpProtocolIpv6": options.http_protocol_ipv6,
        "HttpPutResponseHopLimit": options.http_put_response_hop_limit,
        "HttpTokens": options.http_tokens,
        "InstanceMetadataTags": "disabled",
    }
    return cast("LaunchTemplateInstanceMetadataOptionsRequestTypeDef", said)


def _hash(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
