"""One sandbox for these tests, emptied before each: starting it costs more than most of them."""

from collections.abc import Iterator

import pytest

from sandbox.aws.events import Event
from sandbox.aws.instances import InstanceChange
from sandbox.aws.server import SandboxAws
from tests.sandbox.aws.clock import Clock


@pytest.fixture(scope="package")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="package")
def started(clock: Clock) -> Iterator[SandboxAws]:
    with SandboxAws(clock=clock) as aws:
        yield aws


@pytest.fixture
def aws(started: SandboxAws, clock: Clock) -> SandboxAws:
    clock.reset()
    started.enforce(on=False)
    started.reset()
    return started


@pytest.fixture
def events(aws: SandboxAws) -> Iterator[list[Event]]:
    """What is put on the default bus during the test."""
    heard: list[Event] = []
    end = aws.events.on_put(heard.append)
    yield heard
    end()


@pytest.fixture
def changes(aws: SandboxAws) -> Iterator[list[InstanceChange]]:
    """States that instances enter during the test."""
    heard: list[InstanceChange] = []
    end = aws.on_instance_change(heard.append)
    yield heard
    end()
