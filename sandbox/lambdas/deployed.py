"""The same resources as the deployed stack knows them: physical names, ARNs, and the environment with real values."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from sandbox.lambdas.outcome import Json
from sandbox.lambdas.specs import Assembly, FunctionSpec


class NotDeployedError(RuntimeError):
    """The endpoint has no such stack, or the stack lacks a resource of the template."""


@dataclass(frozen=True, slots=True)
class DeployedFunction:
    """A function of the template with what deploying gave it."""

    spec: FunctionSpec
    name: str
    arn: str
    role_arn: str
    environment: Mapping[str, str]

    @property
    def region(self) -> str:
        """The region in its ARN."""
        return self.arn.split(":")[3]

    @property
    def account(self) -> str:
        """The account in its ARN."""
        return self.arn.split(":")[4]


@dataclass(frozen=True, slots=True)
class DeployedQueue:
    """A queue of the template; `dead_letter_arn` is where its redrive policy points."""

    logical_id: str
    url: str
    arn: str
    dead_letter_arn: str | None


@dataclass(frozen=True, slots=True)
class Deployment:
    """The deployed side of an assembly, by logical id; `region` and `account` are where it lives."""

    region: str
    account: str
    functions: Mapping[str, DeployedFunction]
    queues: Mapping[str, DeployedQueue]
    rule_names: Mapping[str, str]


def client(service: str, endpoint: str, region: str) -> Json:
    """The sandbox's own client, which acts for AWS itself and not for any function."""
    config = Config(retries={"mode": "standard", "max_attempts": 3}, max_pool_connections=50)
    # The emulator takes any keys; what calls as whom is decided by the credentials of each function.
    session = boto3.session.Session("testing", "testing", region_name=region)
    # The stubs know a client only by its literal name.
    make: Callable[..., Json] = session.client
    return make(service, endpoint_url=endpoint, config=config)


def look_up(assembly: Assembly, endpoint: str, region: str) -> Deployment:
    """Ask the endpoint for every function and queue of the assembly."""
    physical = _physical_names(assembly.stack, client("cloudformation", endpoint, region))
    lambda_, sqs = client("lambda", endpoint, region), client("sqs", endpoint, region)
    functions = {name: _function(spec, _required(physical, name), lambda_) for name, spec in assembly.functions.items()}
    queues = {name: _queue(name, _required(physical, name), sqs) for name in sorted(assembly.queues)}
    rules = {rule.logical_id: _required(physical, rule.logical_id) for rule in assembly.rules}
    account = next((function.account for function in functions.values()), "000000000000")
    return Deployment(region=region, account=account, functions=functions, queues=queues, rule_names=rules)


def _physical_names(stack: str, cloudformation: Json) -> dict[str, str]:
    try:
        resources = cloudformation.describe_stack_resources(StackName=stack)["StackResources"]
    except ClientError as error:
        raise NotDeployedError(f"stack {stack} is not deployed at the endpoint: {error}") from error
    return {resource["LogicalResourceId"]: resource.get("PhysicalResourceId", "") for resource in resources}


def _required(physical: Mapping[str, str], name: str) -> str:
    if not physical.get(name):
        raise NotDeployedError(f"the deployed stack has no {name}; deploy what was synthesized")
    return physical[name]


def _function(spec: FunctionSpec, name: str, lambda_: Json) -> DeployedFunction:
    found = lambda_.get_function_configuration(FunctionName=name)
    return DeployedFunction(
        spec=spec,
        name=found["FunctionName"],
        arn=found["FunctionArn"],
        role_arn=found["Role"],
        environment=found.get("Environment", {}).get("Variables", {}),
    )


def _queue(logical_id: str, physical: str, sqs: Json) -> DeployedQueue:
    url = sqs.get_queue_url(QueueName=physical.rsplit("/", 1)[-1])["QueueUrl"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    return DeployedQueue(
        logical_id=logical_id,
        url=url,
        arn=attributes["QueueArn"],
        dead_letter_arn=_dead_letter_arn(attributes.get("RedrivePolicy")),
    )


def _dead_letter_arn(policy: str | None) -> str | None:
    if not policy:
        return None
    target: object = json.loads(policy).get("deadLetterTargetArn")
    return str(target) if target else None
