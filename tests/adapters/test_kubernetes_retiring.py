"""What retiring asks of an API server, word by word."""

from collections.abc import Iterator
from typing import Any

import pytest

from nodewright.adapters.kubernetes import KubernetesClusters
from nodewright.application.errors import RefusedError, UnavailableError
from nodewright.application.retirement_ports import RetiringCluster
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.pods import PodKey
from nodewright.domain.retirement import DISRUPTED, EXCLUDED
from tests.adapters.api_server import Answer, ApiServer, failure, page
from tests.adapters.manifests.raw import Json, pod

NODE = "/api/v1/nodes/n-1"
POD = "/api/v1/namespaces/shop/pods/web-0"
EVICTION = f"{POD}/eviction"
KEY = PodKey("shop", "web-0")
OURS = "karpenter.sh/termination"


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with ApiServer() as server:
        yield server


@pytest.fixture
def cluster(api: ApiServer) -> RetiringCluster:
    return KubernetesClusters(lambda _: "token").open(ConnectedCluster("mine", api.url, "", "1.37", "", ""))


def node(*, version: str = "7", spec: Json | None = None, **metadata: object) -> Answer:
    about = {"name": "n-1", "uid": "u-1", "resourceVersion": version, **metadata}
    return 200, {"metadata": about, "spec": {"providerID": "aws:///a/i-1", **(spec or {})}}


def patched(api: ApiServer) -> Any:
    (call,) = api.made("PATCH")
    assert call.headers["Content-Type"] == "application/merge-patch+json"
    return call.body


# ---- nodes -------------------------------------------------------------------------------------


def test_a_node_is_marked_in_one_write_guarded_by_its_version(api: ApiServer, cluster: RetiringCluster) -> None:
    other: Json = {"key": "a", "value": "b", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}
    api.on("GET", NODE, node(spec={"taints": [other]}, labels={"x": "1"}))
    api.on("PATCH", NODE, (200, {}))
    cluster.mark_node("n-1", DISRUPTED, {EXCLUDED: "true"})
    ours = {"key": "karpenter.sh/disrupted", "value": "", "effect": "NoSchedule"}
    assert patched(api) == {
        "metadata": {"resourceVersion": "7", "labels": {EXCLUDED: "true"}},
        "spec": {"taints": [other, ours]},
    }


def test_a_node_that_is_marked_is_not_written(api: ApiServer, cluster: RetiringCluster) -> None:
    taint: Json = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
    api.on("GET", NODE, node(spec={"taints": [taint]}, labels={EXCLUDED: "true"}))
    cluster.mark_node("n-1", DISRUPTED, {EXCLUDED: "true"})
    assert api.made("PATCH") == []


def test_a_mark_is_taken_off_whole_and_nothing_else(api: ApiServer, cluster: RetiringCluster) -> None:
    ours: Json = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
    other: Json = {"key": "a", "effect": "NoSchedule"}
    api.on("GET", NODE, node(spec={"taints": [ours, other]}, labels={EXCLUDED: "true", "x": "1"}))
    api.on("PATCH", NODE, (200, {}))
    cluster.unmark_node("n-1", DISRUPTED, (EXCLUDED,))
    assert patched(api) == {
        "metadata": {"resourceVersion": "7", "labels": {EXCLUDED: None}},
        "spec": {"taints": [other]},
    }


def test_nothing_is_taken_off_a_node_without_a_mark_or_that_is_gone(api: ApiServer, cluster: RetiringCluster) -> None:
    cluster.unmark_node("n-1", DISRUPTED, (EXCLUDED,))
    api.on("GET", NODE, node())
    cluster.unmark_node("n-1", DISRUPTED, (EXCLUDED,))
    assert api.made("PATCH") == []


