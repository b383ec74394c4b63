"""One moto server for all of these tests; each test deploys a stack of its own to it."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from sandbox.lambdas import Lambdas, moto_patch
from sandbox.lambdas.deployed import client
from sandbox.lambdas.interpreter import current_runtime
from sandbox.lambdas.lineage import lineage_middleware
from sandbox.lambdas.outcome import Json
from tests.sandbox.lambdas.stack import BUCKET, REGION, deploy, synthesize


class Running(Protocol):
    """Deploys the resources and runs their functions until the test ends."""

    def __call__(self, resources: Mapping[str, Json], **options: Json) -> Lambdas: ...


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    moto_patch.install()
    app = lineage_middleware(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=MotoRequestHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}"
    s3 = client("s3", address, REGION)
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    yield address
    server.shutdown()
    thread.join()
    server.server_close()


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


def eventually(condition: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether the condition comes true; the limit only keeps a failing test from hanging."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
