import pytest
from botocore.exceptions import ClientError

from sandbox.aws.server import SandboxAws
from tests.sandbox.aws.builders import SUBNET_A, SUBNET_B, ZONE_A, Buyer


@pytest.fixture
def buyer(aws: SandboxAws) -> Buyer:
    return Buyer(aws)


def run(buyer: Buyer, instance_type: str = "t4g.small", subnet: str = SUBNET_A, **more: object) -> list[str]:
    """Ids of the instances started from the template `nodes`."""
    answer = buyer.ec2.run_instances(
        MinCount=1,
        **{"MaxCount": 1, **more},
        InstanceType=instance_type,
        SubnetId=subnet,
        LaunchTemplate={"LaunchTemplateName": "nodes"},
    )
    return [one["InstanceId"] for one in answer["Instances"]]


def test_the_launch_template_is_applied(buyer: Buyer) -> None:
    buyer.template(TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "1"}]}])
    (instance_id,) = run(buyer)
    (instance,) = buyer.instances()
    assert instance["InstanceId"] == instance_id
    assert instance["SecurityGroups"][0]["GroupName"] == "my-cluster-node"
    assert instance["IamInstanceProfile"]["Arn"].endswith("/AmazonEKSNodeRole")
    assert {"Key": "a", "Value": "1"} in instance["Tags"]


def test_the_market_may_be_spot(buyer: Buyer) -> None:
    buyer.template()
    run(buyer, InstanceMarketOptions={"MarketType": "spot"})
    assert buyer.instances()[0]["InstanceLifecycle"] == "spot"


def test_the_same_token_starts_nothing_twice(buyer: Buyer) -> None:
    buyer.template()
    assert run(buyer, ClientToken="t", MaxCount=2) == run(buyer, ClientToken="t", MaxCount=2)
    assert len(buyer.instances()) == 2
    with pytest.raises(ClientError, match="IdempotentParameterMismatch"):
        run(buyer, ClientToken="t", MaxCount=3)


@pytest.mark.parametrize(
    ("instance_type", "message"),
    [("a1.large", "InvalidParameterValue"), ("zz.large", "InvalidParameterValue"), ("m6i.large", "does not match")],
)
def test_a_type_that_cannot_run_here_is_refused(buyer: Buyer, instance_type: str, message: str) -> None:
    buyer.template()
    with pytest.raises(ClientError, match=message):
        run(buyer, instance_type)


def test_a_type_of_another_zone_is_unsupported_and_the_answer_names_the_zones_that_have_it(buyer: Buyer) -> None:
    buyer.template(architecture="x86_64")
    with pytest.raises(ClientError, match=r"Unsupported.*choosing ap-northeast-2a"):
        run(buyer, "c4.large", _subnet_in(buyer, "ap-northeast-2d"))


def _subnet_in(buyer: Buyer, zone: str) -> str:
    made = buyer.ec2.create_subnet(VpcId=buyer.account.vpc_id, CidrBlock="10.0.240.0/24", AvailabilityZone=zone)
    return str(made["Subnet"]["SubnetId"])


def test_short_capacity_refuses_all(buyer: Buyer) -> None:
    buyer.template()
    buyer.aws.fleet.limit("t4g.small", ZONE_A, "on-demand", 1)
    with pytest.raises(ClientError, match="InsufficientInstanceCapacity"):
        run(buyer, MaxCount=2)
    assert buyer.instances() == []
    assert len(run(buyer, subnet=SUBNET_B)) == 1
