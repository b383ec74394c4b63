"""Urgent hints, as provision's function takes them."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.application.world import CLUSTER, connected
from tests.functions.conftest import Account, Context, Load, hint

URGENT = json.dumps({"cluster": CLUSTER, "urgent": True})


@pytest.fixture
def sent(account: Account, load: Load, monkeypatch: pytest.MonkeyPatch) -> tuple[object, list[datetime | None]]:
    """provision's handler, and the moments its use case was given."""
    account.ledger.put_cluster(connected())
    module = load("provision")
    moments: list[datetime | None] = []

    def run(_use: object, _cluster: str, at: datetime | None, _deadline: datetime) -> None:
        moments.append(at)

    monkeypatch.setattr(type(module.function.use), "__call__", run)
    return module.handler, moments


@pytest.mark.parametrize(("body", "waits"), [(URGENT, False), (json.dumps({"cluster": CLUSTER}), True)])
def test_an_urgent_hint_waits_for_no_burst(sent: tuple[object, list[datetime | None]], body: str, waits: bool) -> None:
    handler, moments = sent
    handler(hint(body), Context())  # type: ignore[operator]
    assert [moment is not None for moment in moments] == [waits]


def test_an_urgent_hint_that_a_later_run_answered_is_acknowledged_unread(
    account: Account, sent: tuple[object, list[datetime | None]]
) -> None:
    handler, moments = sent
    now = datetime.now(UTC)  # noqa: TID251  Lambda's own clock
    account.ledger.set_last_run(CLUSTER, "provision", now)
    handler(hint(URGENT, now - timedelta(seconds=1)), Context())  # type: ignore[operator]
    assert moments == []
    handler(hint(URGENT, now), Context())  # type: ignore[operator]
    assert moments == [None]
