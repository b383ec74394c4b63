"""The interceptor itself: a harness that lets faults slip would prove nothing."""

from random import Random

import pytest

from nodewright.application.errors import RefusedError, UnavailableError, UnreachableError
from tests.harness.faults import THROTTLED_CALLS, Fault, Faults, KilledError, Kind, Site, is_read, kinds_at

SITE = Site("provision", 1, 3, "fleet.launch")


def call(faults: Faults, site: Site = SITE) -> list[str]:
    """What took effect."""
    done: list[str] = []
    faults.around(site, lambda: done.append(site.name))
    return done


@pytest.mark.parametrize(
    ("kind", "error", "effects"),
    [
        (Kind.KILLED_BEFORE, KilledError, 0),
        (Kind.KILLED, KilledError, 1),
        (Kind.LOST, UnavailableError, 1),
        (Kind.UNAVAILABLE, UnavailableError, 0),
        (Kind.THROTTLED, UnavailableError, 0),
        (Kind.REFUSED, RefusedError, 0),
    ],
)
def test_each_kind_fails_in_its_way(kind: Kind, error: type[BaseException], effects: int) -> None:
    faults, done = Faults([Fault(*SITE[:3], kind)]), list[str]()
    with pytest.raises(error):
        faults.around(SITE, lambda: done.append("effect"))
    assert len(done) == effects
    assert [fault.kind for fault in faults.happened] == [kind]


def test_other_calls_go_through() -> None:
    faults = Faults([Fault("provision", 1, 3, Kind.KILLED)])
    for other in (SITE._replace(call=2), SITE._replace(run=2), SITE._replace(verb="reconcile")):
        assert call(faults, other) == ["fleet.launch"]
    assert faults.happened == []


def test_a_throttle_lasts_for_some_calls_of_that_name() -> None:
    faults = Faults([Fault(*SITE[:3], Kind.THROTTLED)])
    for number in range(3, 4 + THROTTLED_CALLS):
        with pytest.raises(UnavailableError):
            call(faults, SITE._replace(call=number))
    assert call(faults, SITE._replace(call=98, name="ledger.reserve")) == ["ledger.reserve"]
    assert call(faults, SITE._replace(call=99)) == ["fleet.launch"]


def test_a_throttled_hint_counts_as_sent() -> None:
    hint = Site("notify", 1, 2, "hints.send")
    assert call(Faults([Fault(*hint[:3], Kind.THROTTLED)]), hint) == []


def test_an_api_server_that_does_not_answer_is_told_apart_from_a_busy_one() -> None:
    reading = Site("reconcile", 1, 1, "cluster.read")
    with pytest.raises(UnreachableError):
        call(Faults([Fault(*reading[:3], Kind.UNAVAILABLE)]), reading)
    with pytest.raises(UnavailableError) as throttled:
        call(Faults([Fault(*reading[:3], Kind.THROTTLED)]), reading)
    assert not isinstance(throttled.value, UnreachableError)


def test_drawn_faults_can_be_given_again() -> None:
    drawing = Faults(chance=Random(1), probability=0.3)
    sites = [SITE._replace(call=number, name=f"fleet.call_{number}") for number in range(50)]
    fates = [fate(drawing, site) for site in sites]
    assert drawing.happened
    assert [fate(Faults(drawing.happened), site) for site in sites] == fates
    drawing.end()
    assert {fate(drawing, site) for site in sites} == {"went through"}


def test_only_calls_that_change_something_can_lose_their_answer() -> None:
    assert Kind.LOST not in kinds_at("cluster.read")
    assert Kind.LOST in kinds_at("cluster.register_node")


@pytest.mark.parametrize(
    "name",
    [
        "cluster.register_node",
        "cluster.record_event",
        "cluster.mark_node",
        "cluster.evict",
        "fleet.launch",
        "fleet.ensure_template",
        "fleet.name",
        "fleet.terminate",
        "hints.send",
        "ledger.reserve",
        "ledger.settle_launch",
        "ledger.save_claim",
        "ledger.take_turn",
        "ledger.set_usage",
        "ledger.set_last_run",
        "ledger.record_decision",
        "ledger.mark_unreachable",
        "queue.send",
    ],
)
def test_what_changes_something_is_not_taken_for_a_reading(name: str) -> None:
    assert not is_read(name)


def fate(faults: Faults, site: Site) -> str:
    try:
        faults.around(site, lambda: None)
    except (KilledError, RefusedError, UnavailableError) as error:
        return f"{type(error).__name__}: {error}"
    return "went through"
