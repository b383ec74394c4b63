"""Cases.md 33: a node is not empty while somebody is on the way to it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.disruption.expectations import PATIENCE, expectations
from nodewright.domain.pods import Pod
from nodewright.domain.retiring import begin
from nodewright.domain.scheduling import solve
from nodewright.domain.snapshot import Room
from tests.builders import NOW, claim, pod, pool, room, snapshot

MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)
#: Too large for any node that is there.
LARGE = pod("p", cpu="64")


def member(name: str, **changes: object) -> NodeClaim:
    return claim(
        f"claim-{name}", **{"state": ClaimState.INITIALIZED, "node_name": name, "last_pod_event": NOW, **changes}
    )


def expected(
    claims: Iterable[NodeClaim] = (),
    pods: Iterable[Pod] = (),
    rooms: Iterable[Room] = (),
    displaced: Iterable[Pod] = (),
    after: timedelta | None = timedelta(),
) -> Mapping[str, str]:
    pools = (pool(consolidate_after=after),)
    return expectations(snapshot(pods, rooms=rooms), claims, pools, displaced, solve)


@pytest.mark.parametrize(
    ("age", "after", "kept"),
    [
        (30 * SECOND, timedelta(), True),
        (PATIENCE - SECOND, timedelta(), True),
        (PATIENCE, timedelta(), False),
        (PATIENCE, 10 * MINUTE, True),
        (10 * MINUTE, 10 * MINUTE, False),
        (PATIENCE, None, False),
    ],
)
def test_the_pod_a_node_was_bought_for_keeps_it_for_five_minutes_or_consolidate_after(
    age: timedelta, after: timedelta | None, kept: bool
) -> None:
    bought = member("n", nominated_pods=(LARGE.key,), last_pod_event=NOW - age)
    old = replace(LARGE, created=NOW - timedelta(hours=1))
    assert ("n" in expected([bought], [old], after=after)) is kept


def test_a_pod_that_went_elsewhere_or_away_keeps_nothing() -> None:
    assert expected([member("n", nominated_pods=(LARGE.key,))], [pod("other", cpu="64")]) == {}


def test_a_replacement_is_kept_until_what_it_stands_for_is_gone() -> None:
    leaving = begin(member("old"), "expired", NOW, replacements=("claim-new",)) or member("old")
    assert expected([leaving, member("new"), member("third")]) == {"new": "it replaces old"}
    assert expected([member("old"), member("new")]) == {}


def test_a_node_where_a_young_pod_fits_is_kept_for_it_and_the_next_empty_one_is_not() -> None:
    young = pod("young", created=NOW - PATIENCE + SECOND)
    assert expected(pods=[young], rooms=[room("a"), room("b")]) == {"a": "default/young waits and fits there"}


def test_one_that_kube_scheduler_left_alone_for_minutes_keeps_nothing() -> None:
    assert expected(pods=[pod("old", created=NOW - PATIENCE)], rooms=[room("a")]) == {}


def test_a_pod_that_has_to_leave_its_node_keeps_its_next_place_however_old_it_is() -> None:
    old = pod("old", created=NOW - timedelta(days=1))
    assert "a" in expected(pods=[old], rooms=[room("a")], displaced=[old])
