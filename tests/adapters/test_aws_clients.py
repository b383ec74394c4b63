from typing import Protocol, cast

import pytest

from nodewright.adapters import aws_clients


class Timing(Protocol):
    """What the stubs leave out of botocore's Config."""

    connect_timeout: float
    read_timeout: float
    retries: dict[str, object]


def test_the_hint_queue_is_asked_once_and_briefly(aws: str) -> None:
    config = cast("Timing", aws_clients.hint_queue(aws).meta.config)
    assert (config.connect_timeout, config.read_timeout) == (0.3, 0.3)
    assert config.retries["total_max_attempts"] == 1


@pytest.mark.parametrize("service", ["dynamodb", "ec2", "eks", "iam", "pricing", "ssm"])
def test_every_other_client_retries_within_bounds(aws: str, service: str) -> None:
    client = getattr(aws_clients, service)(aws)
    config = cast("Timing", client.meta.config)
    assert client.meta.service_model.service_name == service
    assert config.retries["mode"] == "standard"
    attempts = config.retries["total_max_attempts"]
    assert isinstance(attempts, int)
    assert (config.connect_timeout + config.read_timeout) * attempts < 150
