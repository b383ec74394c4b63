"""provision, reconcile and disrupt, woken by hints."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from nodewright.application.errors import UnavailableError
from tests.application.world import CLUSTER, connected
from tests.functions.conftest import Account, Context, Load, Told, hint

HINTED = ("provision", "reconcile", "disrupt")
BODY = json.dumps({"cluster": CLUSTER})


@pytest.mark.parametrize("verb", HINTED)
def test_a_run_is_reported_and_its_hint_acknowledged(verb: str, account: Account, load: Load, told: Told) -> None:
    account.ledger.put_cluster(connected(paused=True))
    assert load(verb).handler(hint(BODY), Context()) == {"batchItemFailures": []}
    assert "outcome='paused'" in told()


@pytest.mark.parametrize("verb", HINTED)
def test_a_hint_that_was_answered_is_acknowledged_unread(verb: str, account: Account, load: Load, told: Told) -> None:
    now = datetime.now(UTC)  # noqa: TID251  Lambda's own clock
    account.ledger.put_cluster(connected())
    account.ledger.set_last_run(CLUSTER, verb, now)  # type: ignore[arg-type]
    load(verb).handler(hint(BODY, now - timedelta(seconds=2)), Context())
    assert "outcome='stale-hint'" in told()


@pytest.mark.parametrize(("verb", "hinted"), [("provision", [BODY]), ("reconcile", []), ("disrupt", [])])
def test_what_may_succeed_later_is_acknowledged_and_only_provision_which_may_wake_itself_is_hinted_anew(
    verb: str, hinted: list[str], account: Account, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load(verb)

    def throttled(*_: object) -> object:
        raise UnavailableError("throttled")

    monkeypatch.setattr(type(module.function.use), "__call__", throttled)
    assert module.handler(hint(BODY), Context()) == {"batchItemFailures": []}
    assert account.hinted(verb) == hinted


def test_provision_knows_when_its_time_is_up(account: Account, load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    module = load("provision")
    deadlines: list[datetime] = []

    def run(_use: object, _cluster: str, _sent: datetime, deadline: datetime) -> None:
        deadlines.append(deadline)

    monkeypatch.setattr(type(module.function.use), "__call__", run)
    before = datetime.now(UTC)  # noqa: TID251  Lambda's own clock
    module.handler(hint(BODY), Context())
    assert deadlines[0] - before >= timedelta(seconds=29)
    assert account.hinted("provision") == []
