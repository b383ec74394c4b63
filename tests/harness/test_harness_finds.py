"""A harness that finds nothing proves nothing: each rule is broken on purpose, and must be missed."""

from collections.abc import Callable, Sequence
from typing import cast

import pytest

from nodewright.adapters.memory import InMemoryFleet, InMemoryLedger
from nodewright.application import reconcile
from nodewright.application.launching import Launcher
from nodewright.application.ports import FleetAnswer, FleetRequest
from nodewright.domain.claims import LaunchRecord, NodeClaim
from tests.harness.faults import Fault, Kind
from tests.harness.playing import Played, play
from tests.harness.reproducing import disturbed
from tests.harness.scenarios import SCENARIOS

Reserve = Callable[[InMemoryLedger, str, int, LaunchRecord, Sequence[NodeClaim]], None]
Patch = pytest.MonkeyPatch


def site(played: Played, name: str, nth: int = 0) -> tuple[str, int, int]:
    """The nth call of that name in a scenario."""
    return [found[:3] for found in played.sites if found.name == name][nth]


def found(scenario: str, name: str, kind: Kind) -> str:
    """What the first call of that name, failing so, leads to."""
    return "\n".join(disturbed(scenario, 0, [Fault(*site(play(SCENARIOS[scenario]), name), kind)]))


def test_buying_twice_for_one_client_token(monkeypatch: Patch) -> None:
    buy = InMemoryFleet._once

    def forgetful(fleet: InMemoryFleet, request: FleetRequest) -> FleetAnswer:
        fleet._answers.clear()
        return buy(fleet, request)

    assert found("from zero", "fleet.launch", Kind.LOST) == ""
    monkeypatch.setattr(InMemoryFleet, "_once", forgetful)
    assert "3 instances were bought, 2 undisturbed" in found("from zero", "fleet.launch", Kind.LOST)


def test_launches_that_nobody_finishes(monkeypatch: Patch) -> None:
    assert found("from zero", "ledger.reserve", Kind.KILLED) == ""
    monkeypatch.setattr(Launcher, "finish", lambda *_: 0)
    assert "launch launch-000 isn't settled" in found("from zero", "ledger.reserve", Kind.KILLED)


def test_pods_that_nobody_told_of(monkeypatch: Patch) -> None:
    assert found("from zero", "ledger.epoch", Kind.REFUSED) == ""
    monkeypatch.setattr(reconcile.Reconcile, "_wake_provision", lambda *_: 0)
    assert "5 pods wait, 0 may" in found("from zero", "ledger.epoch", Kind.REFUSED)


def test_retirements_that_nobody_sends_on(monkeypatch: Patch) -> None:
    assert found("scaled to nothing", "queue.send", Kind.KILLED_BEFORE) == ""
    monkeypatch.setattr(reconcile, "redrive", lambda *_: 0)
    assert "still retiring" in found("scaled to nothing", "queue.send", Kind.KILLED_BEFORE)


def test_a_planner_that_asks_for_no_epoch(monkeypatch: Patch) -> None:
    reserve = cast(Reserve, InMemoryLedger.reserve)

    def heedless(ledger: InMemoryLedger, cluster: str, _epoch: int, *rest: object) -> None:
        reserve(ledger, cluster, ledger.epoch(cluster), *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(InMemoryLedger, "reserve", heedless)
    wrong = "\n".join(play(SCENARIOS["two planners"]).wrong)
    assert "has a place on launch-000-00" in wrong


def test_a_limit_that_nobody_keeps(monkeypatch: Patch) -> None:
    reserve = cast(Reserve, InMemoryLedger.reserve)

    def lavish(ledger: InMemoryLedger, cluster: str, _epoch: int, launch: LaunchRecord, *rest: object) -> None:
        reserve(ledger, cluster, ledger.epoch(cluster), launch, rest[0])  # type: ignore[arg-type]

    monkeypatch.setattr(InMemoryLedger, "reserve", lavish)
    assert "too much cpu" in "\n".join(play(SCENARIOS["two planners, one limit"]).wrong)
