import base64
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws.server import SandboxAws
from tests.sandbox.aws.builders import SUBNET_A, SUBNET_B, ZONE_A, ZONE_B, Buyer, bought, errors, override, request


@pytest.fixture
def buyer(aws: SandboxAws) -> Buyer:
    return Buyer(aws)


def code_of(caught: pytest.ExceptionInfo[ClientError]) -> str:
    return str(caught.value.response["Error"]["Code"])


def test_spot_buys_the_cheapest_offering_whatever_the_order_of_overrides(buyer: Buyer) -> None:
    buyer.template()
    buyer.aws.prices.set_spot("t4g.large", ZONE_B, "0.001")
    answer = buyer.fleet(override("t4g.medium"), override("t4g.large", SUBNET_B), override("t4g.large"), capacity=3)
    assert bought(answer) == {("t4g.large", ZONE_B): 3}
    assert answer["Errors"] == []


def test_on_demand_spreads_over_zones_of_equal_price(buyer: Buyer) -> None:
    buyer.template()
    answer = buyer.fleet(override("t4g.small"), override("t4g.small", SUBNET_B), capacity=3, spot=False)
    assert bought(answer) == {("t4g.small", ZONE_A): 2, ("t4g.small", ZONE_B): 1}
    assert {row["Lifecycle"] for row in answer["Instances"]} == {"on-demand"}


def test_prioritized_strategies_follow_priority_before_price(buyer: Buyer) -> None:
    buyer.template()
    options = {"AllocationStrategy": "capacity-optimized-prioritized"}
    rows = (override("t4g.small", Priority=2), override("t4g.xlarge", Priority=1))
    assert bought(buyer.fleet(*rows, SpotOptions=options)) == {("t4g.xlarge", ZONE_A): 1}
    options = {"AllocationStrategy": "prioritized"}
    assert bought(buyer.fleet(*rows, spot=False, OnDemandOptions=options)) == {("t4g.xlarge", ZONE_A): 1}


def test_what_an_offering_lacks_comes_from_the_next_one_and_the_answer_says_so(buyer: Buyer) -> None:
    buyer.template()
    buyer.aws.prices.set_spot("t4g.medium", ZONE_A, "0.001")
    buyer.aws.fleet.limit("t4g.medium", ZONE_A, "spot", 2)
    answer = buyer.fleet(override("t4g.medium"), override("t4g.large"), capacity=5)
    assert bought(answer) == {("t4g.medium", ZONE_A): 2, ("t4g.large", ZONE_A): 3}
    assert errors(answer) == {("t4g.medium", ZONE_A): "InsufficientInstanceCapacity"}


def test_partial_success_gives_instances_and_errors(buyer: Buyer) -> None:
    buyer.template()
    buyer.aws.fleet.limit("t4g.medium", ZONE_A, "spot", 1)
    answer = buyer.fleet(override("t4g.medium"), capacity=4)
    assert bought(answer) == {("t4g.medium", ZONE_A): 1}
    assert errors(answer) == {("t4g.medium", ZONE_A): "InsufficientInstanceCapacity"}
    assert {row["Lifecycle"] for row in answer["Errors"]} == {"spot"}


def test_exhausted_spot_leaves_on_demand_alone(buyer: Buyer) -> None:
    buyer.template()
    buyer.aws.fleet.exhaust(capacity_type="spot")
    assert bought(buyer.fleet(override("t4g.medium"))) == {}
    assert bought(buyer.fleet(override("t4g.medium"), spot=False)) == {("t4g.medium", ZONE_A): 1}
    buyer.aws.fleet.restore()
    assert bought(buyer.fleet(override("t4g.medium"))) == {("t4g.medium", ZONE_A): 1}


@pytest.mark.parametrize("code", ["MaxSpotInstanceCountExceeded", "VcpuLimitExceeded"])
def test_an_account_limit_refuses_every_offering(buyer: Buyer, code: str) -> None:
    buyer.template()
    buyer.aws.fleet.refuse(code, "spot", after=1)
    answer = buyer.fleet(override("t4g.medium"), override("t4g.large", SUBNET_B), capacity=2)
    assert sum(bought(answer).values()) == 1
    assert set(errors(answer).values()) == {code}


@pytest.mark.parametrize("instance_type", ["zz.large", "a1.large"])
def test_a_type_the_zone_does_not_have_is_an_invalid_fleet_configuration(buyer: Buyer, instance_type: str) -> None:
    buyer.template()
    answer = buyer.fleet(override(instance_type), override("t4g.medium"))
    assert errors(answer) == {(instance_type, ZONE_A): "InvalidFleetConfiguration"}
    assert bought(answer) == {("t4g.medium", ZONE_A): 1}


