"""Clients of AWS with timeouts and retries chosen for a Lambda run; wiring passes them to the adapters.

Retries are botocore's `standard` mode: capped, with jitter, honouring the retry quota. `adaptive`
would hold calls back inside the client, out of sight of the run's own time limit.
"""

from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_eks import EKSClient
    from mypy_boto3_iam import IAMClient
    from mypy_boto3_pricing import PricingClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_ssm import SSMClient


def dynamodb(region: str) -> "DynamoDBClient":
    """Answers in milliseconds or not at all."""
    return boto3.client("dynamodb", region_name=region, config=_config(connect=1, read=4, attempts=4))


def ec2(region: str) -> "EC2Client":
    """CreateFleet may take ten seconds; it is repeated with the same ClientToken, so buys once."""
    return boto3.client("ec2", region_name=region, config=_config(connect=2, read=25, attempts=3))


def eks(region: str) -> "EKSClient":
    """Describes clusters, hourly and at connect."""
    return boto3.client("eks", region_name=region, config=_config(connect=2, read=10, attempts=4))


def iam(region: str) -> "IAMClient":
    """Global; slow and strictly throttled."""
    return boto3.client("iam", region_name=region, config=_config(connect=2, read=10, attempts=4))


def pricing(endpoint_region: str) -> "PricingClient":
    """Lives in few regions (`pricing.endpoint_region`); big pages."""
    return boto3.client("pricing", region_name=endpoint_region, config=_config(connect=2, read=30, attempts=4))


def ssm(region: str) -> "SSMClient":
    """Public parameters."""
    return boto3.client("ssm", region_name=region, config=_config(connect=2, read=10, attempts=4))


def sqs(region: str) -> "SQSClient":
    """For turns that a chain of work hangs on, and hints that are to arrive: only notify's may get lost (aws_json)."""
    return boto3.client("sqs", region_name=region, config=_config(connect=1, read=2, attempts=3))


def _config(*, connect: float, read: float, attempts: int) -> Config:
    """Seconds to connect and to wait for an answer; attempts in total."""
    return Config(
        connect_timeout=connect,
        read_timeout=read,
        retries={"mode": "standard", "total_max_attempts": attempts},
        user_agent_extra="nodewright",
    )
