"""tick and refresh, woken by schedules."""

import pytest

from tests.application.world import connected
from tests.functions.conftest import Account, Context, Load


def test_tick_hints_at_each_cluster(account: Account, load: Load) -> None:
    account.ledger.put_cluster(connected())
    assert load("tick").handler({}, Context()) == {"clusters": 1}
    assert account.hinted("reconcile") == ['{"cluster": "prod"}']


def test_refresh_does_the_parts_it_is_told(load: Load) -> None:
    assert load("refresh").handler({"refresh": ["clusters"]}, Context()) == {"clusters": "ok"}


def test_refresh_fills_the_catalogue(account: Account, load: Load) -> None:
    results = load("refresh").handler({"refresh": ["types", "offerings"]}, Context())
    assert results == {"types": "ok", "offerings": "ok"}
    assert "m5.large" in {facts.name for facts in account.ledger.catalogue().facts}


def test_refresh_refuses_a_part_it_does_not_know(load: Load) -> None:
    with pytest.raises(ValueError, match="no such part weather"):
        load("refresh").handler({"refresh": ["weather"]}, Context())
