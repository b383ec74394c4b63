"""Pods that a controller is about to make."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.domain.expected_pods import LOOK_AHEAD, Prospect, awaited, expected_pods, prospects
from nodewright.domain.pods import ClaimTemplate, Owner, Pod, PodKey
from nodewright.domain.storage import NO_STORAGE, PersistentVolumeClaim, Storage
from nodewright.domain.workloads import Workload
from tests.builders import NOW, claim, pod

SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
WEB = Owner("ReplicaSet", "web", "u")


def web(count: int = 1, age: timedelta = SECOND, **changes: object) -> tuple[Pod, ...]:
    made = {"owner": WEB, "created": NOW - age, **changes}
    return tuple(pod(f"web-{number}", **made) for number in range(count))  # type: ignore[arg-type]


def workload(wanted: int, **changes: object) -> Workload:
    return replace(Workload("default", WEB, wanted), **changes)  # type: ignore[arg-type]


def found(pods: tuple[Pod, ...], *, set_aside: frozenset[PodKey] = frozenset()) -> tuple[Prospect, ...]:
    return prospects(pods, [each for each in pods if not each.node_name], set_aside, NOW)


def expected(pods: tuple[Pod, ...], of: Workload, storage: Storage = NO_STORAGE) -> tuple[Pod, ...]:
    (prospect,) = found(pods)
    return expected_pods(prospect, of, {each.key for each in pods}, storage, NOW)


def test_what_is_missing_is_like_the_youngest_pod_that_waits() -> None:
    old, young = web(1, 9 * SECOND, cpu="1"), (pod("web-9", owner=WEB, created=NOW - SECOND, cpu="2"),)
    missing = expected((*old, *young), workload(5))
    assert [str(each.key) for each in missing] == [f"default/web-expected-{number}" for number in range(3)]
    assert {each.requests.get("cpu") for each in missing} == {2000}
    assert {(each.stands_for, each.uid, each.created) for each in missing} == {("expected", "", NOW)}


def test_pods_that_run_count_and_pods_on_their_way_out_do_not() -> None:
    running = (pod("web-a", owner=WEB, node_name="n", created=NOW - MINUTE),)
    leaving = (pod("web-b", owner=WEB, node_name="n", terminating=True, created=NOW - MINUTE),)
    there = (*web(1), *running, *leaving)
    assert len(expected(there, workload(4))) == 2
    assert len(expected(there, workload(4, waits_for_the_dying=True))) == 1


def test_nothing_is_expected_where_all_are_there_or_more() -> None:
    assert expected(web(3), workload(3)) == ()
    assert expected(web(3), workload(1)) == ()


@pytest.mark.parametrize(
    "of",
    [
        workload(9, silent="it can't make pods: quota"),
        workload(9, look_ahead="off"),
        workload(9, owner=replace(WEB, uid="made anew")),
    ],
)
def test_nothing_is_expected_of_who_says_so_or_is_another(of: Workload) -> None:
    assert expected(web(2), of) == ()


def test_a_setting_that_is_not_off_changes_nothing() -> None:
    assert len(expected(web(2), workload(3, look_ahead="on"))) == 1


@pytest.mark.parametrize(
    "pods",
    [
        web(2, 2 * MINUTE),
        web(2, gated=True),
        web(2, annotations={LOOK_AHEAD: "off"}),
        web(2, problems=("spec: no",)),
        web(2, node_name="n"),
        web(2, owner=None),
        web(2, owner=Owner("DaemonSet", "web", "u")),
        web(2, owner=Owner("Node", "web", "u")),
    ],
)
def test_nobody_is_asked_in_vain(pods: tuple[Pod, ...]) -> None:
    assert found(pods) == ()


def test_one_gated_pod_is_enough_to_wait() -> None:
    assert found((*web(2), pod("web-9", owner=WEB, gated=True))) == ()


def test_a_shape_that_is_set_aside_is_not_expected_more_of() -> None:
    pods = web(1)
    assert found(pods, set_aside=frozenset({pods[0].key})) == ()


def test_the_most_active_is_asked_first() -> None:
    other = tuple(pod(f"a-{number}", owner=Owner("Job", "a", "v"), created=NOW) for number in range(2))
    assert [each.owner.name for each in found((*web(3), *other))] == ["web", "a"]


def test_no_more_is_expected_than_comes_within_two_minutes_at_the_pace_so_far() -> None:
    slow = tuple(pod(f"web-{n}", owner=WEB, created=NOW - timedelta(seconds=10 * n + 1)) for n in range(6))
    fast = web(200, 10 * SECOND)
    assert len(expected(slow, workload(1000))) == int(6 * 120 / 51)
    assert len(expected(fast, workload(1000))) == 800


def test_names_in_use_are_left_out() -> None:
    named = (pod("web-expected-0", owner=WEB, created=NOW),)
    assert [each.key.name for each in expected(named, workload(2))] == ["web-expected-1"]


def test_labels_of_one_pod_alone_are_not_those_of_the_next() -> None:
    labels = {"app": "web", "statefulset.kubernetes.io/pod-name": "web-0", "apps.kubernetes.io/pod-index": "0"}
    (each,) = expected(web(1, labels=labels), workload(2))
    assert each.labels == {"app": "web"}


def test_volumes_made_for_each_pod_are_made_for_those_to_come() -> None:
    template = ClaimTemplate("web-0-tmp", "fast")
    pods = web(1, claim_names=("data-web-0", "web-0-tmp", "shared"), claim_templates=(template,))
    storage = Storage(claims=(PersistentVolumeClaim("default", "data-web-0", "slow"),))
    (each,) = expected(pods, workload(2), storage)
    assert each.claim_names == ("data-web-expected-0", "web-expected-0-tmp", "shared")
    assert set(each.claim_templates) == {
        ClaimTemplate("web-expected-0-tmp", "fast"),
        ClaimTemplate("data-web-expected-0", "slow"),
    }


def test_a_node_waits_two_minutes_for_what_it_was_bought_for() -> None:
    bought = claim(expected_pods=(PodKey("default", "web-expected-0"),), created=NOW)
    assert awaited(bought, NOW + 119 * SECOND)
    assert not awaited(bought, NOW + 2 * MINUTE)
    assert awaited(claim(headroom=(PodKey("x", "y"),), created=NOW), NOW)
    assert not awaited(claim(created=NOW), NOW)
