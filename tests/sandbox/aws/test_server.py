import os
import subprocess
import sys

import pytest

from sandbox.aws.server import SandboxAws
from tests.sandbox.aws.builders import Buyer, override

WHO = "import boto3; print(boto3.client('sts').get_caller_identity()['Arn'])"
ROLE = "arn:aws:iam::123456789012:role/provision"


def ask(environment: dict[str, str]) -> str:
    """What another process is told, with nothing but these variables to go by."""
    path = {"PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", WHO], env={**path, **environment}, capture_output=True, check=True)
    return done.stdout.decode().strip()


def test_another_process_finds_the_sandbox_by_its_environment(aws: SandboxAws) -> None:
    assert ask(aws.environment()).startswith("arn:aws:sts::123456789012:")


def test_another_process_acts_as_the_role_whose_credentials_it_has(aws: SandboxAws) -> None:
    told = ask({**aws.environment(), **aws.credentials_for(ROLE)})
    assert told == "arn:aws:sts::123456789012:assumed-role/provision/sandbox"
    assert aws.calls.by_role() == {ROLE: {"sts:GetCallerIdentity"}}


def test_there_is_one_sandbox_at_a_time(aws: SandboxAws) -> None:
    with pytest.raises(RuntimeError, match="Another SandboxAws is open"), SandboxAws():
        pass
    assert aws.client("sqs").list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_a_reset_leaves_an_empty_account_with_images(aws: SandboxAws) -> None:
    aws.client("sqs").create_queue(QueueName="q")
    aws.faults.fail("sqs", "*", "InternalError", times=9)
    aws.eks.publish("blue", "https://127.0.0.1:1", "", "1.37", "10.96.0.0/12")
    aws.reset()
    assert "QueueUrls" not in aws.client("sqs").list_queues()
    assert aws.client("eks").list_clusters()["clusters"] == []
    assert aws.client("ec2").describe_images(Owners=["amazon"])["Images"]


def test_a_sweep_removes_the_workload_and_keeps_the_account(aws: SandboxAws) -> None:
    buyer = Buyer(aws)
    buyer.template()
    buyer.fleet(override("t4g.medium"), ClientToken="t")
    sqs = aws.client("sqs")
    url = sqs.create_queue(QueueName="q.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    hint = {"MessageBody": "x", "MessageGroupId": "c", "MessageDeduplicationId": "d"}
    sqs.send_message(QueueUrl=url, **hint)
    aws.fleet.exhaust()
    aws.sweep()
    assert buyer.instances() == []
    assert buyer.ec2.describe_launch_templates()["LaunchTemplates"] == []
    assert buyer.ec2.describe_volumes()["Volumes"] == []
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    sqs.send_message(QueueUrl=url, **hint)
    assert len(sqs.receive_message(QueueUrl=url)["Messages"]) == 1
    buyer.template()
    assert len(buyer.fleet(override("t4g.medium"), ClientToken="t")["Instances"]) == 1


def test_a_sweep_leaves_tables_as_they_were_at_the_checkpoint(aws: SandboxAws) -> None:
    dynamodb = aws.client("dynamodb")
    key = [{"AttributeName": "pk", "KeyType": "HASH"}]
    attributes = [{"AttributeName": "pk", "AttributeType": "S"}]
    dynamodb.create_table(TableName="t", KeySchema=key, AttributeDefinitions=attributes, BillingMode="PAY_PER_REQUEST")
    kept = {"pk": {"S": "kept"}, "n": {"N": "1"}}
    dynamodb.put_item(TableName="t", Item=kept)
    aws.checkpoint()
    for _ in range(2):
        dynamodb.put_item(TableName="t", Item={"pk": {"S": "new"}})
        dynamodb.update_item(
            TableName="t",
            Key={"pk": {"S": "kept"}},
            UpdateExpression="SET n = n + :one",
            ExpressionAttributeValues={":one": {"N": "1"}},
        )
        aws.sweep()
        assert dynamodb.scan(TableName="t")["Items"] == [kept]
    aws.reset()
    assert dynamodb.list_tables()["TableNames"] == []


def test_a_sweep_can_spare_the_launch_templates_that_warm_functions_remember(aws: SandboxAws) -> None:
    buyer = Buyer(aws)
    buyer.template()
    buyer.fleet(override("t4g.medium"), ClientToken="t")
    aws.sweep(templates=False)
    assert buyer.instances() == []
    assert len(buyer.ec2.describe_launch_templates()["LaunchTemplates"]) == 1


def test_a_broken_part_of_the_sandbox_answers_in_the_services_own_protocol(aws: SandboxAws) -> None:
    error = aws.client("ec2").exceptions.ClientError
    with pytest.raises(error, match=r"InternalError.*NotImplementedError"):
        aws.client("ec2").describe_capacity_reservations()
