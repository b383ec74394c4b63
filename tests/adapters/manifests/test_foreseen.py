"""Workloads of an input whose missing pods are expected."""

from collections.abc import Sequence

import pytest

from nodewright.adapters.manifests.worlds import World, read_world
from tests.adapters.manifests.raw import Json

OFF: Json = {"nodewright.dev/look-ahead": "off"}
FAILING: Json = {"conditions": [{"type": "ReplicaFailure", "status": "True"}]}


def workload(kind: str = "ReplicaSet", **changes: object) -> Json:
    template = {"metadata": {"annotations": changes.pop("of_pods", {})}, "spec": {"containers": [{"name": "c"}]}}
    size = {"parallelism": 3} if kind == "Job" else {"replicas": 3}
    more = changes.pop("spec", {})
    assert isinstance(more, dict)
    annotations = changes.pop("annotations", {})
    metadata = {"name": "web", "uid": "u", "annotations": annotations, **changes.pop("metadata", {})}  # type: ignore[dict-item]
    return {"kind": kind, "metadata": metadata, "spec": {**size, **more, "template": template}, **changes}


def pod(name: str, owner: str = "ReplicaSet", spec: Json | None = None, phase: str = "Pending") -> Json:
    references = [{"kind": owner, "name": "web", "uid": "u", "controller": True}]
    containers = {"containers": [{"name": "c"}]}
    metadata = {"name": name, "ownerReferences": references}
    return {"kind": "Pod", "metadata": metadata, "spec": {**containers, **(spec or {})}, "status": {"phase": phase}}


def names(pods: Sequence[object]) -> list[str]:
    return [str(each.key.name) for each in pods]  # type: ignore[attr-defined]


def world(*objects: Json) -> World:
    return read_world(objects)


@pytest.mark.parametrize("kind", ["ReplicaSet", "Job", "Deployment"])
def test_missing_pods_of_a_workload_with_one_that_waits_are_expected(kind: str) -> None:
    read = world(workload(kind), pod("web-a", kind))
    assert (names(read.state.pods), names(read.expected)) == (["web-a"], ["web-expected-0", "web-expected-1"])
    assert {each.stands_for for each in read.expected} == {"expected"}


def test_those_of_a_parallel_stateful_set_have_their_own_names() -> None:
    parallel = workload("StatefulSet", spec={"podManagementPolicy": "Parallel"})
    read = world(parallel, pod("web-0", "StatefulSet"))
    assert (names(read.state.pods), names(read.expected)) == (["web-0"], ["web-1", "web-2"])


@pytest.mark.parametrize(
    "objects",
    [
        [workload()],
        [workload("StatefulSet"), pod("web-0", "StatefulSet")],
        [workload("ReplicationController"), pod("web-a", "ReplicationController")],
        [workload(), pod("web-a", spec={"nodeName": "n"}, phase="Running")],
        [workload(), pod("web-a", spec={"schedulingGates": [{"name": "g"}]})],
        [workload(annotations=OFF), pod("web-a")],
        [workload(of_pods=OFF), pod("web-a")],
        [workload(annotations={"nodewright.dev/look-ahead": False}), pod("web-a")],
        [workload(status=FAILING), pod("web-a")],
        [workload(metadata={"deletionTimestamp": "2026-01-01T12:00:00Z"}), pod("web-a")],
    ],
)
def test_else_a_workload_stands_for_its_pods(objects: list[Json]) -> None:
    read = world(*objects)
    assert len(read.state.pods) == 3
    assert read.expected == ()


def test_values_that_nobody_knows_are_told_with_their_field() -> None:
    said: Json = {"nodewright.dev/look-ahead": "never"}
    told = world(workload(annotations=said, of_pods=said), pod("web-a")).state.warnings
    assert [(each.object, each.path) for each in told] == [
        ("ReplicaSet/default/web", "metadata.annotations.nodewright.dev/look-ahead"),
        ("ReplicaSet/default/web", "spec.template.metadata.annotations.nodewright.dev/look-ahead"),
    ]
    assert all("'never' is not known; write off" in each.message for each in told)
