"""Which pods are nudged, and how often."""

from typing import Any

import pytest

from sandbox.controlplane.client import Client, Object
from sandbox.controlplane.nudging import ANNOTATION, AT_ONCE, PATIENCE_SECONDS, TIMES, Nudger


class Calls(Client):
    """An API server of which only pods that wait are known."""

    def __init__(self) -> None:
        self.waiting: list[Object] = []
        self.nudged: list[tuple[str, str]] = []

    def objects(self, *_: object, **asked: Any) -> list[Object]:
        assert asked == {"fields": "spec.nodeName!=,status.phase=Pending"}
        return self.waiting

    def patch(self, *asked: Any, **_: Any) -> Object:
        _version, kind, name, patch, namespace = asked
        self.nudged.append((f"{kind} {namespace}/{name}", patch["metadata"]["annotations"][ANNOTATION]))
        return {}


def waiting(name: str) -> Object:
    return {"metadata": {"name": name, "namespace": "default", "uid": f"uid of {name}"}}


@pytest.fixture
def calls() -> Calls:
    return Calls()


def test_a_pod_is_left_alone_while_its_kubelet_may_still_start_it(calls: Calls) -> None:
    nudger = Nudger(calls)
    calls.waiting = [waiting("a")]
    nudger.look(0)
    nudger.look(PATIENCE_SECONDS - 1)
    assert calls.nudged == []
    nudger.look(PATIENCE_SECONDS)
    assert calls.nudged == [("Pod default/a", "1")]


def test_whoever_started_meanwhile_begins_anew(calls: Calls) -> None:
    nudger = Nudger(calls)
    for now, pods in ((0.0, ["a"]), (1.0, []), (PATIENCE_SECONDS, ["a"])):
        calls.waiting = [waiting(name) for name in pods]
        nudger.look(now)
    assert calls.nudged == []


def test_what_no_nudge_starts_is_given_up(calls: Calls) -> None:
    nudger = Nudger(calls)
    calls.waiting = [waiting("a")]
    for look in range(TIMES + 3):
        nudger.look(look * PATIENCE_SECONDS)
    assert [times for _, times in calls.nudged] == [str(number + 1) for number in range(TIMES)]


def test_of_many_those_that_wait_longest_come_first_a_few_at_a_look(calls: Calls) -> None:
    nudger = Nudger(calls)
    calls.waiting = [waiting("first")]
    nudger.look(0)
    calls.waiting = [*(waiting(f"later-{number}") for number in range(2 * AT_ONCE)), waiting("first")]
    nudger.look(1)
    nudger.look(PATIENCE_SECONDS + 1)
    assert calls.nudged[0] == ("Pod default/first", "1")
    assert len(calls.nudged) == AT_ONCE
    nudger.look(PATIENCE_SECONDS + 3)
    assert len(set(calls.nudged)) == 2 * AT_ONCE
