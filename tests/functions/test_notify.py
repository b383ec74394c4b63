import base64
import json
import time

import pytest

from tests.application.test_notify import review
from tests.application.world import CLUSTER, TOKEN, connected
from tests.functions.conftest import Account, Context, Load


def event(body: str | None, *, token: str = TOKEN, encoded: bool = False) -> dict[str, object]:
    """An HTTP API event, payload format 2.0."""
    made: dict[str, object] = {
        "version": "2.0",
        "routeKey": "POST /v1/clusters/{cluster}/{token}",
        "rawPath": f"/v1/clusters/{CLUSTER}/{token}",
        "rawQueryString": "timeout=1s",
        "pathParameters": {"cluster": CLUSTER, "token": token},
        "isBase64Encoded": encoded,
    }
    return made if body is None else {**made, "body": body}


@pytest.mark.parametrize("encoded", [False, True])
def test_a_call_becomes_a_hint_and_is_allowed(account: Account, load: Load, encoded: bool) -> None:
    account.ledger.put_cluster(connected())
    raw = review()
    body = base64.b64encode(raw).decode() if encoded else raw.decode()
    answer = load("notify").handler(event(body, encoded=encoded), Context())
    assert answer["statusCode"] == 200
    assert answer["headers"]["content-type"] == "application/json"
    assert json.loads(answer["body"])["response"] == {"uid": "u-1", "allowed": True}
    assert account.hinted("provision") == ['{"cluster": "prod"}']


def test_many_calls_of_one_second_are_one_hint(account: Account, load: Load) -> None:
    account.ledger.put_cluster(connected())
    handler = load("notify").handler
    began = int(time.time())
    for _ in range(50):
        handler(event(review().decode()), Context())
    seconds = int(time.time()) - began + 1
    assert 1 <= len(account.hinted("provision")) <= seconds


def test_a_stranger_is_allowed_and_wakes_nobody(account: Account, load: Load) -> None:
    account.ledger.put_cluster(connected())
    answer = load("notify").handler(event(review().decode(), token="wrong"), Context())
    assert answer["statusCode"] == 200
    assert account.hinted("provision") == []


@pytest.mark.parametrize("body", [None, "", "{}", "no json"])
def test_a_call_without_a_uid_is_a_bad_request(load: Load, body: str | None) -> None:
    answer = load("notify").handler(event(body), Context())
    assert answer["statusCode"] == 400
    assert "uid" in json.loads(answer["body"])["message"]


def test_a_dry_run_is_allowed_and_says_nothing(
    account: Account, load: Load, capsys: pytest.CaptureFixture[str]
) -> None:
    account.ledger.put_cluster(connected())
    assert load("notify").handler(event(review(dryRun=True).decode()), Context())["statusCode"] == 200
    assert account.hinted("provision") == []
    assert capsys.readouterr().out == ""
