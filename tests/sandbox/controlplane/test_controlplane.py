import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.controlplane import Client, ControlPlane
from sandbox.controlplane.client import ConflictError, NotFoundError, Object, wait_until
from sandbox.controlplane.components import KWOK_ANNOTATION
from sandbox.controlplane.inventory import inventory
from sandbox.controlplane.nudging import ANNOTATION, PATIENCE_SECONDS, Nudger
from sandbox.controlplane.processes import ProcessError

pytestmark = pytest.mark.sandbox

CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.test.nodewright.dev}
spec:
  group: test.nodewright.dev
  names: {kind: Gadget, plural: gadgets}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: test.nodewright.dev/v1
kind: Gadget
metadata: {name: held, finalizers: [test.nodewright.dev/never]}
spec: {size: 1}
"""


def verify(token: str) -> tuple[str, list[str]] | None:
    return ("arn:aws:iam::123456789012:role/provision", ["nodewright"]) if token == "k8s-aws-v1.good" else None


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(verify=verify) as running:
        yield running


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[Client]:
    yield plane.client
    plane.reset()


def deployment(name: str = "web", replicas: int = 3, cpu: str = "1", kind: str = "Deployment") -> Object:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    spec: Object = {"selector": {"matchLabels": {"app": name}}, "template": template}
    if kind == "Deployment":
        spec["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def node(name: str = "n1", *, kept_alive: bool = True) -> Object:
    room = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "annotations": {KWOK_ANNOTATION: "fake"} if kept_alive else {}},
        "status": {"capacity": room, "allocatable": room},
    }


def running(client: Client, count: int) -> list[Object]:
    pods = client.objects("v1", "Pod", "default", fields="status.phase=Running")
    return pods if len(pods) == count else []


def is_ready(client: Client, name: str) -> bool:
    return condition(client.get("v1", "Node", name), "Ready") == "True"


def condition(found: Object, kind: str) -> str:
    return next((each["status"] for each in found["status"].get("conditions", ()) if each["type"] == kind), "")


def taints(client: Client, name: str) -> set[str]:
    return {taint["key"] for taint in client.get("v1", "Node", name)["spec"].get("taints", ())}


def pod_that_waits(client: Client) -> str:
    """Bound to n1 as it is made, and not running a second later."""
    pod = {"containers": [{"name": "main", "image": "app"}], "nodeName": "n1"}
    made = client.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "bound-"}, "spec": pod})
    name = str(made["metadata"]["name"])
    time.sleep(1)
    return name if client.get("v1", "Pod", name)["status"]["phase"] == "Pending" else ""


def failed_scheduling(client: Client, prefix: str) -> list[Object]:
    events = client.objects("events.k8s.io/v1", "Event", "default", fields="reason=FailedScheduling")
    return [event for event in events if event["regarding"]["name"].startswith(prefix)]


def marked_pods(client: Client, prefix: str) -> set[str]:
    return {event["regarding"]["name"] for event in failed_scheduling(client, prefix)}


def lasting(client: Client) -> set[tuple[str, str, str, str]]:
    """All objects but bookkeeping and events: controllers still report on what has just been deleted."""
    there = [item for item in inventory(client) if not item.is_bookkeeping and item.resource.kind != "Event"]
    return {(item.resource.kind, item.namespace, item.name, item.uid) for item in there}


def as_user(plane: ControlPlane, token: str) -> Client:
    return Client(plane.url, ssl.create_default_context(cadata=plane.ca_pem.decode()), token)


def test_the_release_is_the_one_that_was_asked_for(plane: ControlPlane) -> None:
    assert plane.version == "v1.37.2"


def test_kubectl_works_with_the_kubeconfig(plane: ControlPlane) -> None:
    files = [str(plane.kubectl), "--kubeconfig", str(plane.kubeconfig)]
    command = [*files, "get", "namespace", "default", "--output", "name"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "namespace/default\n"


def test_pods_wait_with_an_event_until_there_is_a_node(client: Client) -> None:
    client.apply(deployment())
    wait_until(lambda: len(marked_pods(client, "web-")) == 3, "3 pods with an event")
    notes = {event["note"] for event in failed_scheduling(client, "web-")}
    assert notes == {"no nodes available to schedule pods"}
    assert {pod["status"]["phase"] for pod in client.objects("v1", "Pod", "default")} == {"Pending"}

    client.create(node())

    pods = wait_until(lambda: running(client, 3), "3 running pods")
    assert {pod["spec"]["nodeName"] for pod in pods} == {"n1"}
    assert {condition(pod, "Ready") for pod in pods} == {"True"}
    assert all(pod["status"]["containerStatuses"][0]["state"]["running"] for pod in pods)


def test_daemon_set_pods_run_on_each_node(client: Client) -> None:
    client.apply(deployment("agent", kind="DaemonSet"))
    for name in ("n1", "n2"):
        client.create(node(name))

    pods = wait_until(lambda: running(client, 2), "2 running pods")
    assert {pod["spec"]["nodeName"] for pod in pods} == {"n1", "n2"}


def test_a_node_becomes_ready_only_when_it_is_given_to_kwok(client: Client) -> None:
    client.create(node(kept_alive=False))
    # The other node shows that KWOK has seen both.
    client.create(node("n2"))

    wait_until(lambda: is_ready(client, "n2"), "n2 to be ready")

    assert not is_ready(client, "n1")


def test_a_node_that_falls_silent_is_noticed(plane: ControlPlane, client: Client) -> None:
    client.create(node())
    wait_until(lambda: is_ready(client, "n1"), "n1 to be ready")
    # The node lifecycle controller looks every second: it knows the node's lease by now.
    time.sleep(3)

    plane.silence("n1")

    wait_until(lambda: condition(client.get("v1", "Node", "n1"), "Ready") == "Unknown", "n1 to be unknown")
    # Another worker of the controller's taints the node, once it has seen the condition.
    wait_until(lambda: "node.kubernetes.io/unreachable" in taints(client, "n1"), "n1 to be tainted")


def test_a_bound_pod_that_nothing_starts_is_nudged(client: Client) -> None:
    """KWOK overlooks one by a race that can't be staged; this node it isn't told of."""
    client.create(node(kept_alive=False))
    waiting = pod_that_waits(client)

    def is_nudged() -> bool:
        return ANNOTATION in client.get("v1", "Pod", waiting)["metadata"].get("annotations", {})

    wait_until(is_nudged, f"{waiting} to be nudged")


def test_a_pod_that_runs_is_left_alone(client: Client) -> None:
    """The plane's own nudger may have helped it on a busy machine; another one finds nothing to do, however late."""
    client.create(node())
    wait_until(lambda: is_ready(client, "n1"), "n1 to be ready")
    client.apply(deployment(replicas=1))
    (pod,) = wait_until(lambda: running(client, 1), "a running pod")
    nudger = Nudger(client)

    nudger.look(0)
    nudger.look(10 * PATIENCE_SECONDS)

    (looked_at,) = running(client, 1)
    assert looked_at["metadata"].get("annotations") == pod["metadata"].get("annotations")