def test_a_node_is_deleted_by_its_uid_and_let_go(api: ApiServer, cluster: RetiringCluster) -> None:
    api.on("DELETE", NODE, (200, {}))
    api.on("GET", NODE, node(finalizers=["a/b", OURS], deletionTimestamp="2026-01-01T00:00:00Z"))
    api.on("PATCH", NODE, (200, {}))
    cluster.delete_node("n-1", "u-1")
    (call,) = api.made("DELETE")
    assert call.body == {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": "u-1"}}
    assert patched(api) == {"metadata": {"resourceVersion": "7", "finalizers": ["a/b"]}}


def test_our_finalizer_was_the_last(api: ApiServer, cluster: RetiringCluster) -> None:
    api.on("DELETE", NODE, (200, {}))
    api.on("GET", NODE, node(finalizers=[OURS]))
    api.on("PATCH", NODE, (200, {}))
    cluster.delete_node("n-1", "u-1")
    assert patched(api)["metadata"]["finalizers"] is None


def test_a_node_that_is_gone_is_as_good_as_deleted(cluster: RetiringCluster) -> None:
    cluster.delete_node("n-1", "u-1")


def test_another_node_of_the_same_name_is_left_alone(api: ApiServer, cluster: RetiringCluster) -> None:
    api.on("DELETE", NODE, failure(409, "Precondition failed: UID in precondition: u-1, UID in object meta: u-2"))
    api.on("GET", NODE, node(uid="u-2", finalizers=[OURS]))
    cluster.delete_node("n-1", "u-1")
    assert api.made("PATCH") == []


def test_a_node_is_known_by_its_instance_not_by_its_name(api: ApiServer, cluster: RetiringCluster) -> None:
    assert cluster.node_of("i-1", "n-1") is None
    api.on("GET", NODE, node())
    found = cluster.node_of("i-1", "n-1")
    assert found is not None
    assert (found.name, found.uid) == ("n-1", "u-1")
    assert cluster.node_of("i-2", "n-1") is None


def test_a_node_that_was_never_registered_is_looked_for_among_ours(api: ApiServer, cluster: RetiringCluster) -> None:
    api.on("GET", "/api/v1/nodes", page(node(name="n-0")[1] | {"spec": {}}, node()[1]))  # type: ignore[operator]
    found = cluster.node_of("i-1", "")
    assert found is not None
    assert found.name == "n-1"
    assert api.calls[0].query["labelSelector"] == "karpenter.sh/nodepool"


def test_what_is_no_node_came_from_something_in_between(api: ApiServer, cluster: RetiringCluster) -> None:
    api.on("GET", NODE, (200, b"<html>"))
    with pytest.raises(UnavailableError, match="no Kubernetes object"):
        cluster.node_of("i-1", "n-1")


# ---- pods --------------------------------------------------------------------------------------


def test_pods_of_one_node_are_asked_for_as_they_are_now(api: ApiServer, cluster: RetiringCluster) -> None:
    api.on("GET", "/api/v1/pods", page(pod(metadata={"name": "a"}, nodeName="n-1")))
    assert [p.key.name for p in cluster.pods_on("n-1")] == ["a"]
    query = api.calls[0].query
    assert query["fieldSelector"] == "spec.nodeName=n-1,status.phase!=Succeeded,status.phase!=Failed"
    assert "resourceVersion" not in query


def test_a_pod_is_evicted_by_its_uid(api: ApiServer, cluster: RetiringCluster) -> None:
    api.on("POST", EVICTION, (201, {}))
    assert cluster.evict(KEY, "u").answer == "evicted"
    assert api.made("POST")[0].body == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "web-0", "namespace": "shop"},
        "deleteOptions": {"preconditions": {"uid": "u"}},
    }


SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
BUDGET = "Cannot evict pod as it would violate the pod's disruption budget."


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (429, BUDGET),
        (429, "too many requests, please try again later"),
        (500, SEVERAL),
        (409, "Operation cannot be fulfilled on poddisruptionbudgets"),
    ],
)
def test_a_refusal_means_later_and_says_why(
    api: ApiServer, cluster: RetiringCluster, status: int, message: str
) -> None:
    api.on("POST", EVICTION, failure(status, message))
    eviction = cluster.evict(KEY, "u")
    assert eviction.answer == "later"
    assert message in eviction.why


@pytest.mark.parametrize(
    "answer",
    [
        failure(404, 'pods "web-0" not found'),
        failure(409, "the UID in the precondition (u) does not match the UID in record (v)"),
    ],
)
def test_a_pod_that_is_gone_or_another_by_now_is_gone(api: ApiServer, cluster: RetiringCluster, answer: Answer) -> None:
    api.on("POST", EVICTION, answer)
    assert cluster.evict(KEY, "u").answer == "gone"


@pytest.mark.parametrize(("status", "error"), [(500, UnavailableError), (503, UnavailableError), (403, RefusedError)])
def test_other_failures_of_an_eviction_are_no_answer(
    api: ApiServer, cluster: RetiringCluster, status: int, error: type[Exception]
) -> None:
    api.on("POST", EVICTION, failure(status, "etcdserver: request timed out"))
    with pytest.raises(error):
        cluster.evict(KEY, "u")


def test_a_pod_is_deleted_by_its_uid_with_the_grace_that_is_left(api: ApiServer, cluster: RetiringCluster) -> None:
    api.on("DELETE", POD, (200, {}), failure(404, "gone"), failure(409, "Precondition failed: UID"))
    for _ in range(3):
        cluster.delete_pod(KEY, "u", 7)
    assert api.made("DELETE")[0].body == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 7,
        "preconditions": {"uid": "u"},
    }


# ---- budgets and volumes -----------------------------------------------------------------------


def test_all_budgets_are_read(api: ApiServer, cluster: RetiringCluster) -> None:
    raw: Json = {"metadata": {"name": "b", "namespace": "shop"}, "spec": {"selector": {}}, "status": {}}
    api.on("GET", "/apis/policy/v1/poddisruptionbudgets", page(raw, token="more"), page(raw))
    assert [each.name for each in cluster.disruption_budgets()] == ["b", "b"]


def test_volumes_attached_to_a_node_are_named(api: ApiServer, cluster: RetiringCluster) -> None:
    def attachment(name: str, node_name: str, volume: str | None) -> Json:
        source: Json = {"persistentVolumeName": volume} if volume else {"inlineVolumeSpec": {}}
        return {"metadata": {"name": name}, "spec": {"nodeName": node_name, "source": source, "attacher": "ebs"}}

    found = [attachment("x", "n-1", "pv-2"), attachment("y", "n-2", "pv-3"), attachment("csi-z", "n-1", None)]
    api.on("GET", "/apis/storage.k8s.io/v1/volumeattachments", page(*found))
    assert cluster.attached_volumes("n-1") == ("csi-z", "pv-2")
