"""One sandbox for these tests, emptied before each: starting it costs more than most of them."""

from collections.abc import Iterator

import pytest

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
    started.enforce(False)
    started.reset()
    return started
