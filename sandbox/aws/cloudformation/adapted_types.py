"""Types moto has, where it drops properties or can't change them: completed after moto has made them."""

import base64
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from moto.awslambda.models import LambdaFunction
from moto.iam.aws_managed_policies import aws_managed_policies_data
from moto.iam.models import AWSManagedPolicy, iam_backends

from sandbox.aws.cloudformation.kinds import Properties
from sandbox.aws.defaults import ACCOUNT

# Given the moto resource and its properties, after it was made or changed.
Completion = Callable[[Any, Properties], None]
AWS_POLICY = "arn:aws:iam::aws:policy/"


def completions() -> Mapping[str, Completion]:
    """Resource type → what moto leaves undone."""
    return {
        "AWS::Lambda::Function": _complete_function,
        "AWS::SQS::Queue": _complete_queue,
        "AWS::IAM::Role": _complete_role,
    }


def prepared_update(described: Properties) -> Properties:
    """A resource as moto's update can take it: it expects inline code zipped already."""
    code = described.get("Properties", {}).get("Code", {})
    if described["Type"] != "AWS::Lambda::Function" or "ZipFile" not in code:
        return described
    zipped = LambdaFunction._create_zipfile_from_plaintext_code(code["ZipFile"])  # noqa: SLF001  as its create does
    archive = {**code, "ZipFile": base64.b64encode(zipped).decode()}
    return {**described, "Properties": {**described["Properties"], "Code": archive}}


def release(resource_type: str, resource: Any) -> None:
    """Let go of what keeps a resource from being deleted: a role's attached policies."""
    if resource_type == "AWS::IAM::Role":
        for policy in list(resource.managed_policies.values()):
            policy.detach_from(resource)


def _complete_function(function: Any, properties: Properties) -> None:
    function.architectures = properties.get("Architectures", ["x86_64"])
    function.layers = function._get_layers_data(properties.get("Layers", []))  # noqa: SLF001  no public way to set layers
    function.tracing_config = properties.get("TracingConfig") or {"Mode": "PassThrough"}
    function.logging_config = properties.get("LoggingConfig") or {}
    function.recursive_loop = properties.get("RecursiveLoop", "Terminate")
    function.ephemeral_storage = properties.get("EphemeralStorage", {}).get("Size", 512)
    function.reserved_concurrency = properties.get("ReservedConcurrentExecutions")


def _complete_queue(queue: Any, properties: Properties) -> None:
    """All attributes; setting any drops the policy, which is a resource of its own."""
    changeable = {key: value for key, value in properties.items() if key not in ("QueueName", "FifoQueue", "Tags")}
    queue._set_attributes({**changeable, "Policy": queue.policy})  # noqa: SLF001


def _complete_role(role: Any, properties: Properties) -> None:
    policies = iam_backends[ACCOUNT]["aws"].managed_policies
    wanted = properties.get("ManagedPolicyArns", [])
    for arn in set(role.managed_policies) - set(wanted):
        if arn.startswith(AWS_POLICY):
            role.managed_policies.pop(arn)
    for arn in wanted:
        if arn.startswith(AWS_POLICY) and arn not in policies:
            policies[arn] = _aws_policy(arn)
        policies[arn].attach_to(role)


def _aws_policy(arn: str) -> AWSManagedPolicy:
    name = arn.rpartition("/")[2]
    return AWSManagedPolicy.from_data(name, ACCOUNT, "us-east-1", _aws_policies()[name])


@cache
def _aws_policies() -> dict[str, Any]:
    return dict(json.loads(aws_managed_policies_data))
