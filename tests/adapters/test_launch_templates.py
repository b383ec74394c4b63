import base64
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from botocore.stub import Stubber

from nodewright.adapters import aws_clients
from nodewright.adapters.launch_templates import LaunchTemplates, template_data
from nodewright.application.errors import RefusedError
from nodewright.domain.nodeclasses import BlockDevice, MetadataOptions
from tests.adapters.builders import STACK, fleet_tags, node_class, template_spec

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

SPEC = template_spec("ami-1", "sg-1")
TAGS = [{"Key": key, "Value": value} for key, value in sorted(fleet_tags().items())]


@pytest.fixture
def client(aws: str) -> "EC2Client":
    return aws_clients.ec2(aws)


def test_a_plain_class_makes_a_plain_template() -> None:
    assert template_data(SPEC) == {
        "ImageId": "ami-1",
        "UserData": base64.b64encode("#!/bin/sh\necho é\n".encode()).decode(),
        "IamInstanceProfile": {"Name": "nodes"},
        "SecurityGroupIds": ["sg-1"],
        "BlockDeviceMappings": [],
        "MetadataOptions": {
            "HttpEndpoint": "enabled",
            "HttpProtocolIpv6": "disabled",
            "HttpPutResponseHopLimit": 1,
            "HttpTokens": "required",
            "InstanceMetadataTags": "disabled",
        },
        "Monitoring": {"Enabled": False},
        "TagSpecifications": [{"ResourceType": "network-interface", "Tags": TAGS}],
    }


def test_a_class_that_says_everything_is_followed() -> None:
    everything = node_class(
        block_devices=(
            BlockDevice(
                "/dev/xvda",
                volume_size_gib=20,
                volume_type="gp3",
                iops=4000,
                throughput=250,
                encrypted=True,
                kms_key_id="key-1",
                snapshot_id="snap-1",
                delete_on_termination=False,
                root_volume=True,
            ),
            BlockDevice("/dev/xvdb"),
        ),
        metadata_options=MetadataOptions("disabled", "enabled", 2, "optional"),
        detailed_monitoring=True,
        associate_public_ip=False,
    )
    profile = "arn:aws:iam::123456789012:instance-profile/a/nodes"
    data = template_data(replace(SPEC, node_class=everything, instance_profile=profile, capacity_type="spot"))
    assert data["BlockDeviceMappings"] == [
        {
            "DeviceName": "/dev/xvda",
            "Ebs": {
                "VolumeSize": 20,
                "VolumeType": "gp3",
                "Iops": 4000,
                "Throughput": 250,
                "Encrypted": True,
                "KmsKeyId": "key-1",
                "SnapshotId": "snap-1",
                "DeleteOnTermination": False,
            },
        },
        {"DeviceName": "/dev/xvdb", "Ebs": {}},
    ]
    assert data["MetadataOptions"]["HttpTokens"] == "optional"
    assert data["Monitoring"] == {"Enabled": True}
    assert data["IamInstanceProfile"] == {"Arn": profile}
    assert data["NetworkInterfaces"] == [{"DeviceIndex": 0, "AssociatePublicIpAddress": False, "Groups": ["sg-1"]}]
    assert "SecurityGroupIds" not in data
    kinds = [spec["ResourceType"] for spec in data["TagSpecifications"]]
    assert kinds == ["network-interface", "spot-instances-request"]


def test_user_data_of_exactly_the_limit_is_taken_and_one_byte_more_is_not() -> None:
    template_data(replace(SPEC, user_data="x" * 16384))
    with pytest.raises(RefusedError, match=r"EC2NodeClass/default: user data is 16385 bytes.*shorten spec\.userData"):
        template_data(replace(SPEC, user_data="x" * 16385))


def test_every_part_of_the_content_is_part_of_the_name(client: "EC2Client") -> None:
    changed = [
        SPEC,
        replace(SPEC, image_id="ami-2"),
        replace(SPEC, security_group_ids=("sg-2",)),
        replace(SPEC, tags={**SPEC.tags, "team": "a"}),
        replace(SPEC, node_class=node_class(detailed_monitoring=True)),
        replace(SPEC, capacity_type="spot"),
    ]
    templates = LaunchTemplates(client, STACK)
    assert len({templates.ensure(spec) for spec in changed}) == len(changed)
    assert len(client.describe_launch_templates()["LaunchTemplates"]) == len(changed)


def test_a_template_is_tagged_ours_and_made_once_by_all_containers(client: "EC2Client") -> None:
    names = {LaunchTemplates(client, STACK).ensure(replace(SPEC, tags={"team": "a"})) for _ in range(3)}
    (made,) = client.describe_launch_templates()["LaunchTemplates"]
    assert names == {made["LaunchTemplateName"]}
    assert {tag["Key"]: tag["Value"] for tag in made["Tags"]} == {"nodewright.dev/stack": STACK, "team": "a"}


def test_a_container_asks_for_a_template_once_until_it_is_told_to_forget(client: "EC2Client") -> None:
    templates = LaunchTemplates(client, STACK)
    with Stubber(client) as stub:
        stub.add_response("create_launch_template", {"LaunchTemplate": {}})
        templates.ensure(SPEC)
        templates.ensure(SPEC)
        templates.forget()
        stub.add_client_error("create_launch_template", "InvalidLaunchTemplateName.AlreadyExistsException")
        templates.ensure(SPEC)
        stub.assert_no_pending_responses()


def test_a_template_ec2_refuses_names_the_class(client: "EC2Client") -> None:
    with Stubber(client) as stub:
        stub.add_client_error("create_launch_template", "InvalidUserData.Malformed", "no")
        with pytest.raises(RefusedError, match="EC2NodeClass/default: making its launch template: InvalidUserData"):
            LaunchTemplates(client, STACK).ensure(SPEC)
