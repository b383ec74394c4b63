"""boto3 clients of the sandbox."""

from functools import cache
from typing import Any

import boto3
from botocore.config import Config


@cache
def client(service: str, region: str, endpoint: str, access_key: str, secret_key: str) -> Any:
    """A client that calls once: whoever tests a retry makes it itself. Making one costs more than most calls."""
    return _session().client(
        service,
        region_name=region,
        endpoint_url=endpoint,
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(retries={"total_max_attempts": 1}),
    )


@cache
def _session() -> Any:
    """One for all: it keeps the service models it has read."""
    return boto3.Session()
