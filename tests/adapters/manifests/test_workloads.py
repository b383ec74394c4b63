from collections.abc import Sequence

import pytest

from nodewright.adapters.manifests.workloads import Grown, LivePods, WorkloadError, grow
from tests.adapters.manifests.raw import Json

TEMPLATE: Json = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}


def workload(kind: str = "Deployment", name: str = "web", /, **spec: object) -> Json:
    return {"kind": kind, "metadata": {"name": name}, "spec": {"template": TEMPLATE, **spec}}


def live(name: str, kind: str, owner: str, *, labels: Json | None = None, **more: object) -> Json:
    references = [{"kind": kind, "name": owner, "controller": True}]
    return {"metadata": {"name": name, "labels": labels or {}, "ownerReferences": references}, **more}


def grown(of: Json, pods: Sequence[Json] = (), replica_sets: Sequence[Json] = ()) -> Grown:
    return grow(of, LivePods.of(pods, replica_sets))


def names(of: Grown) -> list[object]:
    return [pod["metadata"]["name"] for pod in of.pods]  # type: ignore[index]


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"])
def test_a_workload_stands_for_its_replicas_one_unless_it_says_more(kind: str) -> None:
    assert names(grown(workload(kind))) == ["web-0"]
    assert names(grown(workload(kind, replicas=3))) == ["web-0", "web-1", "web-2"]
    assert names(grown(workload(kind, replicas=0))) == []


def test_its_pods_carry_what_the_template_says_and_whose_they_are() -> None:
    (pod,) = grown(workload()).pods
    assert pod["spec"] == TEMPLATE["spec"]
    metadata = pod["metadata"]
    assert isinstance(metadata, dict)
    assert metadata["labels"] == {"app": "web"}
    assert metadata["ownerReferences"] == [
        {"kind": "Deployment", "name": "web", "uid": "Deployment/default/web", "controller": True}
    ]


@pytest.mark.parametrize(
    ("spec", "status", "count"),
    [
        ({}, {}, 1),
        ({"parallelism": 8, "completions": 20}, {}, 8),
        ({"parallelism": 8, "completions": 20}, {"succeeded": 17}, 3),
        ({"parallelism": 2, "completions": None}, {}, 2),
        ({"parallelism": 2, "suspend": True}, {}, 0),
        ({"parallelism": 2}, {"conditions": [{"type": "Complete", "status": "True"}]}, 0),
        ({"parallelism": 2}, {"conditions": [{"type": "Failed", "status": "False"}]}, 2),
    ],
)
def test_a_job_stands_for_what_it_runs_at_once(spec: Json, status: Json, count: int) -> None:
    assert len(grown({**workload("Job", "web", **spec), "status": status}).pods) == count


def test_only_what_is_missing_is_added() -> None:
    pods = [live("web-0", "ReplicaSet", "web-1a", labels={"pod-template-hash": "1a"}), live("web-2", "Other", "x")]
    assert names(grown(workload(replicas=3), pods)) == ["web-1", "web-3"]
    replica_set = live("oddly-named", "Deployment", "web")
    assert names(grown(workload(replicas=2), [live("p", "ReplicaSet", "oddly-named")], [replica_set])) == ["web-0"]


def test_pods_that_ended_or_leave_are_replaced() -> None:
    pods = [
        live("a", "Job", "web", status={"phase": "Succeeded"}),
        {**live("b", "Job", "web"), "metadata": {**live("b", "Job", "web")["metadata"], "deletionTimestamp": "now"}},  # type: ignore[dict-item]
        live("c", "Job", "web"),
    ]
    assert names(grown(workload("Job", parallelism=2), pods)) == ["web-0"]


def test_pods_of_another_namespace_are_not_its_own() -> None:
    pod = live("a", "ReplicationController", "web")
    pod["metadata"] = {**pod["metadata"], "namespace": "other"}  # type: ignore[dict-item]
    assert names(grown(workload("ReplicationController"), [pod])) == ["web-0"]


def test_a_stateful_sets_pods_have_their_own_names_labels_and_volumes() -> None:
    raw = workload(
        "StatefulSet",
        "db",
        replicas=2,
        ordinals={"start": 5},
        volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": {"storageClassName": "gp3"}}],
    )
    raw["spec"]["template"] = {  # type: ignore[index]
        "spec": {"volumes": [{"name": "data", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}], "containers": []}
    }
    found = grown(raw, [live("db-5", "StatefulSet", "db")])
    (pod,) = found.pods
    assert pod["metadata"]["name"] == "db-6"  # type: ignore[index]
    assert pod["metadata"]["labels"] == {  # type: ignore[index]
        "statefulset.kubernetes.io/pod-name": "db-6",
        "apps.kubernetes.io/pod-index": "6",
    }
    assert pod["spec"]["volumes"] == [  # type: ignore[index]
        {"name": "tmp", "emptyDir": {}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-6"}},
    ]
    assert [claim["metadata"] for claim in found.claims] == [
        {"name": "data-db-5", "namespace": "default"},
        {"name": "data-db-6", "namespace": "default"},
    ]
    assert found.claims[0]["spec"] == {"storageClassName": "gp3"}


@pytest.mark.parametrize("replicas", [-1, 1.5, "3", True, 10**9])
def test_replicas_that_cannot_be_are_told(replicas: object) -> None:
    with pytest.raises(WorkloadError, match=r"spec\.replicas: .* whole number from 0"):
        grown(workload(replicas=replicas))


def test_a_workload_without_a_template_is_told_unless_it_wants_no_pods() -> None:
    with pytest.raises(WorkloadError, match=r"spec\.template: it is missing"):
        grown({"kind": "Deployment", "metadata": {"name": "w"}, "spec": {"replicas": 2}})
    assert grown({"kind": "Deployment", "metadata": {"name": "w"}, "spec": {"replicas": 0}}).pods == ()
