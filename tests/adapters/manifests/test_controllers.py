"""How many pods a controller wants, and whether any are to be expected."""

import json

import pytest

from nodewright.adapters.manifests.controllers import read_controller
from nodewright.domain.pods import Owner
from tests.adapters.manifests.raw import Json

PARALLEL: Json = {"podManagementPolicy": "Parallel"}


def body(spec: Json, status: Json | None = None, **metadata: object) -> bytes:
    named = {"name": "web", "namespace": "shop", "uid": "u", **metadata}
    return json.dumps({"metadata": named, "spec": spec, "status": status or {}}).encode()


def true(kind: str, message: str = "") -> Json:
    return {"conditions": [{"type": kind, "status": "True", "message": message}]}


@pytest.mark.parametrize(
    ("kind", "spec", "status", "wanted"),
    [
        ("ReplicaSet", {"replicas": 7}, {}, 7),
        ("ReplicaSet", {}, {}, 1),
        ("ReplicaSet", {"replicas": 0}, {}, 0),
        ("StatefulSet", {"replicas": 3, **PARALLEL}, {}, 3),
        ("Job", {}, {}, 1),
        ("Job", {"parallelism": 5}, {"succeeded": 4}, 5),
        ("Job", {"parallelism": 5, "completions": 6}, {"succeeded": 4}, 2),
        ("Job", {"parallelism": 5, "completions": 20}, {"succeeded": 4}, 5),
        ("Job", {"parallelism": 5, "completions": 3}, {"succeeded": 4}, 0),
    ],
)
def test_so_many_pods_are_wanted(kind: str, spec: Json, status: Json, wanted: int) -> None:
    workload = read_controller(body(spec, status), kind)
    assert (workload.wanted, workload.silent) == (wanted, "")
    assert (workload.namespace, workload.owner) == ("shop", Owner(kind, "web", "u"))


@pytest.mark.parametrize(
    ("kind", "spec", "status", "metadata", "why"),
    [
        ("ReplicaSet", {}, true("ReplicaFailure", "exceeded quota"), {}, "exceeded quota"),
        ("ReplicaSet", {}, {}, {"deletionTimestamp": "2026-01-01T12:00:00Z"}, "deleted"),
        ("StatefulSet", {}, {}, {}, "one pod after the other"),
        ("StatefulSet", {"podManagementPolicy": "OrderedReady"}, {}, {}, "one pod after the other"),
        ("Job", {"suspend": True}, {}, {}, "suspended"),
        ("Job", {}, true("Complete"), {}, "ended"),
        ("Job", {}, true("FailureTarget"), {}, "ended"),
    ],
)
def test_nothing_is_to_be_expected_and_why(kind: str, spec: Json, status: Json, metadata: Json, why: str) -> None:
    assert why in read_controller(body(spec, status, **metadata), kind).silent


def test_a_condition_that_isnt_true_says_nothing() -> None:
    status: Json = {"conditions": [{"type": "ReplicaFailure", "status": "False"}]}
    assert read_controller(body({}, status), "ReplicaSet").silent == ""


@pytest.mark.parametrize(
    ("kind", "spec", "waits"),
    [
        ("ReplicaSet", {}, False),
        ("Job", {}, False),
        ("Job", {"podReplacementPolicy": "Failed"}, True),
        ("StatefulSet", PARALLEL, True),
    ],
)
def test_who_waits_for_pods_that_are_being_deleted(kind: str, spec: Json, waits: bool) -> None:
    assert read_controller(body(spec), kind).waits_for_the_dying is waits


def test_the_setting_is_the_workloads_own_or_its_templates() -> None:
    template: Json = {"template": {"metadata": {"annotations": {"nodewright.dev/look-ahead": "off"}}}}
    assert read_controller(body(template), "Job").look_ahead == "off"
    assert read_controller(body({}, annotations={"nodewright.dev/look-ahead": "off"}), "Job").look_ahead == "off"
    assert read_controller(body(template, annotations={"nodewright.dev/look-ahead": "on"}), "Job").look_ahead == "on"
    assert read_controller(body({"template": {}}), "Job").look_ahead == ""
