"""One emulated AWS, in a process of its own, for all of these tests; each test deploys a stack of its own to it."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from sandbox.lambdas.deployed import client
from sandbox.lambdas.interpreter import current_runtime
from sandbox.lambdas.lambdas import Lambdas
from sandbox.lambdas.outcome import Json
from tests.sandbox.lambdas.stack import BUCKET, REGION, deploy, synthesize

_ROOT = Path(__file__).parents[3]


class Running(Protocol):
    """Deploys the resources and runs their functions until the test ends."""

    def __call__(self, resources: Mapping[str, Json], **options: Json) -> Lambdas: ...


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.sandbox.lambdas.aws_process", REGION, BUCKET]
    with subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


@pytest.fixture
def running(endpoint: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Running]:
    name = "".join(letter for letter in request.node.name.title() if letter.isalnum())[:60]

    def run(resources: Mapping[str, Json], **options: Json) -> Lambdas:
        stack = synthesize(tmp_path / "cdk.out", name, resources)
        deploy(stack, endpoint)
        lambdas = Lambdas.from_assembly(
            stack.cdk_out,
            name,
            endpoint,
            credentials,
            tmp_path / "work",
            **{"region": REGION, "runtime": current_runtime(), **options},
        )
        return ends.enter_context(lambdas)

    with ExitStack() as ends:
        yield run


@pytest.fixture
def sqs(endpoint: str) -> Iterator[Json]:
    made = client("sqs", endpoint, REGION)
    yield made
    made.close()


def credentials(role_arn: str) -> Mapping[str, str]:
    """Keys that show whose they are."""
    return {
        "AWS_ACCESS_KEY_ID": "AKIATEST",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_SESSION_TOKEN": role_arn.rsplit("/", 1)[-1],
    }


def eventually(condition: Callable[[], bool], seconds: float = 180.0) -> bool:
    """Whether the condition comes true; the limit only keeps a failing test from hanging."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
