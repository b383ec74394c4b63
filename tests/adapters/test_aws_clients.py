from typing import Protocol, cast

import pytest

from nodewright.adapters import aws_clients


class Timing(Protocol):
    """What the stubs leave out of botocore's Config."""

    connect_timeout: float
    read_timeout: float
    retries: dict[str, object]


@pytest.mark.parametrize("service", ["dynamodb", "ec2", "eks", "iam", "pricing", "sqs", "ssm"])
def test_every_client_retries_within_bounds(aws: str, service: str) -> None:
    client = getattr(aws_clients, service)(aws)
    config = cast("Timing", client.meta.config)
    assert client.meta.service_model.service_name == service
    assert config.retries["mode"] == "standard"
    attempts = config.retries["total_max_attempts"]
    assert isinstance(attempts, int)
    assert (config.connect_timeout + config.read_timeout) * attempts < 150


def test_messages_are_tried_again_and_still_leave_time_for_the_other_events_of_a_run(aws: str) -> None:
    """A hint that is given up brings its event back after 40 s, of the 120 that a spot notice has."""
    config = cast("Timing", aws_clients.sqs(aws).meta.config)
    attempts = config.retries["total_max_attempts"]
    assert isinstance(attempts, int)
    assert attempts > 1
    assert (config.connect_timeout + config.read_timeout) * attempts < 15
