import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from sandbox.aws.server import SandboxAws
from tests.sandbox.aws.builders import Buyer, override, request


class Role:
    """A role, and what it calls."""

    def __init__(self, aws: SandboxAws, name: str, *allowed: str, **statement: Any) -> None:
        self.aws = aws
        iam = aws.client("iam")
        self.arn = str(iam.create_role(RoleName=name, AssumeRolePolicyDocument="{}")["Role"]["Arn"])
        if allowed:
            one = {"Effect": "Allow", "Action": list(allowed), "Resource": "*", **statement}
            document = json.dumps({"Version": "2012-10-17", "Statement": [one]})
            iam.put_role_policy(RoleName=name, PolicyName="p", PolicyDocument=document)

    def client(self, service: str) -> Any:
        return self.aws.client(service, self.arn)

    def used(self) -> set[str]:
        return self.aws.calls.by_role().get(self.arn, set())


def test_calls_are_recorded_by_the_role_that_made_them(aws: SandboxAws) -> None:
    one, other = Role(aws, "one"), Role(aws, "other")
    one.client("ec2").describe_instances()
    other.client("sqs").list_queues()
    aws.client("ec2").describe_vpcs()
    assert one.used() == {"ec2:DescribeInstances"}
    assert other.used() == {"sqs:ListQueues"}
    assert aws.calls.count("ec2", "DescribeInstances") == 1
    aws.calls.clear()
    assert aws.calls.by_role() == {}


def test_rest_services_are_recorded_too(aws: SandboxAws) -> None:
    role = Role(aws, "one")
    role.client("eks").list_clusters()
    role.client("lambda").list_functions()
    role.client("s3").list_buckets()
    role.client("cloudwatch").describe_alarms()
    assert role.used() == {
        "eks:ListClusters",
        "lambda:ListFunctions",
        "s3:ListBuckets",
        "cloudwatch:DescribeAlarms",
    }


def test_a_fleet_needs_what_it_does_in_the_callers_name(aws: SandboxAws) -> None:
    buyer, role = Buyer(aws), Role(aws, "provision")
    buyer.template()
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "b"}]}]
    role.client("ec2").create_fleet(**request(override("t4g.medium"), TagSpecifications=tags))
    assert role.used() == {"ec2:CreateFleet", "ec2:RunInstances", "ec2:CreateTags", "iam:PassRole"}


def test_batches_and_transactions_need_the_actions_inside(aws: SandboxAws) -> None:
    role = Role(aws, "one")
    aws.client("dynamodb").create_table(
        TableName="t",
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    url = aws.client("sqs").create_queue(QueueName="q")["QueueUrl"]
    put = {"TableName": "t", "Item": {"pk": {"S": "1"}}}
    check = {"TableName": "t", "Key": {"pk": {"S": "2"}}, "ConditionExpression": "attribute_not_exists(pk)"}
    role.client("dynamodb").transact_write_items(TransactItems=[{"Put": put}, {"ConditionCheck": check}])
    role.client("sqs").send_message_batch(QueueUrl=url, Entries=[{"Id": "1", "MessageBody": "x"}])
    assert role.used() == {"dynamodb:PutItem", "dynamodb:ConditionCheckItem", "sqs:SendMessage"}


def test_what_a_role_may_do_is_read_from_its_policies(aws: SandboxAws) -> None:
    role = Role(aws, "one", "ec2:Describe*", "sqs:SendMessage")
    assert aws.iam.allowed(role.arn, "ec2:DescribeInstances")
    assert aws.iam.allowed(role.arn, "SQS:sendmessage")
    assert not aws.iam.allowed(role.arn, "ec2:CreateFleet")


def test_a_denial_wins_and_managed_policies_count(aws: SandboxAws) -> None:
    role = Role(aws, "one", "ec2:*")
    iam = aws.client("iam")
    deny = {"Effect": "Deny", "Action": "ec2:Terminate*", "Resource": "*"}
    allow = {"Effect": "Allow", "NotAction": ["iam:*", "s3:*"], "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [deny, allow]})
    policy = iam.create_policy(PolicyName="m", PolicyDocument=document)["Policy"]["Arn"]
    iam.attach_role_policy(RoleName="one", PolicyArn=policy)
    assert not aws.iam.allowed(role.arn, "ec2:TerminateInstances")
    assert aws.iam.allowed(role.arn, "eks:DescribeCluster")
    assert not aws.iam.allowed(role.arn, "iam:CreateUser")


def test_what_a_role_has_for_nothing_is_told(aws: SandboxAws) -> None:
    role = Role(aws, "one", "ec2:Describe*", "sqs:SendMessage", "iam:PassRole")
    assert aws.iam.granted(role.arn) == {"ec2:Describe*", "sqs:SendMessage", "iam:PassRole"}
    assert aws.iam.unused(role.arn, {"ec2:DescribeVpcs", "sqs:SendMessage"}) == {"iam:PassRole"}


def test_nothing_is_refused_unless_enforcement_is_on(aws: SandboxAws) -> None:
    Role(aws, "one").client("ec2").describe_instances()


@pytest.mark.parametrize(
    ("service", "operation", "code"),
    [
        ("ec2", "describe_vpcs", "UnauthorizedOperation"),
        ("sqs", "list_queues", "AccessDeniedException"),
        ("eks", "list_clusters", "AccessDeniedException"),
        ("iam", "list_roles", "AccessDeniedException"),
    ],
)
def test_enforcement_refuses_what_the_role_lacks(aws: SandboxAws, service: str, operation: str, code: str) -> None:
    role = Role(aws, "one", "ec2:DescribeInstances")
    aws.enforce()
    role.client("ec2").describe_instances()
    with pytest.raises(ClientError) as caught:
        getattr(role.client(service), operation)()
    assert caught.value.response["Error"]["Code"] == code
    getattr(aws.client(service), operation)()


def test_a_caller_is_told_which_role_it_is(aws: SandboxAws) -> None:
    role = Role(aws, "one")
    identity = role.client("sts").get_caller_identity()
    assert identity["Arn"] == "arn:aws:sts::123456789012:assumed-role/one/sandbox"
    assert identity["Account"] == "123456789012"


def test_a_fault_hits_one_operation_a_number_of_times(aws: SandboxAws) -> None:
    aws.faults.fail("dynamodb", "ListTables", "ThrottlingException", times=2)
    dynamodb = aws.client("dynamodb")
    for _ in range(2):
        with pytest.raises(ClientError, match="Rate exceeded"):
            dynamodb.list_tables()
    assert dynamodb.list_tables()["TableNames"] == []
    aws.client("ec2").describe_vpcs()


def test_a_fault_may_hit_a_whole_service(aws: SandboxAws) -> None:
    aws.faults.fail("ssm", "*", "InternalServerError", message="out of order")
    with pytest.raises(ClientError, match="out of order"):
        aws.client("ssm").describe_parameters()


def test_a_lost_answer_has_its_effect(aws: SandboxAws) -> None:
    aws.faults.lose("sqs", "CreateQueue")
    sqs = aws.client("sqs")
    with pytest.raises(ClientError, match="InternalError"):
        sqs.create_queue(QueueName="q")
    assert len(sqs.list_queues()["QueueUrls"]) == 1