def test_a_thousand_pods_reach_the_scheduler(client: Client) -> None:
    client.apply(deployment("crowd", replicas=1000))

    # Not by events: the scheduler's recorder drops some when a thousand come at once on a busy machine.
    def unschedulable() -> bool:
        pods = client.objects("v1", "Pod", "default")
        return len(pods) == 1000 and all(condition(pod, "PodScheduled") == "False" for pod in pods)

    assert wait_until(unschedulable, "1,000 pods found unschedulable", seconds=600, pause=1.0)
    assert wait_until(lambda: failed_scheduling(client, "crowd-"), "an event on one of them")


def test_a_token_is_whoever_the_webhook_says(plane: ControlPlane) -> None:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    with as_user(plane, "k8s-aws-v1.good") as user:
        answer = user.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body)

    assert answer["status"]["userInfo"]["username"] == "arn:aws:iam::123456789012:role/provision"
    assert "nodewright" in answer["status"]["userInfo"]["groups"]


def test_a_token_s_user_may_do_only_what_rbac_grants(plane: ControlPlane) -> None:
    with as_user(plane, "k8s-aws-v1.good") as user, pytest.raises(Exception, match="403 Forbidden: pods is forbidden"):
        user.objects("v1", "Pod")


def test_an_unknown_token_is_refused(plane: ControlPlane) -> None:
    with as_user(plane, "k8s-aws-v1.bad") as user, pytest.raises(Exception, match="401 Unauthorized"):
        user.version()


