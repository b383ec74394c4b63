"""A cluster in memory lets pods go as the API server, the disruption controller and kubelet do together."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.adapters.memory import Budget, InMemoryCluster, VirtualClock
from nodewright.application.errors import NotFoundError
from nodewright.domain.pods import PodKey
from nodewright.domain.requirements import Requirements
from nodewright.domain.retirement import DISRUPTED, EXCLUDED
from tests.builders import NOW, node
from tests.domain.retirements import running

WEB = Requirements.from_labels({"app": "web"})


def cluster(pods: int = 3, *, min_available: int | None = None) -> InMemoryCluster:
    """Node n with pods web-0, web-1, … of a minute's grace."""
    made = InMemoryCluster(clock=VirtualClock(NOW))
    made.add(node("n"), *(running(f"web-{number}", labels={"app": "web"}) for number in range(pods)))
    if min_available is not None:
        made.budgets["web"] = Budget("default", "web", WEB, min_available)
    return made


def evicted(of: InMemoryCluster, number: int, uid: str = "") -> str:
    return of.evict(PodKey("default", f"web-{number}"), uid or f"uid-web-{number}").answer


def later(of: InMemoryCluster, seconds: float) -> None:
    assert of.clock is not None
    of.clock.sleep(timedelta(seconds=seconds))


def names(of: InMemoryCluster) -> list[str]:
    return [pod.key.name for pod in of.pods_on("n")]


def test_a_pod_takes_its_grace_to_go() -> None:
    here = cluster()
    assert evicted(here, 1) == "evicted"
    later(here, 59)
    assert names(here) == ["web-0", "web-1", "web-2"]
    later(here, 1)
    assert names(here) == ["web-0", "web-2"]
    assert evicted(here, 1) == "gone"


def test_without_a_clock_a_pod_is_gone_at_once() -> None:
    here = replace(cluster(), clock=None)
    assert evicted(here, 1) == "evicted"
    assert names(here) == ["web-0", "web-2"]


def test_a_budget_counts_healthy_pods_anew_each_time() -> None:
    here = cluster(3, min_available=2)
    assert [each.disruptions_allowed for each in here.disruption_budgets()] == [1]
    assert [evicted(here, number) for number in range(3)] == ["evicted", "later", "later"]
    here.add(running("web-9", labels={"app": "web"}, node_name="other"))
    assert [evicted(here, number) for number in (1, 2)] == ["evicted", "later"]


def test_a_pod_that_isnt_ready_doesnt_count() -> None:
    here = cluster(2, min_available=1)
    here.add(running("web-1", labels={"app": "web"}, ready=False))
    assert [each.disruptions_allowed for each in here.disruption_budgets()] == [0]


def test_one_that_is_going_may_be_asked_again() -> None:
    here = cluster(1, min_available=0)
    assert [evicted(here, 0), evicted(here, 0)] == ["evicted", "evicted"]
    later(here, 60)
    assert names(here) == []


def test_another_pod_of_the_name_is_not_meant() -> None:
    here = cluster()
    assert evicted(here, 0, "an older one") == "gone"
    here.delete_pod(PodKey("default", "web-0"), "an older one", 0)
    assert names(here) == ["web-0", "web-1", "web-2"]


def test_a_deletion_asks_no_budget_and_only_an_earlier_end_counts() -> None:
    here = cluster(1, min_available=1)
    key = PodKey("default", "web-0")
    here.delete_pod(key, "uid-web-0", 60)
    here.delete_pod(key, "uid-web-0", 30)
    here.delete_pod(key, "uid-web-0", 90)
    assert here.pods[key].deletion == NOW + timedelta(seconds=30)
    here.delete_pod(key, "uid-web-0", 0)
    assert names(here) == []


def test_a_volume_stays_attached_until_its_pod_is_gone_and_it_is_detached() -> None:
    here = cluster(1)
    here.volumes = {PodKey("default", "web-0"): ("pv-1",)}
    here.detaching = timedelta(seconds=5)
    evicted(here, 0)
    later(here, 60)
    assert here.attached_volumes("n") == ("pv-1",)
    assert here.attached_volumes("other") == ()
    later(here, 5)
    assert here.attached_volumes("n") == ()


def test_a_registered_node_that_is_deleted_waits_for_our_finalizer() -> None:
    here = cluster(0)
    here.register_node("n", {}, ())
    here.remove_node("n")
    assert here.nodes["n"].terminating
    here.delete_node("n", "another")
    assert "n" in here.nodes
    here.delete_node("n", "uid-n")
    assert "n" not in here.nodes


def test_a_node_without_it_is_gone_and_one_being_deleted_takes_none() -> None:
    here = cluster(0)
    here.add(replace(here.nodes["n"], terminating=True))
    here.register_node("n", {}, ())
    here.remove_node("n")
    assert here.nodes == {}


def test_marks_go_on_and_off_whole() -> None:
    here = cluster(0)
    before = here.nodes["n"]
    for _ in range(2):
        here.mark_node("n", DISRUPTED, {EXCLUDED: "true"})
    assert here.nodes["n"].taints == (DISRUPTED,)
    here.unmark_node("n", DISRUPTED, (EXCLUDED,))
    assert here.nodes["n"] == before
    here.unmark_node("gone", DISRUPTED, (EXCLUDED,))
    with pytest.raises(NotFoundError):
        here.mark_node("gone", DISRUPTED, {})


def test_a_node_is_known_by_its_instance() -> None:
    here = cluster(0)
    assert here.node_of("i-n", "n") == here.node_of("i-n", "") == here.nodes["n"]
    assert here.node_of("i-n", "other") is here.node_of("i-other", "n") is None
