"""Who leaves a node when (karpenter-behaviour §8.9; cases.md 20, 21)."""

from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.domain.draining import Drain, drain, longest_grace, objections
from nodewright.domain.pods import Owner, Pod, PodKey
from nodewright.domain.taints import Toleration
from tests.domain.retirements import HOUR, MINUTE, SECOND, TEN, budget, daemon, leaving, running, staying

ELEVEN = TEN + HOUR


def names(pods: tuple[Pod, ...]) -> list[str]:
    return [pod.key.name for pod in pods]


def drained(*pods: Pod, deadline: object = None, urgent: bool = False) -> Drain:
    return drain(pods, TEN, deadline, urgent=urgent)  # type: ignore[arg-type]


def test_waves_go_one_after_the_other_others_before_daemons_and_critical_ones_last() -> None:
    waves = [running("a"), daemon("b"), running("c", critical=True), daemon("d", critical=True)]
    while waves:
        todo = drained(*reversed(waves))
        assert names(todo.remaining) == [pod.key.name for pod in waves]
        assert names(todo.evict) == [waves.pop(0).key.name]


def test_a_wave_goes_together() -> None:
    assert names(drained(running("b"), running("a"), daemon("c")).evict) == ["a", "b"]


def test_the_next_wave_waits_until_the_one_before_is_gone() -> None:
    todo = drained(leaving("a", until=TEN + MINUTE), daemon("b"))
    assert todo.evict == ()
    assert names(todo.remaining) == ["a", "b"]


def test_who_leaves_already_is_not_asked_again() -> None:
    assert names(drained(leaving("a", until=TEN + MINUTE), running("b")).evict) == ["b"]


@pytest.mark.parametrize(
    "pod",
    [
        running(phase="Succeeded"),
        running(phase="Failed"),
        running(annotations={"kubernetes.io/config.mirror": "x"}),
        running(owner=Owner("Node", "n", "uid-n")),
        running(tolerates=(Toleration("karpenter.sh/disrupted", "Exists"),)),
        running(tolerates=(Toleration(operator="Exists"),)),
        leaving(until=TEN - MINUTE - SECOND),
    ],
    ids=["succeeded", "failed", "mirror", "static", "tolerates-the-taint", "tolerates-everything", "stuck"],
)
def test_these_are_not_waited_for(pod: Pod) -> None:
    assert drained(pod) == Drain((), (), (), (), None)


def test_a_pod_a_minute_past_its_grace_is_still_waited_for() -> None:
    assert names(drained(leaving("a", until=TEN - MINUTE)).remaining) == ["a"]


def test_a_pod_that_forbids_it_is_waited_for_but_not_asked_and_holds_up_later_waves() -> None:
    todo = drained(staying("a"), running("b"), daemon("c"))
    assert (names(todo.evict), names(todo.held)) == (["b"], ["a"])
    todo = drained(staying("a"), daemon("c"))
    assert (names(todo.evict), names(todo.held)) == ([], ["a"])


@pytest.mark.parametrize(
    ("value", "held"),
    [("true", True), ("false", False), ("10m", True), ("1m", False), ("soon", True)],
)
def test_the_annotation_may_be_for_a_while(value: str, held: bool) -> None:
    """cases.md 21: "false" doesn't block; what can't be read does."""
    pod = staying("a", value, started=TEN - 5 * MINUTE)
    assert bool(drained(pod).held) is held
    assert bool(drained(pod).evict) is not held


def test_an_interruption_hears_no_annotation() -> None:
    todo = drained(staying("a"), urgent=True)
    assert (names(todo.evict), todo.held) == (["a"], ())


def test_at_deadline_less_its_grace_a_pod_is_deleted_whatever_it_says() -> None:
    """cases.md 20: grace 60 s, deadline 11:00 → deleted at 10:59."""
    pods = (running("a"), staying("b"), daemon("c", termination_grace_seconds=30))
    before = drain(pods, ELEVEN - MINUTE - SECOND, ELEVEN)
    assert (before.force, before.next_force) == ((), ELEVEN - MINUTE)
    due = drain(pods, ELEVEN - MINUTE, ELEVEN)
    assert [(forced.pod.key.name, forced.grace_seconds) for forced in due.force] == [("a", 60), ("b", 60)]
    assert (due.evict, due.held) == ((), ())
    assert due.next_force == ELEVEN - timedelta(seconds=30)


def test_a_pod_with_more_grace_than_is_left_gets_what_is_left_and_a_second_at_least() -> None:
    pod = running("a", termination_grace_seconds=3600)
    for left, grace in ((90, 90), (1, 1), (0, 1)):
        (forced,) = drain((pod,), ELEVEN - timedelta(seconds=left), ELEVEN).force
        assert forced.grace_seconds == grace


def test_one_that_leaves_too_slowly_is_hurried_once() -> None:
    slow = leaving("a", until=ELEVEN + MINUTE)
    (forced,) = drain((slow,), ELEVEN - 30 * SECOND, ELEVEN).force
    assert forced.grace_seconds == 30
    assert drain((replace(slow, deletion=ELEVEN),), ELEVEN - 30 * SECOND, ELEVEN).force == ()


def test_without_a_deadline_nobody_is_forced() -> None:
    todo = drain((running("a"),), TEN + 1000 * HOUR, None)
    assert (todo.force, todo.next_force, names(todo.evict)) == ((), None, ["a"])


def test_objections_name_pod_and_cause() -> None:
    said = objections((staying("a"), running("b"), running("c", labels={"x": "y"})), (budget(),), TEN)
    assert said == (
        "default/a forbids it by annotation karpenter.sh/do-not-disrupt",
        "default/b is held by budget pdb",
        "default/c is held by budget pdb",
    )


def test_even_a_daemon_or_mirror_pod_may_object_but_no_finished_one() -> None:
    """karpenter-behaviour §8.2."""
    mirror = replace(staying("m"), owner=Owner("Node", "n", "u"))
    assert len(objections((mirror, staying("d", tolerates=(Toleration(operator="Exists"),))), (), TEN)) == 2
    assert objections((staying("f", phase="Succeeded"),), (budget(),), TEN) == ()


def test_a_budget_with_room_or_over_others_objects_to_nothing() -> None:
    assert objections((running("a"),), (budget(1), budget(namespace="other")), TEN) == ()


def test_two_budgets_over_one_pod_always_object() -> None:
    (said,) = objections((running("a"),), (budget(5), budget(5, name="second")), TEN)
    assert said == "default/a is covered by several budgets: pdb, second"


def test_a_budget_that_lets_unhealthy_pods_go_objects_only_to_ready_ones() -> None:
    lenient = budget(always_allows_unhealthy=True)
    assert objections((running("a", ready=False),), (lenient,), TEN) == ()
    assert objections((running("a", ready=True),), (lenient,), TEN) != ()


def test_who_wouldnt_be_evicted_needs_no_leave_of_a_budget() -> None:
    exempt = (leaving("a", until=TEN + MINUTE), running("b", tolerates=(Toleration(operator="Exists"),)))
    assert objections(exempt, (budget(),), TEN) == ()


def test_the_longest_grace_is_of_those_who_must_leave() -> None:
    tolerant = running("b", tolerates=(Toleration(operator="Exists"),), termination_grace_seconds=900)
    assert longest_grace((running("a"), tolerant), TEN) == MINUTE
    assert longest_grace((), TEN) == timedelta()


def test_pods_are_told_apart_by_namespace_too() -> None:
    twin = replace(running("a"), key=PodKey("other", "a"))
    assert [pod.key.namespace for pod in drained(twin, running("a")).evict] == ["default", "other"]
