"""What the webhook's door lets in, and what finds pods whose webhook never came."""

import json
import ssl
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
import urllib3

from nodewright.application.reconcile import MISSED_AFTER
from sandbox.world.world import CLUSTER
from tests.sandbox.spine.manifests import AMD64, ON_DEMAND, Manifest, family, node_class, node_pool, pod
from tests.sandbox.spine.scene import Scene, now

pytestmark = pytest.mark.sandbox

#: Method, path, body → status and decoded body.
Post = Callable[[str, bytes], tuple[int, Any]]

DRY_RUN = {"dryRun": "All"}


@pytest.fixture
def post(scene: Scene) -> Post:
    """A POST to the API, trusting what its webhook configuration trusts."""
    trust = ssl.create_default_context(cadata=scene.world.control_plane.ca_pem.decode())

    def send(path: str, body: bytes) -> tuple[int, Any]:
        with urllib3.PoolManager(ssl_context=trust, retries=False) as pool:
            answer = pool.request("POST", f"{scene.world.lambdas.api_url}{path}", body=body)
            return answer.status, json.loads(answer.data)

    return send


def test_a_call_with_the_clusters_token_becomes_a_hint(scene: Scene, post: Post) -> None:
    assert post(scene.webhook_path(), review("right")) == (200, allowed("right"))
    scene.eventually(lambda: scene.reports("provision"), "the hint to be carried out")
    assert scene.problems() == []


@pytest.mark.parametrize("path", [f"/v1/clusters/{CLUSTER}/guessed", "/v1/clusters/nobodys/guessed"])
def test_strangers_are_answered_allowed_and_wake_nobody(scene: Scene, post: Post, path: str) -> None:
    assert post(path, review("stranger")) == (200, allowed("stranger"))
    (problem,) = scene.problems()
    assert problem["what"] == "webhook-token"
    assert scene.world.aws.calls.count("sqs", "SendMessage") == 0


@pytest.mark.parametrize("body", [b"", b"{", b'"review"', b'{"request": {}}', b"\xff\xfe", b"[" * 100_000])
def test_what_has_no_uid_is_a_bad_request(scene: Scene, post: Post, body: bytes) -> None:
    status, answer = post(scene.webhook_path(), body)
    assert status == 400
    assert "request.uid" in answer["message"] or "uid" in answer["message"]
    assert scene.world.aws.calls.count("sqs", "SendMessage") == 0


def test_three_megabytes_are_answered_like_any_review(scene: Scene, post: Post) -> None:
    body = review("large", object={"note": "x" * 3_000_000})
    assert post(scene.webhook_path(), body) == (200, allowed("large"))
    scene.eventually(lambda: scene.reports("provision"), "the hint to be carried out")


def test_dry_runs_are_admitted_and_change_nothing(scene: Scene) -> None:
    scene.apply(node_class(), node_pool(family("m7i"), AMD64, ON_DEMAND))
    scene.quiet()
    sent = scene.world.aws.calls.count("sqs", "SendMessage")

    scene.kubernetes.request("POST", "/api/v1/namespaces/default/pods", pod("web"), DRY_RUN)
    asked = scene.runs("notify")
    scene.kubernetes.request("POST", "/apis/events.k8s.io/v1/namespaces/default/events", event("web"), DRY_RUN)

    assert scene.runs("notify") == asked + 1
    assert scene.world.aws.calls.count("sqs", "SendMessage") == sent
    assert scene.pods() == scene.instances() == []


def test_pods_whose_webhook_was_lost_are_found_by_the_minutes_sweep(scene: Scene) -> None:
    scene.world.webhooks.off()
    called = scene.runs("notify")
    scene.apply(node_class(), node_pool(family("m7i"), AMD64, ON_DEMAND), pod("web"))
    scene.eventually(lambda: age(scene.pods()[0]) > MISSED_AFTER, "the pod to be overdue")
    assert scene.instances() == []

    scene.fire("Tick")

    scene.running(1)
    assert scene.runs("notify") == called


def review(uid: str, **request: object) -> bytes:
    resource = {"group": "events.k8s.io", "version": "v1", "resource": "events"}
    body = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {"uid": uid, "resource": resource, **request},
    }
    return json.dumps(body).encode()


def allowed(uid: str) -> Manifest:
    response = {"uid": uid, "allowed": True}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


def event(name: str) -> Manifest:
    """As the scheduler writes it about a pod that fits nowhere."""
    return {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.1"},
        "eventTime": f"{now():%Y-%m-%dT%H:%M:%S.%fZ}",
        "reportingController": "default-scheduler",
        "reportingInstance": "default-scheduler-1",
        "action": "Scheduling",
        "type": "Warning",
        "reason": "FailedScheduling",
        "regarding": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": name},
        "note": "0/0 nodes are available",
    }


def age(pod: Manifest) -> Any:
    return now() - datetime.fromisoformat(pod["metadata"]["creationTimestamp"])