def test_an_image_of_another_architecture_is_refused(buyer: Buyer) -> None:
    buyer.template(architecture="arm64")
    answer = buyer.fleet(override("m6i.large"))
    assert errors(answer) == {("m6i.large", ZONE_A): "InvalidParameterValue"}
    assert "does not match the architecture 'arm64'" in answer["Errors"][0]["ErrorMessage"]


def test_a_maximum_price_below_the_spot_price_is_refused(buyer: Buyer) -> None:
    buyer.template()
    answer = buyer.fleet(override("t4g.medium", MaxPrice="0.0001"))
    assert errors(answer) == {("t4g.medium", ZONE_A): "SpotMaxPriceTooLow"}


def test_a_maximum_total_price_ends_the_fleet(buyer: Buyer) -> None:
    buyer.template()
    buyer.aws.prices.set_spot("t4g.medium", ZONE_A, "0.01")
    options = {"AllocationStrategy": "price-capacity-optimized", "MaxTotalPrice": "0.025"}
    assert bought(buyer.fleet(override("t4g.medium"), capacity=5, SpotOptions=options)) == {("t4g.medium", ZONE_A): 2}


def test_below_the_minimum_nothing_is_launched(buyer: Buyer) -> None:
    buyer.template()
    buyer.aws.fleet.limit("t4g.medium", ZONE_A, "spot", 2)
    options = {"AllocationStrategy": "price-capacity-optimized", "MinTargetCapacity": 3}
    options |= {"SingleInstanceType": True, "SingleAvailabilityZone": True}
    answer = buyer.fleet(override("t4g.medium"), capacity=3, SpotOptions=options)
    assert bought(answer) == {}
    assert buyer.instances() == []


def test_weights_count_towards_the_target(buyer: Buyer) -> None:
    buyer.template()
    rows = (override("t4g.large", WeightedCapacity=4),)
    assert bought(buyer.fleet(*rows, capacity=8)) == {("t4g.large", ZONE_A): 2}


def test_a_subnet_without_addresses_gives_none(buyer: Buyer) -> None:
    buyer.template()
    tiny = buyer.ec2.create_subnet(VpcId=buyer.account.vpc_id, CidrBlock="10.0.255.240/28", AvailabilityZone=ZONE_A)
    answer = buyer.fleet(override("t4g.medium", tiny["Subnet"]["SubnetId"]), capacity=14)
    assert bought(answer) == {("t4g.medium", ZONE_A): 11}
    assert errors(answer) == {("t4g.medium", ZONE_A): "InsufficientFreeAddressesInSubnet"}


def test_the_same_token_gives_the_same_answer_and_no_second_fleet(buyer: Buyer) -> None:
    buyer.template()
    answers = [buyer.fleet(override("t4g.medium"), capacity=2, ClientToken="launch-1") for _ in range(3)]
    assert {str(answer["Instances"]) for answer in answers} == {str(answers[0]["Instances"])}
    assert len(buyer.instances()) == 2


def test_a_token_used_for_another_request_is_a_mismatch(buyer: Buyer) -> None:
    buyer.template()
    buyer.fleet(override("t4g.medium"), ClientToken="launch-1")
    with pytest.raises(ClientError) as caught:
        buyer.fleet(override("t4g.medium"), capacity=2, ClientToken="launch-1")
    assert code_of(caught) == "IdempotentParameterMismatch"


def test_a_throttled_request_launches_nothing_and_its_token_stays_free(buyer: Buyer) -> None:
    buyer.template()
    buyer.aws.fleet.throttle(1)
    with pytest.raises(ClientError) as caught:
        buyer.fleet(override("t4g.medium"), ClientToken="launch-1")
    assert code_of(caught) == "RequestLimitExceeded"
    assert buyer.instances() == []
    assert len(buyer.fleet(override("t4g.medium"), ClientToken="launch-1")["Instances"]) == 1


def test_a_lost_answer_leaves_instances_that_the_token_finds_again(buyer: Buyer) -> None:
    buyer.template()
    buyer.aws.faults.lose("ec2", "CreateFleet")
    with pytest.raises(ClientError) as caught:
        buyer.fleet(override("t4g.medium"), ClientToken="launch-1")
    assert code_of(caught) == "InternalError"
    again = buyer.fleet(override("t4g.medium"), ClientToken="launch-1")
    assert [one["InstanceId"] for one in buyer.instances()] == again["Instances"][0]["InstanceIds"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"template": "missing"}, "InvalidLaunchTemplateName.NotFoundException"),
        ({"DryRun": True}, "DryRunOperation"),
    ],
)
def test_a_request_that_cannot_be_served_at_all_is_an_error(buyer: Buyer, change: dict[str, Any], code: str) -> None:
    buyer.template()
    with pytest.raises(ClientError) as caught:
        buyer.ec2.create_fleet(**request(override("t4g.medium"), **change))
    assert code_of(caught) == code


