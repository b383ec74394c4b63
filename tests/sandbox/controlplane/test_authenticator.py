import json
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import urllib3

from sandbox.controlplane.authenticator import Authenticator, review
from sandbox.controlplane.pki import Authority


def verify(token: str) -> tuple[str, list[str]] | None:
    if token == "broken":
        raise ConnectionError("STS is away")
    return ("arn:aws:iam::123456789012:role/provision", ["nodewright"]) if token == "k8s-aws-v1.good" else None


def token_review(token: str) -> bytes:
    return json.dumps(
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    ).encode()


@pytest.fixture
def served() -> Iterator[tuple[Authenticator, urllib3.PoolManager]]:
    authority = Authority("test", datetime.now(UTC))  # noqa: TID251 - OpenSSL compares with the real clock
    context = ssl.create_default_context(cadata=authority.ca_pem.decode())
    with Authenticator(verify, authority.serving(["127.0.0.1"])) as authenticator:
        pool = urllib3.PoolManager(ssl_context=context, retries=False)
        yield authenticator, pool
        pool.clear()


def test_a_known_token_is_answered_with_user_and_groups(
    served: tuple[Authenticator, urllib3.PoolManager],
) -> None:
    authenticator, pool = served
    answer = pool.request("POST", authenticator.url, body=token_review("k8s-aws-v1.good")).json()

    assert answer["kind"] == "TokenReview"
    assert answer["status"]["authenticated"] is True
    assert answer["status"]["user"]["username"] == "arn:aws:iam::123456789012:role/provision"
    assert answer["status"]["user"]["groups"] == ["nodewright"]


def test_one_connection_serves_many_reviews(served: tuple[Authenticator, urllib3.PoolManager]) -> None:
    authenticator, pool = served
    for _ in range(3):
        assert pool.request("POST", authenticator.url, body=token_review("other")).status == 200
    assert [held.num_connections for held in (pool.connection_from_url(authenticator.url),)] == [1]


def test_a_review_that_is_too_long_is_refused(served: tuple[Authenticator, urllib3.PoolManager]) -> None:
    authenticator, pool = served
    headers = {"Content-Length": str(2 << 20)}
    assert pool.request("POST", authenticator.url, body=b"", headers=headers).status == 413


def test_an_unknown_token_is_nobody_s() -> None:
    assert review(token_review("other"), verify)["status"] == {"authenticated": False}


@pytest.mark.parametrize(
    ("body", "reason"),
    [(token_review("broken"), "ConnectionError: STS is away"), (b"{", "JSONDecodeError"), (b"{}", "KeyError")],
)
def test_what_cannot_be_checked_is_nobody_s_and_says_why(body: bytes, reason: str) -> None:
    status = review(body, verify)["status"]

    assert isinstance(status, dict)
    assert status["authenticated"] is False
    assert status["error"].startswith(reason)
