"""Ec2Fleet where the contract can't reach: what is sent, errors of a whole call, lags, pages."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from botocore.stub import Stubber

from nodewright.adapters import aws_clients
from nodewright.adapters.ec2 import Ec2Fleet
from nodewright.adapters.fleet_requests import to_create_fleet
from nodewright.application.errors import NotFoundError, RefusedError, UnavailableError
from nodewright.application.ports import FleetError, FleetOverride, FleetRequest, Instance
from nodewright.domain.catalogue import CapacityType
from tests.adapters.builders import STACK, fleet_request, fleet_tags, template_spec

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client

A = FleetOverride("m7g.large", "us-east-1a", "subnet-a", "ami-1")
B = FleetOverride("t4g.medium", "us-east-1b", "subnet-b", "ami-1")
REQUEST = fleet_request("nodewright/1", (A, B), capacity=2, capacity_type="spot", context="ctx")

BOUGHT = {
    "FleetId": "fleet-1",
    "Instances": [
        {
            "LaunchTemplateAndOverrides": {
                "Overrides": {"InstanceType": "m7g.large", "SubnetId": "subnet-a", "ImageId": "ami-1"}
            },
            "Lifecycle": "spot",
            "InstanceIds": ["i-b", "i-a"],
            "InstanceType": "m7g.large",
        }
    ],
    "Errors": [],
}


@pytest.fixture
def client(aws: str) -> "EC2Client":
    return aws_clients.ec2(aws)


@pytest.fixture
def fleet(client: "EC2Client") -> Ec2Fleet:
    return Ec2Fleet(client, STACK)


def test_the_call_is_instant_capped_by_capacity_and_carries_token_and_tags() -> None:
    call = to_create_fleet(REQUEST)
    tags = [{"Key": k, "Value": v} for k, v in sorted({**fleet_tags(), "nodewright.dev/launch": "l1"}.items())]
    assert call == {
        "Type": "instant",
        "ClientToken": "l1",
        "Context": "ctx",
        "TargetCapacitySpecification": {"TotalTargetCapacity": 2, "DefaultTargetCapacityType": "spot"},
        "SpotOptions": {"AllocationStrategy": "price-capacity-optimized"},
        "LaunchTemplateConfigs": [
            {
                "LaunchTemplateSpecification": {"LaunchTemplateName": "nodewright/1", "Version": "$Latest"},
                "Overrides": [
                    {"InstanceType": "m7g.large", "SubnetId": "subnet-a", "ImageId": "ami-1"},
                    {"InstanceType": "t4g.medium", "SubnetId": "subnet-b", "ImageId": "ami-1"},
                ],
            }
        ],
        "TagSpecifications": [{"ResourceType": kind, "Tags": tags} for kind in ("instance", "volume", "fleet")],
    }


def test_on_demand_asks_for_the_lowest_price_and_no_context_is_sent_as_none() -> None:
    call = to_create_fleet(fleet_request("nodewright/1", (A,)))
    assert call["OnDemandOptions"] == {"AllocationStrategy": "lowest-price"}
    assert "SpotOptions" not in call
    assert "Context" not in call


@pytest.mark.parametrize(
    ("capacity_type", "options", "strategy"),
    [
        ("spot", "SpotOptions", "capacity-optimized-prioritized"),
        ("on-demand", "OnDemandOptions", "prioritized"),
    ],
)
def test_prices_that_ec2_does_not_know_are_its_priorities(
    capacity_type: CapacityType, options: str, strategy: str
) -> None:
    overrides = (replace(A, price=12_600_000), replace(B, price=20_000_000))
    call: Any = to_create_fleet(fleet_request("nodewright/1", overrides, capacity_type=capacity_type))
    assert call[options] == {"AllocationStrategy": strategy}
    assert [o["Priority"] for o in call["LaunchTemplateConfigs"][0]["Overrides"]] == [0.0126, 0.02]


def test_the_same_request_is_the_same_call_whatever_the_order_of_its_tags() -> None:
    backwards = replace(REQUEST, tags=dict(reversed(list(REQUEST.tags.items()))))
    assert to_create_fleet(backwards) == to_create_fleet(REQUEST)


def test_an_instance_that_ec2_does_not_describe_yet_is_bought_all_the_same(
    client: "EC2Client", fleet: Ec2Fleet
) -> None:
    with Stubber(client) as stub:
        stub.add_response("create_fleet", BOUGHT)
        stub.add_response("describe_instances", {"Reservations": []})
        answer = fleet.launch(REQUEST)
    tags = {**fleet_tags(), "nodewright.dev/launch": "l1"}
    assert answer.instances == tuple(
        Instance(i, "m7g.large", "us-east-1a", "spot", "pending", "ami-1", None, tags) for i in ("i-a", "i-b")
    )


@pytest.mark.parametrize("code", ["RequestLimitExceeded", "InternalError", "UnauthorizedOperation"])
def test_describing_that_fails_does_not_lose_what_was_bought(client: "EC2Client", fleet: Ec2Fleet, code: str) -> None:
    with Stubber(client) as stub:
        stub.add_response("create_fleet", BOUGHT)
        stub.add_client_error("describe_instances", code)
        assert [instance.id for instance in fleet.launch(REQUEST).instances] == ["i-a", "i-b"]


def test_errors_name_the_offering_each_once(client: "EC2Client", fleet: Ec2Fleet) -> None:
    error = {
        "LaunchTemplateAndOverrides": {"Overrides": {"InstanceType": "m7g.large", "SubnetId": "subnet-a"}},
        "Lifecycle": "spot",
        "ErrorCode": "InsufficientInstanceCapacity",
        "ErrorMessage": "none left",
    }
    with Stubber(client) as stub:
        stub.add_response("create_fleet", {"FleetId": "fleet-1", "Instances": [], "Errors": [error, error]})
        answer = fleet.launch(REQUEST)
    assert answer.instances == ()
    assert answer.errors == (
        FleetError("InsufficientInstanceCapacity", "none left", "m7g.large", "us-east-1a", "subnet-a", "spot"),
    )


@pytest.mark.parametrize("code", ["InsufficientInstanceCapacity", "MaxSpotInstanceCountExceeded", "VcpuLimitExceeded"])
def test_a_shortage_that_refuses_the_whole_call_is_an_answer_about_every_offering(
    client: "EC2Client", fleet: Ec2Fleet, code: str
) -> None:
    with Stubber(client) as stub:
        stub.add_client_error("create_fleet", code, "none", http_status_code=500)
        answer = fleet.launch(REQUEST)
    assert answer.instances == ()
    assert [(e.code, e.instance_type, e.zone, e.subnet_id, e.capacity_type) for e in answer.errors] == [
        (code, "m7g.large", "us-east-1a", "subnet-a", "spot"),
        (code, "t4g.medium", "us-east-1b", "subnet-b", "spot"),
    ]


@pytest.mark.parametrize(
    ("code", "status", "word"),
    [
        ("RequestLimitExceeded", 503, UnavailableError),
        ("InternalError", 500, UnavailableError),
        ("UnauthorizedOperation", 403, RefusedError),
        ("InvalidParameterValue", 400, RefusedError),
        ("IdempotentParameterMismatch", 400, RefusedError),
    ],
)
def test_other_errors_of_the_call_are_raised(
    client: "EC2Client", fleet: Ec2Fleet, code: str, status: int, word: type[Exception]
) -> None:
    with Stubber(client) as stub:
        stub.add_client_error("create_fleet", code, http_status_code=status)
        with pytest.raises(word, match=f"launch l1: {code}"):
            fleet.launch(REQUEST)


def test_a_template_that_was_deleted_is_made_again(client: "EC2Client", fleet: Ec2Fleet) -> None:
    spec = template_spec("ami-1", "sg-1")
    made: dict[str, object] = {"LaunchTemplate": {}}
    with Stubber(client) as stub:
        stub.add_response("create_launch_template", made)
        name = fleet.ensure_template(spec)
        stub.add_client_error("create_fleet", "InvalidLaunchTemplateName.NotFoundException")
        (error, _) = fleet.launch(fleet_request(name, (A, B))).errors
        assert error.code == "InvalidLaunchTemplateName.NotFoundException"
        stub.add_response("create_launch_template", made)
        assert fleet.ensure_template(spec) == name
        stub.assert_no_pending_responses()


def test_instances_are_found_through_all_pages_by_stack_cluster_and_state(client: "EC2Client", fleet: Ec2Fleet) -> None:
    def page(instance_id: str, **more: str) -> dict[str, object]:
        placed = {"InstanceId": instance_id, "Placement": {"AvailabilityZone": "us-east-1a"}}
        return {"Reservations": [{"Instances": [placed]}], **more}

    filters = [
        {"Name": "tag:nodewright.dev/stack", "Values": [STACK]},
        {"Name": "tag:eks:eks-cluster-name", "Values": ["prod"]},
        {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped", "shutting-down"]},
    ]
    with Stubber(client) as stub:
        stub.add_response("describe_instances", page("i-2", NextToken="more"), {"Filters": filters, "MaxResults": 1000})
        stub.add_response(
            "describe_instances", page("i-1"), {"Filters": filters, "MaxResults": 1000, "NextToken": "more"}
        )
        assert [instance.id for instance in fleet.ours("prod")] == ["i-1", "i-2"]


def test_naming_an_instance_that_is_not_there_says_so(client: "EC2Client", fleet: Ec2Fleet) -> None:
    with Stubber(client) as stub:
        stub.add_client_error("create_tags", "InvalidInstanceID.NotFound")
        with pytest.raises(NotFoundError, match="tagging instance i-1"):
            fleet.name("i-1", {"Name": "ip-1"})


def test_instances_are_ended_fifty_a_call(client: "EC2Client", fleet: Ec2Fleet) -> None:
    ids = [f"i-{n:017x}" for n in range(101)]
    with Stubber(client) as stub:
        for start in (0, 50, 100):
            stub.add_response("terminate_instances", {}, {"InstanceIds": ids[start : start + 50]})
        fleet.terminate(ids)
        stub.assert_no_pending_responses()


def test_what_ec2_does_not_know_is_left_out_and_the_rest_is_ended(client: "EC2Client", fleet: Ec2Fleet) -> None:
    gone = "The instance IDs 'i-0000000000000000a, i-0000000000000000c' do not exist"
    with Stubber(client) as stub:
        stub.add_client_error("terminate_instances", "InvalidInstanceID.NotFound", gone)
        stub.add_response("terminate_instances", {}, {"InstanceIds": ["i-0000000000000000b"]})
        fleet.terminate(["i-0000000000000000a", "i-0000000000000000b", "i-0000000000000000c"])
        stub.assert_no_pending_responses()


def test_a_refusal_that_names_none_of_the_instances_is_raised(client: "EC2Client", fleet: Ec2Fleet) -> None:
    with Stubber(client) as stub:
        stub.add_client_error("terminate_instances", "InvalidInstanceID.NotFound", "something is missing")
        with pytest.raises(NotFoundError):
            fleet.terminate(["i-0000000000000000a"])
        stub.add_client_error("terminate_instances", "OperationNotPermitted", "protected i-0000000000000000a")
        with pytest.raises(RefusedError, match="protected"):
            fleet.terminate(["i-0000000000000000a"])


def test_reserved_capacity_is_refused_before_ec2_is_asked(client: "EC2Client", fleet: Ec2Fleet) -> None:
    reserved: FleetRequest = replace(REQUEST, capacity_type="reserved")
    with Stubber(client), pytest.raises(RefusedError, match="reserved"):
        fleet.launch(reserved)
