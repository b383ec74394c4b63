"""Which IAM actions a call needs: mostly service:Operation, and what AWS checks beyond that."""

from collections.abc import Callable
from typing import Any

from sandbox.aws.protocol import Call

PREFIXES = {"apigatewayv2": "apigateway", "dynamodbstreams": "dynamodb"}
# Operations authorised under another name.
RENAMED = {
    "lambda:Invoke": "lambda:InvokeFunction",
    "sqs:SendMessageBatch": "sqs:SendMessage",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
}
TRANSACTION_ACTIONS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}


def actions(call: Call) -> frozenset[str]:
    """Every action the caller's role must allow for this call."""
    name = f"{PREFIXES.get(call.service, call.service)}:{call.operation}"
    further = _FURTHER.get(name)
    if further is not None:
        return further(call.parameters)
    return frozenset({RENAMED.get(name, name)})


def _fleet(parameters: dict[str, Any]) -> frozenset[str]:
    """An instant fleet runs instances in the caller's name, tags them, and passes them the node's role."""
    return _run(parameters) | {"ec2:CreateFleet"}


def _run(parameters: dict[str, Any]) -> frozenset[str]:
    tagging = {"ec2:CreateTags"} if parameters.get("TagSpecifications") else set()
    return frozenset({"ec2:RunInstances", "iam:PassRole"} | tagging)


def _launch_template(parameters: dict[str, Any]) -> frozenset[str]:
    tagging = {"ec2:CreateTags"} if parameters.get("TagSpecifications") else set()
    return frozenset({"ec2:CreateLaunchTemplate"} | tagging)


def _instance_profile(parameters: dict[str, Any]) -> frozenset[str]:
    tagging = {"iam:TagInstanceProfile"} if parameters.get("Tags") else set()
    return frozenset({"iam:CreateInstanceProfile"} | tagging)


def _add_role(_: dict[str, Any]) -> frozenset[str]:
    return frozenset({"iam:AddRoleToInstanceProfile", "iam:PassRole"})


def _transact_write(parameters: dict[str, Any]) -> frozenset[str]:
    kinds = {kind for item in parameters.get("TransactItems", []) for kind in item}
    return frozenset(f"dynamodb:{TRANSACTION_ACTIONS[kind]}" for kind in kinds)


def _transact_get(_: dict[str, Any]) -> frozenset[str]:
    return frozenset({"dynamodb:GetItem"})


_FURTHER: dict[str, Callable[[dict[str, Any]], frozenset[str]]] = {
    "ec2:CreateFleet": _fleet,
    "ec2:RunInstances": _run,
    "ec2:CreateLaunchTemplate": _launch_template,
    "iam:CreateInstanceProfile": _instance_profile,
    "iam:AddRoleToInstanceProfile": _add_role,
    "dynamodb:TransactWriteItems": _transact_write,
    "dynamodb:TransactGetItems": _transact_get,
}