def test_apply_takes_documents_that_need_each_other(client: Client) -> None:
    client.apply(CRD)
    assert client.get("test.nodewright.dev/v1", "Gadget", "held")["spec"] == {"size": 1}

    # The same again changes nothing; a second owner's field is taken over.
    client.apply(CRD.replace("size: 1", "size: 2"))
    assert client.get("test.nodewright.dev/v1", "Gadget", "held")["spec"] == {"size": 2}


def test_refusals_say_what_was_called_and_why(client: Client) -> None:
    client.create(node())
    with pytest.raises(ConflictError, match=r'POST /api/v1/nodes: 409 AlreadyExists: nodes "n1" already exists'):
        client.create(node())
    with pytest.raises(NotFoundError, match='nodes "n2" not found'):
        client.get("v1", "Node", "n2")
    with pytest.raises(NotFoundError, match="the cluster serves no Nod in v1"):
        client.objects("v1", "Nod")


def test_a_watch_tells_what_is_there_and_what_changes(client: Client) -> None:
    settings: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "1"}}
    client.apply(settings)
    events = client.watch("v1", "ConfigMap", "default", fields="metadata.name=a")
    assert next(events)[0] == "ADDED"

    client.patch("v1", "ConfigMap", "a", {"data": {"x": "2"}})
    kind, changed = next(events)
    assert (kind, changed["data"]) == ("MODIFIED", {"x": "2"})

    client.delete("v1", "ConfigMap", "a")
    assert next(events)[0] == "DELETED"
    events.close()


def test_reset_leaves_nothing(plane: ControlPlane) -> None:
    client = plane.client
    before = lasting(client)
    client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}, CRD, WEBHOOK, deployment())
    client.apply(deployment("elsewhere"), namespace="other")
    held = node()
    held["metadata"]["finalizers"] = ["karpenter.sh/termination"]
    client.create(held)
    wait_until(lambda: running(client, 3), "running pods")
    made = lasting(client) - before
    assert {"Namespace", "Gadget", "Deployment", "Pod", "Node"} <= {kind for kind, *_ in made}

    plane.reset()

    # By uid: a controller that is late may still make something for an owner that is gone, to be collected with it.
    left = lasting(client)
    assert left >= before
    assert left & made == set()


def test_reset_returns_to_the_last_checkpoint(plane: ControlPlane) -> None:
    client = plane.client
    kept = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}}
    client.apply(kept)
    plane.checkpoint()
    client.apply({**kept, "metadata": {"name": "gone"}})

    plane.reset()

    assert client.find("v1", "ConfigMap", "kept") is not None
    assert client.find("v1", "ConfigMap", "gone") is None
    client.delete("v1", "ConfigMap", "kept")


def test_a_start_that_fails_shows_the_log_and_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assets = tmp_path / "assets"
    assets.mkdir()
    (assets / "etcd").write_text("#!/bin/sh\necho no space left on device\nexit 1\n")
    (assets / "etcd").chmod(0o755)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    broken = ControlPlane(folder=tmp_path / "plane")

    with pytest.raises(ProcessError, match=r"(?s)etcd ended with code 1.*no space left on device"):
        broken.start()

    assert broken.pids() == {}


def test_a_second_control_plane_runs_beside_the_first(plane: ControlPlane) -> None:
    with ControlPlane() as second:
        assert second.url != plane.url
        assert second.client.objects("v1", "Node") == []


WEBHOOK: Object = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingWebhookConfiguration",
    "metadata": {"name": "dead"},
    "webhooks": [
        {
            "name": "dead.nodewright.dev",
            # Nobody listens there, and every deletion asks it.
            "clientConfig": {"url": "https://127.0.0.1:1/"},
            "rules": [{"operations": ["DELETE"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}],
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
    ],
}
