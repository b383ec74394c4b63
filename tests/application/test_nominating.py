"""Reconcile tells pods of their nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.application.errors import RefusedError, UnavailableError
from nodewright.domain.pods import PodKey
from nodewright.domain.taints import Taint
from tests.application.world import NOW, World
from tests.builders import pods


def provisioned() -> World:
    here = World()
    here.cluster.add(*pods(4, cpu="900m", created=NOW - timedelta(seconds=30)))
    here.provision()
    return here


def nominated(here: World) -> dict[PodKey, str]:
    return {key: pod.nominated_node_name for key, pod in here.cluster.pods.items() if pod.nominated_node_name}


def planned(here: World) -> dict[PodKey, str]:
    return {pod: claim.node_name for claim in here.claims for pod in claim.nominated_pods}


def test_pods_know_their_node_before_it_is_ready() -> None:
    here = provisioned()
    here.join(ready=False)
    here.reconcile()
    assert nominated(here) == planned(here)
    assert len(nominated(here)) == 4


def test_what_the_scheduler_forgot_is_told_again_when_the_node_is_ready() -> None:
    here = provisioned()
    here.join(ready=False)
    here.reconcile()
    for key, pod in here.cluster.pods.items():
        here.cluster.pods[key] = replace(pod, nominated_node_name="")
    here.cluster.nodes = {name: replace(node, ready=True) for name, node in here.cluster.nodes.items()}
    here.reconcile()
    assert nominated(here) == planned(here)


def test_a_pod_that_went_away_meanwhile_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    here = provisioned()
    here.join(ready=False)
    read = here.cluster.read

    def stale() -> object:
        state = read()
        here.cluster.pods.pop(PodKey("default", "p-0"), None)
        return state

    monkeypatch.setattr(here.cluster, "read", stale)
    here.reconcile()
    assert len(nominated(here)) == 3


def test_a_role_that_may_not_nominate_is_told_of_and_hinders_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    here = provisioned()
    here.join()

    def refuse(pod: PodKey, uid: str, node: str) -> None:  # noqa: ARG001 - as the port has it
        raise RefusedError("pods/status: forbidden")

    monkeypatch.setattr(here.cluster, "nominate", refuse)
    report = here.reconcile()
    assert report.moved == 2
    assert not nominated(here)
    (problem,) = [each for each in here.observer.problems if each[1] == "nominate"]
    assert "nodewright connect" in problem[2]


def test_an_api_server_that_takes_no_status_of_pods_keeps_no_node_from_being_registered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = provisioned()
    here.join()

    def fail(pod: PodKey, uid: str, node: str) -> None:  # noqa: ARG001 - as the port has it
        raise UnavailableError("pods/status: 500, an admission webhook fails")

    monkeypatch.setattr(here.cluster, "nominate", fail)
    report = here.reconcile()
    assert report.moved == 2
    (problem,) = [each for each in here.observer.problems if each[1] == "nominate"]
    assert "webhook fails" in problem[2]
    assert "connect" not in problem[2]
    monkeypatch.undo()
    here.reconcile()
    assert nominated(here) == planned(here)


def test_pods_are_told_before_nodes_are_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    here = provisioned()
    here.join()
    done: list[str] = []
    nominate, register = here.cluster.nominate, here.cluster.register_node

    def tell(pod: PodKey, uid: str, node: str) -> None:
        done.append("told")
        nominate(pod, uid, node)

    def take_in(name: str, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> None:
        done.append("registered")
        register(name, labels, remove_taints)

    monkeypatch.setattr(here.cluster, "nominate", tell)
    monkeypatch.setattr(here.cluster, "register_node", take_in)
    here.reconcile()
    assert done == ["told"] * 4 + ["registered"] * 2


def test_a_role_that_may_not_nominate_is_refused_once(monkeypatch: pytest.MonkeyPatch) -> None:
    here = provisioned()
    here.join()
    refused: list[PodKey] = []

    def refuse(pod: PodKey, uid: str, node: str) -> None:  # noqa: ARG001 - as the port has it
        refused.append(pod)
        raise RefusedError("pods/status: forbidden")

    monkeypatch.setattr(here.cluster, "nominate", refuse)
    here.reconcile()
    assert len(refused) == 1
