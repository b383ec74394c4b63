"""The stack really deployed by `cdk deploy`, updated, and taken away again."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox import deploy
from sandbox.aws.server import SandboxAws

NODE_ROLE = "AmazonEKSNodeRole"


@dataclass(frozen=True)
class Deployed:
    aws: SandboxAws
    assembly: Path
    outputs: dict[str, str]


@pytest.fixture(scope="module")
def deployed() -> Iterator[Deployed]:
    # As the sandbox deploys it, so that both use one assembly.
    assembly = deploy.assembly({"nodeRoles": NODE_ROLE, "retainState": "false"})
    with SandboxAws() as aws:
        deploy.bootstrap(aws.environment(), assembly, account=aws.account, region=aws.region)
        yield Deployed(aws, assembly, deploy.deploy(aws.environment(), assembly))


def test_every_output_is_resolved(deployed: Deployed) -> None:
    outputs = deployed.outputs

    assert outputs["StackId"] == "Nodewright"
    assert outputs["ApiUrl"].startswith("http")
    assert outputs["NodeRoleName"] == outputs["NodeInstanceProfileName"] == f"Nodewright-node-{deployed.aws.region}"
    assert outputs["ProvisionQueueUrl"].endswith("/Nodewright-provision.fifo")
    assert all(value and "None" not in value and "object at" not in value for value in outputs.values())


def test_what_the_outputs_name_is_there(deployed: Deployed) -> None:
    aws, outputs = deployed.aws, deployed.outputs

    table = aws.client("dynamodb").describe_table(TableName=outputs["TableName"])["Table"]
    role = aws.client("iam").get_role(RoleName=outputs["NodeRoleName"])["Role"]
    profile = aws.client("iam").get_instance_profile(InstanceProfileName=outputs["NodeInstanceProfileName"])
    queue = aws.client("sqs").get_queue_attributes(QueueUrl=outputs["ProvisionQueueUrl"], AttributeNames=["All"])

    assert [key["AttributeName"] for key in table["KeySchema"]] == ["pk", "sk"]
    assert role["Arn"] == outputs["NodeRoleArn"]
    assert profile["InstanceProfile"]["Roles"][0]["RoleName"] == outputs["NodeRoleName"]
    assert queue["Attributes"]["FifoQueue"] == "true"
    assert queue["Attributes"]["VisibilityTimeout"] == "100"


def test_functions_are_told_what_was_really_made(deployed: Deployed) -> None:
    function = deployed.aws.client("lambda").get_function_configuration(FunctionName="Nodewright-provision")
    variables = function["Environment"]["Variables"]

    assert variables["NODEWRIGHT_TABLE"] == deployed.outputs["TableName"]
    assert variables["NODEWRIGHT_PROVISION_QUEUE"] == deployed.outputs["ProvisionQueueUrl"]
    assert variables["NODEWRIGHT_RECONCILE_QUEUE"] == deployed.outputs["ReconcileQueueUrl"]
    assert variables["NODEWRIGHT_NODE_ROLE"] == deployed.outputs["NodeRoleName"]


def test_deploying_again_changes_no_output(deployed: Deployed) -> None:
    assert deploy.deploy(deployed.aws.environment(), deployed.assembly) == deployed.outputs


def test_an_update_reaches_what_is_deployed_and_keeps_the_table(deployed: Deployed) -> None:
    assert _passed_roles(deployed) == {_role(deployed, deployed.outputs["NodeRoleName"]), _role(deployed, NODE_ROLE)}

    outputs = deploy.deploy(deployed.aws.environment(), deploy.assembly())

    assert outputs == deployed.outputs
    assert _passed_roles(deployed) == {_role(deployed, deployed.outputs["NodeRoleName"])}
    deploy.deploy(deployed.aws.environment(), deployed.assembly)


def test_destroying_leaves_nothing_behind(deployed: Deployed) -> None:
    deploy.destroy(deployed.aws.environment(), deployed.assembly)

    stacks = deployed.aws.client("cloudformation").describe_stacks()["Stacks"]
    assert [stack["StackName"] for stack in stacks] == ["CDKToolkit"]
    assert deployed.aws.client("sqs").list_queues().get("QueueUrls", []) == []
    assert deployed.aws.client("lambda").list_functions()["Functions"] == []
    assert deployed.aws.client("dynamodb").list_tables()["TableNames"] == []


def test_a_refusal_is_told_in_the_words_of_cdk(deployed: Deployed, tmp_path: Path) -> None:
    with pytest.raises(deploy.CdkError, match=r"(?s)deploy.*ended with 1:.*"):
        deploy.deploy(deployed.aws.environment(), tmp_path)


def _passed_roles(deployed: Deployed) -> set[str]:
    """What provision may give to nodes, as IAM has it."""
    iam, role = deployed.aws.client("iam"), deployed.outputs["ProvisionRoleArn"].rpartition("/")[2]
    (name,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
    statements = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]["Statement"]
    (passing,) = [each for each in statements if each["Action"] == "iam:PassRole"]
    resources = passing["Resource"]
    return {resources} if isinstance(resources, str) else set(resources)


def _role(deployed: Deployed, name: str) -> str:
    return f"arn:aws:iam::{deployed.aws.account}:role/{name}"
