import base64
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from nodewright.adapters import kubernetes_api
from nodewright.adapters.kubernetes import KubernetesClusters
from nodewright.application.errors import (
    ConflictError,
    NotFoundError,
    OutsideError,
    RefusedError,
    UnavailableError,
)
from nodewright.application.ports import Cluster
from nodewright.domain.buffer_status import BufferStatus
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.pods import Owner, PodKey
from nodewright.domain.storage import Storage, VolumeAttachment
from nodewright.domain.taints import Taint
from tests.adapters.api_server import Answer, ApiServer, Call, failure, group, page
from tests.adapters.manifests.raw import Json, node_class, node_overlay, node_pool, node_template, pod, provisioner

PODS = "/api/v1/pods"
NODE = "/api/v1/nodes/n-1"
EVENTS = "/apis/events.k8s.io/v1/namespaces/shop/events"
NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
UNREGISTERED = Taint("karpenter.sh/unregistered", "", "NoExecute")


@pytest.fixture
def api() -> Iterator[ApiServer]:
    with ApiServer() as server:
        yield server


@pytest.fixture
def cluster(api: ApiServer) -> Cluster:
    return opened(api.url)


def connected(endpoint: str, certificate_authority: str = "") -> ConnectedCluster:
    return ConnectedCluster("mine", endpoint, certificate_authority, "1.37", "10.100.0.0/16", "10.100.0.10")


def opened(endpoint: str, certificate_authority: str = "") -> Cluster:
    return KubernetesClusters(lambda name: f"token-of-{name}").open(connected(endpoint, certificate_authority))


def named(name: str) -> Json:
    return pod(metadata={"name": name})


