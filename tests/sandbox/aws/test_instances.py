import pytest

from sandbox.aws.events import Event
from sandbox.aws.instances import InstanceChange
from sandbox.aws.server import SandboxAws
from tests.sandbox.aws.builders import ZONE_A, Buyer, override


@pytest.fixture
def buyer(aws: SandboxAws) -> Buyer:
    return Buyer(aws)


def test_a_listener_hears_of_every_state_of_an_instance(buyer: Buyer, changes: list[InstanceChange]) -> None:
    buyer.template()
    buyer.fleet(override("t4g.medium"))
    (instance,) = buyer.instances()
    buyer.ec2.stop_instances(InstanceIds=[instance["InstanceId"]])
    buyer.ec2.start_instances(InstanceIds=[instance["InstanceId"]])
    buyer.ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])
    buyer.ec2.terminate_instances(InstanceIds=[instance["InstanceId"]])
    expected = ["pending", "running", "stopping", "stopped", "pending", "running", "shutting-down", "terminated"]
    assert [change.state for change in changes] == expected
    first = changes[0]
    assert first.id == instance["InstanceId"]
    assert (first.instance_type, first.zone, first.lifecycle) == ("t4g.medium", ZONE_A, "spot")
    assert first.user_data == "[settings.kubernetes]\n"
    assert first.private_dns_name == instance["PrivateDnsName"]


def test_state_changes_are_events_as_ec2_sends_them(buyer: Buyer, events: list[Event]) -> None:
    buyer.template()
    buyer.fleet(override("t4g.medium"))
    instance_id = buyer.instances()[0]["InstanceId"]
    buyer.ec2.terminate_instances(InstanceIds=[instance_id])
    assert [one["detail"]["state"] for one in events] == ["pending", "running", "shutting-down", "terminated"]
    event = events[0]
    assert event["source"] == "aws.ec2"
    assert event["detail-type"] == "EC2 Instance State-change Notification"
    assert event["account"] == "123456789012"
    assert event["region"] == "ap-northeast-2"
    assert event["resources"] == [f"arn:aws:ec2:ap-northeast-2:123456789012:instance/{instance_id}"]
    assert event["detail"] == {"instance-id": instance_id, "state": "pending"}
