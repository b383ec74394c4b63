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
def path(scene: Scene) -> str:
    """Where the cluster's webhooks go. They are switched off now: whoever posts there is alone."""
    path = scene.webhook_path()
    scene.world.webhooks.off()
    return path


@pytest.fixture
def post(scene: Scene) -> Post:
    """A POST to the API, trusting what its webhook configuration trusts."""
    trust = ssl.create_default_context(cadata=scene.world.control_plane.ca_pem.decode())

    def send(path: str, body: bytes) -> tuple[int, Any]:
        with urllib3.PoolManager(ssl_context=trust, retries=False) as pool:
            answer = pool.request("POST", f"{scene.world.lambdas.api_url}{path}", body=body)
            return answer.status, json.loads(answer.data)

    return send


def test_a_call_with_the_clusters_token_becomes_a_hint(scene: Scene, post: Post, path: str) -> None:
    sent = scene.hints_by("notify")
    assert post(path, review("right")) == (200, allowed("right"))
    assert scene.hints_by("notify") == sent + 1
    scene.eventually(lambda: scene.reports("provision"), "the hint to be carried out")
    assert scene.failures() == []


@pytest.mark.parametrize("guessed", [f"/v1/clusters/{CLUSTER}/guessed", "/v1/clusters/nobodys/guessed"])
@pytest.mark.usefixtures("path")
def test_strangers_are_answered_allowed_and_wake_nobody(scene: Scene, post: Post, guessed: str) -> None:
    sent = scene.hints_by("notify")
    assert post(guessed, review("stranger")) == (200, allowed("stranger"))
    assert [each["what"] for each in scene.problems("notify")] == ["webhook-token"]
    assert scene.hints_by("notify") == sent


@pytest.mark.parametrize("body", [b"", b"{", b'"review"', b'{"request": {}}', b"\xff\xfe", b"[" * 100_000])
def test_what_has_no_uid_is_a_bad_request(scene: Scene, post: Post, path: str, body: bytes) -> None:
    sent = scene.hints_by("notify")
    status, answer = post(path, body)
    assert status == 400
    assert "request.uid" in answer["message"] or "uid" in answer["message"]
    assert scene.hints_by("notify") == sent


def test_three_megabytes_are_answered_like_any_review(scene: Scene, post: Post, path: str) -> None:
    body = review("large", object={"note": "x" * 3_000_000})
    assert post(path, body) == (200, allowed("large"))
    scene.eventually(lambda: scene.reports("provision"), "the hint to be carried out")


def test_dry_runs_are_admitted_and_change_nothing(scene: Scene) -> None:
    scene.apply(node_class(), node_pool(family("m7i"), AMD64, ON_DEMAND))
    scene.eventually(lambda: scene.runs("notify") == scene.ended("notify"), "what was applied to be answered")
    sent, asked = scene.hints_by("notify"), scene.runs("notify")

    def asked_again() -> bool:
        """The API server waits for an answer no longer than we let it, and a busy machine may need more."""
        scene.kubernetes.request("POST", "/apis/events.k8s.io/v1/namespaces/default/events", event("web"), DRY_RUN)
        return scene.runs("notify") > asked

    scene.kubernetes.request("POST", "/api/v1/namespaces/default/pods", pod("web"), DRY_RUN)
    scene.eventually(asked_again, "the webhook to be called")

    scene.eventually(lambda: scene.runs("notify") == scene.ended("notify"), "it to be answered")
    assert scene.hints_by("notify") == sent
    assert scene.pods() == scene.instances() == []


def test_pods_whose_webhook_was_lost_are_found_by_the_minutes_sweep(scene: Scene) -> None:
    scene.world.webhooks.off()
    called = scene.runs("notify")
    scene.apply(node_class(), node_pool(family("m7i"), AMD64, ON_DEMAND), pod("web"))
    scene.eventually(lambda: age(scene.pods()[0]) > MISSED_AFTER, "the pod to be overdue")
    # The minute may be over just now: it is nobody else's doing.
    assert scene.instances() == [] or scene.runs("tick")

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
