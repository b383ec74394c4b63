"""retire, woken by turns."""

import json
from datetime import timedelta

import pytest

from nodewright.application.errors import UnavailableError
from nodewright.domain.claims import ClaimState, LaunchRecord
from nodewright.domain.retirement import Step
from nodewright.domain.retiring import begin
from tests.application.world import CLUSTER, connected
from tests.builders import NOW, claim
from tests.functions.conftest import Account, Context, Load, Told, hint


def retiring(account: Account) -> str:
    """A claim of which nothing came, on its way out; its message."""
    account.ledger.put_cluster(connected())
    made = claim("c", state=ClaimState.RESERVED)
    account.ledger.reserve(CLUSTER, 0, LaunchRecord("l", ("c",), "{}", NOW, NOW), [made])
    wanted = begin(made, "launch-timeout", NOW)
    assert wanted is not None
    (stored,) = account.ledger.start_retirements(CLUSTER, [wanted], None)
    assert stored.retirement is not None
    return json.dumps({"cluster": CLUSTER, "claim": "c", "epoch": stored.retirement.epoch})


def test_a_turn_is_taken_and_acknowledged(account: Account, load: Load, told: Told) -> None:
    body = retiring(account)
    account.ledger.mark_unreachable(CLUSTER, None)
    assert load("retire").handler(hint(body), Context()) == {"batchItemFailures": []}
    assert "outcome=" in told()


def test_what_is_no_turn_is_told_and_dropped(load: Load, told: Told) -> None:
    assert load("retire").handler(hint('{"cluster": "prod"}'), Context()) == {"batchItemFailures": []}
    assert 'not a turn: \'{"cluster": "prod"}\'' in told()


def test_a_turn_of_a_cluster_that_is_not_connected_is_told_and_dropped(load: Load, told: Told) -> None:
    body = json.dumps({"cluster": "stranger", "claim": "c", "epoch": 1})
    assert load("retire").handler(hint(body), Context()) == {"batchItemFailures": []}
    assert "nodewright connect stranger" in told()


def test_a_turn_whose_effect_could_not_be_stored_comes_again(
    account: Account, load: Load, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = retiring(account)
    module = load("retire")

    def throttled(*_: object) -> object:
        raise UnavailableError("throttled")

    monkeypatch.setattr(type(module.function.use.ledger), "save_claim", throttled)
    assert module.handler(hint(body), Context()) == {"batchItemFailures": [{"itemIdentifier": "m-1"}]}
    assert "c: throttled; it comes again" in told()
    after = account.ledger.claim(CLUSTER, "c").retirement
    assert after is not None
    assert after.step is Step.TAINT
    assert after.next_at > NOW + timedelta(seconds=30)


def test_a_turn_of_a_claim_that_somebody_broke_comes_again_until_somebody_looks(
    account: Account, load: Load, told: Told
) -> None:
    body = retiring(account)
    account.tamper("c")
    assert load("retire").handler(hint(body), Context()) == {"batchItemFailures": [{"itemIdentifier": "m-1"}]}
    assert "CLAIM#c, attribute body" in told()


def test_the_lease_of_a_turn_is_the_functions_timeout(load: Load) -> None:
    assert load("retire").function.use.lease == timedelta(seconds=90)
