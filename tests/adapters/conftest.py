from collections.abc import Iterator

import pytest
from moto import mock_aws

from sandbox.aws.server import SandboxAws

REGION = "us-east-1"


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """moto in this process, in place of AWS; the region's name."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    with mock_aws():
        yield REGION


@pytest.fixture(scope="module")
def sandbox_aws() -> Iterator[SandboxAws]:
    """moto with the extensions that make fleets, prices and access entries behave as AWS's."""
    with SandboxAws(region=REGION) as started:
        yield started


@pytest.fixture
def sandbox(sandbox_aws: SandboxAws, monkeypatch: pytest.MonkeyPatch) -> SandboxAws:
    """An empty account in the sandbox, and the SDK pointed at it."""
    sandbox_aws.reset()
    for name, value in sandbox_aws.environment().items():
        monkeypatch.setenv(name, value)
    return sandbox_aws