def serve_lists(api: ApiServer) -> None:
    """An API server with one object of each kind."""
    api.on("GET", PODS, page(named("a")))
    api.on("GET", "/api/v1/nodes", page({"metadata": {"name": "n-1"}}))
    template: Json = {"spec": {"containers": []}}
    api.on("GET", "/apis/apps/v1/daemonsets", page({"metadata": {"name": "agent"}, "spec": {"template": template}}))
    api.on("GET", "/api/v1/limitranges", page())
    api.on("GET", "/apis/karpenter.sh", group("v1", "v1beta1"))
    api.on("GET", "/apis/karpenter.sh/v1/nodepools", page(node_pool()))
    api.on("GET", "/apis/karpenter.k8s.aws", group("v1", "v1beta1"))
    api.on("GET", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses", page(node_class()))


# ---- lists -----------------------------------------------------------------------------------


def test_a_list_is_read_page_by_page_to_its_end(api: ApiServer, cluster: Cluster) -> None:
    api.on("GET", PODS, page(named("a"), token="second"), page(named("b"), token="third"), page(named("c")))
    assert [p.key.name for p in cluster.pending_pods()] == ["a", "b", "c"]
    assert [call.query.get("continue") for call in api.calls] == [None, "second", "third"]
    assert {call.query["fieldSelector"] for call in api.calls} == {"spec.nodeName=,status.phase=Pending"}


def test_lists_are_asked_for_the_present_not_for_a_cache(api: ApiServer, cluster: Cluster) -> None:
    api.on("GET", PODS, page())
    cluster.pending_pods()
    assert "resourceVersion" not in api.calls[0].query


def test_a_list_that_expires_on_its_way_starts_again(api: ApiServer, cluster: Cluster) -> None:
    api.on(
        "GET", PODS, page(named("a"), token="second"), failure(410, "expired"), page(named("a")), page(named("never"))
    )
    assert [p.key.name for p in cluster.pending_pods()] == ["a"]
    assert [call.query.get("continue") for call in api.calls] == [None, "second", None]


def test_a_list_that_always_expires_is_unavailable(api: ApiServer, cluster: Cluster) -> None:
    api.on("GET", PODS, failure(410, "the continue token is too old"))
    with pytest.raises(UnavailableError, match="too old"):
        cluster.pending_pods()
    assert len(api.calls) == 3


def test_pools_alone_are_read_without_nodes_and_pods(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    assert [pool.name for pool in cluster.node_pools()] == ["default"]
    assert not [call for call in api.calls if not call.path.startswith("/apis/karpenter")]


def test_a_cluster_is_read_in_one_go(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    state = cluster.read()
    assert [p.key.name for p in state.pods] == ["a"]
    assert [n.name for n in state.nodes] == ["n-1"]
    assert [d.key.name for d in state.daemon_sets] == ["agent"]
    assert [p.name for p in state.pools] == ["default"]
    assert [c.name for c in state.node_classes] == ["default"]
    assert state.warnings == ()


def test_pods_that_have_finished_are_not_asked_for(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    cluster.read()
    assert api.calls[0].query["fieldSelector"] == "status.phase!=Succeeded,status.phase!=Failed"


def test_custom_resources_are_read_at_the_preferred_version_and_found_once(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    cluster.read()
    cluster.read()
    paths = [call.path for call in api.calls]
    assert paths.count("/apis/karpenter.sh") == 1
    assert paths.count("/apis/karpenter.sh/v1/nodepools") == 2


def test_a_group_whose_preferred_version_is_another_kind_s_is_searched(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    api.on("GET", "/apis/karpenter.sh/v1/nodepools", failure(404, "not found"))
    api.on("GET", "/apis/karpenter.sh/v1beta1/nodepools", page(node_pool(version="v1beta1")))
    assert [p.name for p in cluster.read().pools] == ["default"]


def test_a_version_that_goes_away_is_found_anew(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    cluster.read()
    api.on("GET", "/apis/karpenter.sh", group("v2"))
    api.on("GET", "/apis/karpenter.sh/v1/nodepools", failure(404, "gone"))
    api.on("GET", "/apis/karpenter.sh/v2/nodepools", page(node_pool(metadata={"name": "new"})))
    assert [p.name for p in cluster.read().pools] == ["new"]


def test_pools_and_classes_of_the_oldest_generation_are_read_too(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    api.on("GET", "/apis/karpenter.sh/v1alpha5/provisioners", page(provisioner(metadata={"name": "old"})))
    api.on("GET", "/apis/karpenter.k8s.aws/v1alpha1/awsnodetemplates", page(node_template(metadata={"name": "old"})))
    state = cluster.read()
    assert list(map(str, state.pools)) == ["NodePool/default", "Provisioner/old"]
    assert list(map(str, state.node_classes)) == ["EC2NodeClass/default", "AWSNodeTemplate/old"]
    assert state.warnings == ()


def test_node_overlays_are_read_where_the_cluster_has_them(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    sound = node_overlay(priceAdjustment="-10%")
    broken = node_overlay(metadata={"name": "broken"}, price="free")
    api.on("GET", "/apis/karpenter.sh/v1alpha1/nodeoverlays", page(sound, broken))
    state = cluster.read()
    assert list(map(str, state.overlays)) == ["NodeOverlay/default"]
    assert [(w.object, w.path) for w in state.warnings] == [("NodeOverlay/broken", "spec.price")]


def test_whether_the_alpha_kinds_are_there_takes_one_call_each(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    cluster.read()
    cluster.read()
    paths = [call.path for call in api.calls if "alpha" in call.path]
    each = [
        "/apis/karpenter.sh/v1alpha5/provisioners",
        "/apis/karpenter.k8s.aws/v1alpha1/awsnodetemplates",
        "/apis/karpenter.sh/v1alpha1/nodeoverlays",
    ]
    assert paths == each * 2


def test_a_cluster_without_our_kinds_has_no_pools_and_a_warning(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    api.on("GET", "/apis/karpenter.sh", failure(404, "not found"))
    state = cluster.read()
    assert state.pools == ()
    (warning,) = state.warnings
    assert warning.object == "NodePool"
    assert "nodewright connect mine" in warning.message


def test_warnings_of_manifests_come_with_the_state(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    api.on("GET", "/apis/karpenter.sh/v1/nodepools", page(node_pool(wieght=3)))
    assert [w.path for w in cluster.read().warnings] == ["spec.wieght"]


# ---- what pods need besides nodes ------------------------------------------------------------

CLAIMS = "/api/v1/persistentvolumeclaims"
VOLUMES = "/api/v1/persistentvolumes"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
CSI_NODES = "/apis/storage.k8s.io/v1/csinodes"
ATTACHMENTS = "/apis/storage.k8s.io/v1/volumeattachments"
NAMESPACES = "/api/v1/namespaces"


def serve_storage(api: ApiServer) -> None:
    """A pod with a claim, and one object of each kind that matters for it."""
    serve_lists(api)
    api.on("GET", PODS, page(pod(volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}])))
    api.on("GET", CLAIMS, page({"metadata": {"name": "data", "namespace": "shop"}, "spec": {"volumeName": "v"}}))
    api.on("GET", VOLUMES, page({"metadata": {"name": "v"}, "spec": {}}))
    api.on("GET", CLASSES, page({"metadata": {"name": "fast"}, "provisioner": "ebs.csi.aws.com"}))
    drivers = [{"name": "ebs.csi.aws.com", "allocatable": {"count": 25}}]
    api.on("GET", CSI_NODES, page({"metadata": {"name": "n-1"}, "spec": {"drivers": drivers}}))
    source = {"persistentVolumeName": "v"}
    attachment = {"attacher": "ebs.csi.aws.com", "nodeName": "n-1", "source": source}
    api.on("GET", ATTACHMENTS, page({"metadata": {"name": "csi-1"}, "spec": attachment}))


def selecting(selector: Json | None) -> Json:
    """A pod that keeps away from pods of namespaces selected so."""
    term: Json = {"topologyKey": "zone", "labelSelector": {}, "namespaceSelector": selector}
    return pod(affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


def test_volumes_are_read_after_the_pods_that_have_some(api: ApiServer, cluster: Cluster) -> None:
    serve_storage(api)
    storage = cluster.read().storage
    assert [str(claim) for claim in storage.claims or ()] == ["shop/data"]
    assert [volume.name for volume in storage.volumes or ()] == ["v"]
    assert [each.name for each in storage.classes or ()] == ["fast"]
    assert storage.attachable == {"n-1": {"ebs.csi.aws.com": 25}}
    assert storage.attachments == (VolumeAttachment("n-1", "ebs.csi.aws.com", "v"),)
    assert api.calls[0].path == PODS


def test_without_pods_that_have_volumes_or_select_namespaces_neither_is_asked_for(
    api: ApiServer, cluster: Cluster
) -> None:
    serve_lists(api)
    api.on("GET", PODS, page(named("a"), selecting(None), selecting({})))
    state = cluster.read()
    assert (state.storage, state.namespaces) == (Storage(), {})
    assert not {CLAIMS, VOLUMES, CLASSES, CSI_NODES, ATTACHMENTS, NAMESPACES} & {call.path for call in api.calls}


def test_namespaces_come_with_their_labels_where_a_rule_selects_by_them(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    api.on("GET", PODS, page(selecting({"matchLabels": {"team": "a"}})))
    api.on("GET", NAMESPACES, page({"metadata": {"name": "shop", "labels": {"team": "a"}}}))
    assert cluster.read().namespaces == {"shop": {"team": "a"}}


def test_limit_ranges_say_what_daemon_sets_request(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    template = {"spec": {"containers": [{"name": "a"}]}}
    agent = {"metadata": {"name": "agent", "namespace": "shop"}, "spec": {"template": template}}
    api.on("GET", "/apis/apps/v1/daemonsets", page(agent))
    limit = {"type": "Container", "defaultRequest": {"cpu": "250m"}}
    api.on("GET", "/api/v1/limitranges", page({"metadata": {"namespace": "shop"}, "spec": {"limits": [limit]}}))
    assert cluster.read().daemon_sets[0].requests.get("cpu") == 250


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (CLAIMS, "PersistentVolumeClaim"),
        (VOLUMES, "PersistentVolume"),
        (CLASSES, "StorageClass"),
        (CSI_NODES, "CSINode"),
        (ATTACHMENTS, "VolumeAttachment"),
        ("/api/v1/limitranges", "LimitRange"),
    ],
)
def test_a_kind_that_an_older_role_does_not_grant_is_a_warning(
    api: ApiServer, cluster: Cluster, path: str, kind: str
) -> None:
    serve_storage(api)
    api.on("GET", path, failure(403, "forbidden"))
    state = cluster.read()
    assert [p.key.name for p in state.pods] == ["web-1"]
    (warning,) = state.warnings
    assert warning.object == kind
    assert "may not be listed; run `nodewright connect mine` again" in warning.message
    assert (state.storage.claims is None) == (path == CLAIMS)


def test_namespaces_that_may_not_be_listed_are_unknown(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    api.on("GET", PODS, page(selecting({"matchLabels": {"team": "a"}})))
    api.on("GET", NAMESPACES, failure(403, "forbidden"))
    state = cluster.read()
    assert state.namespaces is None
    assert [warning.object for warning in state.warnings] == ["Namespace"]


def test_what_can_not_be_listed_for_another_reason_is_a_failure(api: ApiServer, cluster: Cluster) -> None:
    serve_storage(api)
    api.on("GET", VOLUMES, failure(500, "etcd"))
    with pytest.raises(UnavailableError, match="etcd"):
        cluster.read()


# ---- failures --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "error", "says"),
    [
        (failure(401, "Unauthorized"), RefusedError, "nodewright doctor mine"),
        (failure(403, "pods is forbidden"), RefusedError, "pods is forbidden.*nodewright doctor mine"),
        (failure(404, "no such thing"), NotFoundError, "no such thing"),
        (failure(409, "changed"), ConflictError, "changed"),
        (failure(422, "invalid"), RefusedError, "invalid"),
        (failure(429, "slow down"), UnavailableError, "slow down"),
        (failure(500, "etcd leader changed"), UnavailableError, "etcd leader changed"),
        ((503, b"<html>no upstream</html>"), UnavailableError, "no upstream"),
        ((200, b"<html>sign in</html>"), UnavailableError, "no Kubernetes object"),
    ],
)
def test_failures_become_ours_and_name_cluster_and_call(
    api: ApiServer, cluster: Cluster, answer: Answer, error: type[OutsideError], says: str
) -> None:
    api.on("GET", PODS, answer)
    with pytest.raises(error, match=f"mine: GET {PODS}.*{says}"):
        cluster.pending_pods()


def test_a_cluster_that_refuses_connections_is_unavailable() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(UnavailableError, match=r"mine: http.* doesn't answer"):
            opened(endpoint).pending_pods()


def test_a_cluster_that_never_answers_is_unavailable(
    api: ApiServer, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kubernetes_api, "READ_SECONDS", 0.05)
    over = threading.Event()

    def hang(_: Call) -> Answer:
        over.wait(10)
        return page()

    api.ask("GET", PODS, hang)
    with pytest.raises(UnavailableError, match="timed out"):
        cluster.pending_pods()
    over.set()


def test_an_unreadable_certificate_authority_says_how_to_mend_it() -> None:
    with pytest.raises(RefusedError, match=r"mine: .*nodewright connect mine"):
        opened("https://127.0.0.1:1", "not base64!")


def test_a_certificate_authority_that_is_no_certificate_is_no_crash(api: ApiServer) -> None:
    endpoint = api.url.replace("http://", "https://")
    with pytest.raises(OutsideError, match="mine: "):
        opened(endpoint, base64.b64encode(b"-----nothing-----").decode()).pending_pods()


def test_each_call_carries_the_cluster_s_token(api: ApiServer, cluster: Cluster) -> None:
    api.on("GET", PODS, page())
    cluster.pending_pods()
    assert api.calls[0].headers["Authorization"] == "Bearer token-of-mine"


# ---- nodes -----------------------------------------------------------------------------------


def node(
    version: str = "7", labels: Json | None = None, taints: list[Json] | None = None, **metadata: object
) -> Answer:
    metadata |= {"name": "n-1", "resourceVersion": version, "labels": labels or {}}
    return 200, {"metadata": metadata, "spec": {"taints": taints} if taints else {}}


def test_a_node_is_registered_in_one_write_guarded_by_its_version(api: ApiServer, cluster: Cluster) -> None:
    other: Json = {"key": "a", "value": "b", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}
    unregistered: Json = {"key": UNREGISTERED.key, "effect": "NoExecute"}
    api.on("GET", NODE, node("7", {"x": "1"}, [unregistered, other]))
    api.on("PATCH", NODE, (200, {}))
    cluster.register_node("n-1", {"x": "1", "karpenter.sh/registered": "true"}, (UNREGISTERED,))
    (call,) = api.made("PATCH")
    assert call.headers["Content-Type"] == "application/merge-patch+json"
    assert call.body == {
        "metadata": {
            "resourceVersion": "7",
            "labels": {"karpenter.sh/registered": "true"},
            "finalizers": ["karpenter.sh/termination"],
        },
        "spec": {"taints": [other]},
    }


@pytest.mark.parametrize(("name", "sent"), [("n-1", "n-1"), ("", None)])
def test_a_pod_is_nominated_in_one_write_guarded_by_its_uid(
    api: ApiServer, cluster: Cluster, name: str, sent: str | None
) -> None:
    api.on("PATCH", "/api/v1/namespaces/shop/pods/web-0/status", (200, {}))
    cluster.nominate(PodKey("shop", "web-0"), "u-1", name)
    (call,) = api.made("PATCH")
    assert call.headers["Content-Type"] == "application/merge-patch+json"
    assert call.body == {"metadata": {"uid": "u-1"}, "status": {"nominatedNodeName": sent}}


@pytest.mark.parametrize(
    "says",
    [
        'metadata.uid: Invalid value: "u": field is immutable',
        "status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node",
    ],
)
def test_a_pod_that_is_another_or_bound_by_now_is_a_conflict_and_no_refusal(
    api: ApiServer, cluster: Cluster, says: str
) -> None:
    path = "/api/v1/namespaces/shop/pods/web-0/status"
    api.on("PATCH", path, failure(422, f'Pod "web-0" is invalid: {says}'))
    with pytest.raises(ConflictError):
        cluster.nominate(PodKey("shop", "web-0"), "u", "n-1")
    api.on("PATCH", path, failure(403, "forbidden"))
    with pytest.raises(RefusedError):
        cluster.nominate(PodKey("shop", "web-0"), "u", "n-1")


def test_taints_are_not_touched_where_none_is_to_go(api: ApiServer, cluster: Cluster) -> None:
    api.on("GET", NODE, node(taints=[{"key": "a", "effect": "NoSchedule"}]))
    api.on("PATCH", NODE, (200, {}))
    cluster.register_node("n-1", {"x": "1"}, (UNREGISTERED,))
    assert "spec" not in api.made("PATCH")[0].body


def test_a_node_that_is_as_it_should_be_is_not_written(api: ApiServer, cluster: Cluster) -> None:
    api.on("GET", NODE, node(labels={"x": "1"}, finalizers=["karpenter.sh/termination"]))
    cluster.register_node("n-1", {"x": "1"}, (UNREGISTERED,))
    assert api.made("PATCH") == []


def test_finalizers_of_others_stay_and_a_node_that_is_being_deleted_takes_none(
    api: ApiServer, cluster: Cluster
) -> None:
    going = "2026-01-01T00:00:00Z"
    api.on("GET", NODE, node(finalizers=["a/b"]), node(labels={"x": "1"}, deletionTimestamp=going))
    api.on("PATCH", NODE, (200, {}))
    cluster.register_node("n-1", {}, ())
    cluster.register_node("n-1", {"x": "1"}, ())
    assert [call.body["metadata"]["finalizers"] for call in api.made("PATCH")] == [["a/b", "karpenter.sh/termination"]]


def test_on_conflict_the_node_is_read_again(api: ApiServer, cluster: Cluster) -> None:
    api.on("GET", NODE, node("7"), node("8"))
    api.on("PATCH", NODE, failure(409, "changed"), (200, {}))
    cluster.register_node("n-1", {"x": "1"}, ())
    assert [call.body["metadata"]["resourceVersion"] for call in api.made("PATCH")] == ["7", "8"]


def test_a_node_that_always_changes_first_is_a_conflict(api: ApiServer, cluster: Cluster) -> None:
    api.on("GET", NODE, node())
    api.on("PATCH", NODE, failure(409, "changed"))
    with pytest.raises(ConflictError):
        cluster.register_node("n-1", {"x": "1"}, ())
    assert len(api.made("PATCH")) == 5


def test_a_node_that_is_gone_is_not_found(cluster: Cluster) -> None:
    with pytest.raises(NotFoundError):
        cluster.register_node("n-1", {"x": "1"}, ())


# ---- events ----------------------------------------------------------------------------------


def say(cluster: Cluster, message: str = "no room", name: str = "web-1") -> None:
    cluster.record_event(PodKey("shop", name), "u-1", "FailedScheduling", message, NOW)


def test_an_event_is_said_on_the_pod_by_our_controller(api: ApiServer, cluster: Cluster) -> None:
    api.on("POST", EVENTS, (201, {}))
    say(cluster)
    body = api.calls[0].body
    assert body["reportingController"] == "nodewright.dev/provisioner"
    assert (body["reason"], body["note"], body["type"]) == ("FailedScheduling", "no room", "Warning")
    assert body["regarding"] == {"apiVersion": "v1", "kind": "Pod", "namespace": "shop", "name": "web-1", "uid": "u-1"}
    assert body["eventTime"] == "2026-01-02T03:04:05.000678Z"
    assert body["metadata"]["name"].startswith("web-1.")


def test_the_same_news_is_the_same_event_and_other_news_another(api: ApiServer, cluster: Cluster) -> None:
    api.on("POST", EVENTS, (201, {}))
    say(cluster)
    say(cluster)
    say(cluster, "no pool")
    names = [call.body["metadata"]["name"] for call in api.calls]
    assert names[0] == names[1] != names[2]


@pytest.mark.parametrize(("series", "count"), [({}, 2), ({"series": {"count": 4}}, 5)])
def test_news_repeated_counts_up(api: ApiServer, cluster: Cluster, series: Json, count: int) -> None:
    api.on("POST", EVENTS, failure(409, "exists"))
    answer_to_any_event(api, (200, series))
    say(cluster)
    (patch,) = api.made("PATCH")
    assert patch.body == {"series": {"count": count, "lastObservedTime": "2026-01-02T03:04:05.000678Z"}}


def test_an_event_that_expired_in_between_is_made_anew(api: ApiServer, cluster: Cluster) -> None:
    api.on("POST", EVENTS, failure(409, "exists"), (201, {}))
    say(cluster)
    assert [call.method for call in api.calls] == ["POST", "GET", "POST"]


def test_a_long_message_and_a_long_name_are_cut_to_what_the_api_takes(api: ApiServer, cluster: Cluster) -> None:
    pod_name = "a" * 229 + "." + "b" * 20
    api.on("POST", EVENTS, (201, {}))
    say(cluster, "한" * 500, pod_name)
    body = api.calls[0].body
    assert len(body["note"].encode()) <= 1024
    assert len(body["metadata"]["name"]) <= 253
    assert ".." not in body["metadata"]["name"]


def answer_to_any_event(api: ApiServer, answer: Answer) -> None:
    """GET and PATCH of the event, whose name only the adapter knows."""
    post = api.answer

    def learn(call: Call) -> Answer:
        if call.method == "POST":
            path = f"{EVENTS}/{call.body['metadata']['name']}"
            api.on("GET", path, answer)
            api.on("PATCH", path, (200, {}))
        return post(call)

    api.answer = learn  # type: ignore[method-assign]


# ---- opening ---------------------------------------------------------------------------------


def test_a_client_is_kept_while_access_is_the_same() -> None:
    clusters = KubernetesClusters(lambda _: "token")
    first = clusters.open(connected("http://127.0.0.1:1"))
    assert clusters.open(connected("http://127.0.0.1:1")) is first
    assert clusters.open(connected("http://127.0.0.1:2")) is not first


def test_opening_makes_no_call() -> None:
    def never(name: str) -> str:
        raise AssertionError(name)

    KubernetesClusters(never).open(connected("http://127.0.0.1:1"))


# ---- objects looked up one by one --------------------------------------------------------------


def test_a_controller_is_looked_up_by_its_name_alone(api: ApiServer, cluster: Cluster) -> None:
    path = "/apis/apps/v1/namespaces/shop/replicasets/web"
    api.on("GET", path, (200, {"metadata": {"name": "web", "namespace": "shop", "uid": "u"}, "spec": {"replicas": 9}}))
    workload = cluster.workload("shop", Owner("ReplicaSet", "web", "u"))
    assert workload is not None
    assert (workload.wanted, str(workload)) == (9, "ReplicaSet/shop/web")
    assert [call.path for call in api.calls] == [path]


def test_jobs_and_stateful_sets_are_looked_up_where_they_are(api: ApiServer, cluster: Cluster) -> None:
    found = (200, {"metadata": {"name": "a", "namespace": "shop", "uid": "u"}})
    api.on("GET", "/apis/batch/v1/namespaces/shop/jobs/a", found)
    api.on("GET", "/apis/apps/v1/namespaces/shop/statefulsets/a", found)
    for kind in ("Job", "StatefulSet"):
        workload = cluster.workload("shop", Owner(kind, "a", "u"))
        assert workload is not None
        assert workload.owner.kind == kind


def test_a_controller_of_another_kind_is_not_asked(api: ApiServer, cluster: Cluster) -> None:
    assert cluster.workload("shop", Owner("RayCluster", "web", "u")) is None
    assert api.calls == []


def test_a_controller_that_is_gone_or_may_not_be_read_says_so(api: ApiServer, cluster: Cluster) -> None:
    with pytest.raises(NotFoundError):
        cluster.workload("shop", Owner("ReplicaSet", "web", "u"))
    api.on("GET", "/apis/apps/v1/namespaces/shop/replicasets/web", failure(403, "may not"))
    with pytest.raises(RefusedError, match="nodewright doctor mine"):
        cluster.workload("shop", Owner("ReplicaSet", "web", "u"))


BUFFERS = "/apis/autoscaling.x-k8s.io/v1beta1/capacitybuffers"


def capacity_buffer(name: str, **spec: object) -> Json:
    return {"metadata": {"name": name, "namespace": "shop"}, "spec": {"replicas": 2, **spec}}


def serve_buffers(api: ApiServer, *buffers: Json) -> None:
    serve_lists(api)
    api.on("GET", "/apis/autoscaling.x-k8s.io", group("v1beta1", "v1alpha1"))
    api.on("GET", BUFFERS, page(*buffers))


def test_a_cluster_without_capacity_buffers_is_asked_for_the_group_alone(api: ApiServer, cluster: Cluster) -> None:
    serve_lists(api)
    state = cluster.read()
    assert (state.buffers, state.warnings) == ((), ())
    assert [call.path for call in api.calls if "autoscaling" in call.path] == ["/apis/autoscaling.x-k8s.io"]


def test_capacity_buffers_are_read_with_what_they_refer_to_each_once(api: ApiServer, cluster: Cluster) -> None:
    by_template = {"podTemplateRef": {"name": "unit"}}
    by_workload = {"scalableRef": {"apiGroup": "apps", "kind": "Deployment", "name": "web"}, "percentage": 50}
    serve_buffers(
        api,
        capacity_buffer("a", **by_template),
        capacity_buffer("b", **by_template),
        capacity_buffer("c", **by_workload),
    )
    template: Json = {"spec": {"containers": [{"name": "c"}]}}
    unit, web = "/api/v1/namespaces/shop/podtemplates/unit", "/apis/apps/v1/namespaces/shop/deployments/web"
    api.on("GET", unit, (200, {"metadata": {"name": "unit"}, "template": template}))
    api.on("GET", web, (200, {"metadata": {"name": "web"}, "spec": {"replicas": 7, "template": template}}))
    api.on("GET", "/api/v1/limitranges", page(LIMITS))
    state = cluster.read()
    assert state.warnings == ()
    assert [(buffer.key.name, buffer.units) for buffer in state.buffers] == [("a", 2), ("b", 2), ("c", 4)]
    assert {buffer.template.requests.get("cpu") for buffer in state.buffers} == {300}
    assert [call.path for call in api.calls].count(unit) == 1


LIMITS: Json = {
    "metadata": {"name": "l", "namespace": "shop"},
    "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "300m"}}]},
}


def test_volumes_of_a_buffers_template_are_looked_up_like_those_of_pods(api: ApiServer, cluster: Cluster) -> None:
    serve_buffers(api, capacity_buffer("a", podTemplateRef={"name": "unit"}))
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    template = {"spec": {"containers": [{"name": "c"}], "volumes": volumes}}
    api.on(
        "GET", "/api/v1/namespaces/shop/podtemplates/unit", (200, {"metadata": {"name": "unit"}, "template": template})
    )
    for kind in ("persistentvolumeclaims", "persistentvolumes"):
        api.on("GET", f"/api/v1/{kind}", page())
    for kind in ("storageclasses", "csinodes", "volumeattachments"):
        api.on("GET", f"/apis/storage.k8s.io/v1/{kind}", page())
    cluster.read()
    assert "/api/v1/persistentvolumeclaims" in [call.path for call in api.calls]


def test_classes_that_a_buffers_template_names_are_looked_up(api: ApiServer, cluster: Cluster) -> None:
    serve_buffers(api, capacity_buffer("a", podTemplateRef={"name": "unit"}))
    named_classes = {"priorityClassName": "high", "runtimeClassName": "gvisor"}
    template = {"spec": {"containers": [{"name": "c"}], **named_classes}}
    unit: Json = {"metadata": {"name": "unit"}, "template": template}
    runtime: Json = {"metadata": {"name": "gvisor"}, "overhead": {"podFixed": {"cpu": "250m"}}}
    api.on("GET", "/api/v1/namespaces/shop/podtemplates/unit", (200, unit))
    high: Json = {"metadata": {"name": "high"}, "value": 1000}
    api.on("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/high", (200, high))
    api.on("GET", "/apis/node.k8s.io/v1/runtimeclasses/gvisor", (200, runtime))
    (buffer,) = cluster.read().buffers
    assert (buffer.template.priority, buffer.template.requests.get("cpu")) == (1000, 250)


def test_a_buffers_status_is_patched_at_the_version_it_was_read(api: ApiServer, cluster: Cluster) -> None:
    serve_buffers(api, capacity_buffer("a", podTemplateRef={"name": "none"}))
    path = "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/shop/capacitybuffers/a/status"
    api.on("PATCH", path, (200, {}), failure(409, "changed"))
    cluster.read()
    cluster.tell_buffer(PodKey("shop", "a"), "12", BufferStatus(replicas=2))
    (patched,) = api.made("PATCH")
    told = patched.body
    assert (told["metadata"], told["status"]["replicas"]) == ({"resourceVersion": "12"}, 2)
    with pytest.raises(ConflictError):
        cluster.tell_buffer(PodKey("shop", "a"), "12", BufferStatus(replicas=2))


@pytest.mark.parametrize(
    ("status", "error", "said"),
    [
        (403, RefusedError, "run `nodewright connect mine` again to grant it"),
        (404, NotFoundError, "gone by now; else its CRD serves no status"),
        (422, RefusedError, "422 status.replicas: Invalid value"),
        (503, UnavailableError, "503 status.replicas: Invalid value"),
    ],
)
def test_a_buffers_status_that_isnt_taken_says_what_it_takes(
    status: int, error: type[Exception], said: str, api: ApiServer, cluster: Cluster
) -> None:
    serve_buffers(api, capacity_buffer("a", podTemplateRef={"name": "none"}))
    path = "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/shop/capacitybuffers/a/status"
    api.on("PATCH", path, failure(status, "status.replicas: Invalid value"))
    cluster.read()
    with pytest.raises(error, match=r"status\.replicas: Invalid value") as raised:
        cluster.tell_buffer(PodKey("shop", "a"), "12", BufferStatus(replicas=2))
    assert said in str(raised.value)
    assert ("nodewright" in str(raised.value)) == (status == 403)


def test_buffers_that_may_not_be_listed_are_a_warning_with_the_fix(api: ApiServer, cluster: Cluster) -> None:
    serve_buffers(api)
    api.on("GET", BUFFERS, failure(403, "may not"))
    state = cluster.read()
    assert state.buffers == ()
    (warning,) = state.warnings
    assert warning.object == "CapacityBuffer"
    assert "run `nodewright connect mine` again to grant it" in warning.message


def test_what_a_buffer_refers_to_and_cant_be_read_now_is_no_answer(api: ApiServer, cluster: Cluster) -> None:
    serve_buffers(api, capacity_buffer("a", podTemplateRef={"name": "unit"}))
    api.on("GET", "/api/v1/namespaces/shop/podtemplates/unit", failure(503, "later"))
    with pytest.raises(UnavailableError):
        cluster.read()
