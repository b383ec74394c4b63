"""What a deployed stack says of itself: its CloudFormation outputs."""

from collections.abc import Mapping

import boto3

from nodewright.adapters.aws_errors import outside
from nodewright.application.errors import NotFoundError, RefusedError


def stack_outputs(session: boto3.Session, name: str) -> Mapping[str, str]:
    """Output name → value. NotFoundError says what to do when there is no such stack."""
    client = session.client("cloudformation")
    with outside(f"describing stack {name}"):
        try:
            (stack,) = client.describe_stacks(StackName=name)["Stacks"]
        except client.exceptions.ClientError as error:
            if "does not exist" not in str(error):
                raise
            raise NotFoundError(
                f"no stack {name} in {session.region_name}: deploy it, or name it by --stack"
            ) from error
    outputs = {o["OutputKey"]: o["OutputValue"] for o in stack.get("Outputs", [])}
    if "TableName" not in outputs:
        raise RefusedError(f"stack {name} is not a deployed Nodewright: it has no output TableName")
    return outputs