def test_a_missing_subnet_is_an_error(buyer: Buyer) -> None:
    buyer.template()
    with pytest.raises(ClientError) as caught:
        buyer.fleet(override("t4g.medium", "subnet-00000000000000000"))
    assert code_of(caught) == "InvalidSubnetID.NotFound"


def test_a_missing_instance_profile_or_image_is_in_the_errors(buyer: Buyer) -> None:
    buyer.template(IamInstanceProfile={"Name": "nobody"})
    assert set(errors(buyer.fleet(override("t4g.medium"))).values()) == {"InvalidParameterValue"}
    buyer.template("imageless", ImageId="ami-00000000000000000")
    assert set(errors(buyer.fleet(override("t4g.medium"), template="imageless")).values()) == {"InvalidAMIID.NotFound"}


def test_an_instance_has_all_of_its_launch_template(buyer: Buyer) -> None:
    disks = [
        {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 4, "VolumeType": "gp3", "Encrypted": True}},
        {"DeviceName": "/dev/xvdb", "Ebs": {"VolumeSize": 20, "VolumeType": "gp3", "Iops": 4000, "Throughput": 250}},
    ]
    buyer.template(
        BlockDeviceMappings=disks,
        MetadataOptions={"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        Monitoring={"Enabled": True},
        TagSpecifications=[
            {"ResourceType": "instance", "Tags": [{"Key": "from", "Value": "template"}, {"Key": "a", "Value": "1"}]},
            {"ResourceType": "volume", "Tags": [{"Key": "disk", "Value": "yes"}]},
        ],
    )
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "from", "Value": "fleet"}]}]
    answer = buyer.fleet(override("t4g.medium"), TagSpecifications=tags, ClientToken="launch-1")
    (instance,) = buyer.instances()
    volumes = {one["Attachments"][0]["Device"]: one for one in buyer.ec2.describe_volumes()["Volumes"]}
    found = {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
    assert instance["InstanceLifecycle"] == "spot"
    assert instance["ClientToken"] == "launch-1"
    assert instance["SecurityGroups"][0]["GroupName"] == "my-cluster-node"
    assert instance["IamInstanceProfile"]["Arn"].endswith(":instance-profile/AmazonEKSNodeRole")
    assert instance["MetadataOptions"]["HttpTokens"] == "required"
    assert instance["MetadataOptions"]["HttpPutResponseHopLimit"] == 2
    assert instance["Monitoring"] == {"State": "enabled"}
    assert found["from"] == "fleet"
    assert found["a"] == "1"
    assert found["aws:ec2:fleet-id"] == answer["FleetId"]
    assert {name: volume["Size"] for name, volume in volumes.items()} == {"/dev/xvda": 4, "/dev/xvdb": 20}
    assert volumes["/dev/xvdb"]["Iops"] == 4000
    assert volumes["/dev/xvdb"]["Throughput"] == 250
    assert volumes["/dev/xvda"]["Encrypted"]
    assert volumes["/dev/xvda"]["Tags"] == [{"Key": "disk", "Value": "yes"}]
    data = buyer.ec2.describe_instance_attribute(InstanceId=instance["InstanceId"], Attribute="userData")
    assert base64.b64decode(data["UserData"]["Value"]) == b"[settings.kubernetes]\n"


def test_instances_are_found_by_tag_and_state(buyer: Buyer) -> None:
    buyer.template()
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "nodewright.dev/launch", "Value": "l1"}]}]
    buyer.fleet(override("t4g.medium"), capacity=2, TagSpecifications=tags)
    buyer.fleet(override("t4g.medium"))
    filters = [
        {"Name": "tag:nodewright.dev/launch", "Values": ["l1"]},
        {"Name": "instance-state-name", "Values": ["pending", "running"]},
    ]
    found = buyer.ec2.describe_instances(Filters=filters)["Reservations"]
    assert sum(len(one["Instances"]) for one in found) == 2


def test_the_same_requests_buy_the_same_in_a_fresh_account(aws: SandboxAws) -> None:
    def run() -> list[dict[str, Any]]:
        aws.reset()
        buyer = Buyer(aws)
        buyer.template()
        return list(buyer.fleet(override("t4g.medium"), override("t4g.medium", SUBNET_B), capacity=4)["Instances"])

    assert run() == run()


def test_subnets_keep_the_ids_the_manifest_names(buyer: Buyer) -> None:
    found = buyer.ec2.describe_subnets(SubnetIds=[SUBNET_A, SUBNET_B])["Subnets"]
    assert {one["SubnetId"]: one["AvailabilityZone"] for one in found} == {SUBNET_A: ZONE_A, SUBNET_B: ZONE_B}
