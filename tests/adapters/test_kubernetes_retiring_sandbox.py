"""What only a real API server can tell of retiring: budgets, evictions, preconditions, finalizers, rights."""

import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from nodewright.adapters.clock import SystemClock
from nodewright.adapters.kubernetes import KubernetesClusters
from nodewright.adapters.manifests.rbac import RECONCILE_GROUP, RETIRE_GROUP, rbac
from nodewright.adapters.memory import (
    InMemoryFleet,
    InMemoryLedger,
    InMemoryRetireQueue,
    RecordedHints,
    RecordingObserver,
    VirtualClock,
)
from nodewright.application.errors import RefusedError
from nodewright.application.ports import Instance
from nodewright.application.retire import Outcome, Retire
from nodewright.application.retirement_ports import RetiringCluster
from nodewright.domain.claims import ClaimState, LaunchRecord
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.draining import objections
from nodewright.domain.pods import PodKey
from nodewright.domain.retirement import DISRUPTED, EXCLUDED, Step
from nodewright.domain.retiring import begin
from sandbox.controlplane import Client, ControlPlane
from sandbox.controlplane.client import NotFoundError, Object, wait_until
from sandbox.controlplane.components import KWOK_ANNOTATION
from tests.builders import claim

pytestmark = pytest.mark.sandbox

GROUPS = {"retire": [RETIRE_GROUP], "reconcile": [RECONCILE_GROUP]}
WEB = {"app": "web"}
STACK = "nodewright-test"


def verify(token: str) -> tuple[str, list[str]] | None:
    return (token, GROUPS[token]) if token in GROUPS else None


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(verify=verify) as running:
        running.client.apply(*map(dict, rbac()))
        running.checkpoint()
        yield running


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[Client]:
    yield plane.client
    plane.reset()


def connected(plane: ControlPlane) -> ConnectedCluster:
    return ConnectedCluster("mine", plane.url, base64.b64encode(plane.ca_pem).decode(), "1.37", "", "")


def opened(plane: ControlPlane, function: str = "retire") -> RetiringCluster:
    return KubernetesClusters(lambda _: function).open(connected(plane))


def node(name: str) -> Object:
    size = {"cpu": "4", "memory": "8Gi", "pods": "20"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"name": name}, "annotations": {KWOK_ANNOTATION: "fake"}},
        "spec": {"providerID": f"aws:///a/i-{name}"},
        "status": {"capacity": size, "allocatable": size},
    }


def deployment(replicas: int) -> Object:
    container = {"name": "web", "image": "web", "resources": {"requests": {"cpu": "100m"}}}
    pod = {"metadata": {"labels": WEB}, "spec": {"containers": [container], "terminationGracePeriodSeconds": 1}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": WEB}, "template": pod},
    }


def budget(min_available: int, name: str = "web") -> Object:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"minAvailable": min_available, "selector": {"matchLabels": WEB}},
    }


def serving(cluster: RetiringCluster, name: str, count: int) -> bool:
    return sum(pod.ready for pod in cluster.pods_on(name)) == count


def allowed(cluster: RetiringCluster, number: int) -> bool:
    return [each.disruptions_allowed for each in cluster.disruption_budgets()] == [number]


def test_a_budget_says_later_until_there_is_room_and_a_pod_is_evicted_once(plane: ControlPlane, client: Client) -> None:
    cluster = opened(plane)
    client.apply(node("n-1"), deployment(2), budget(2))
    wait_until(lambda: serving(cluster, "n-1", 2), "two ready pods")
    wait_until(lambda: bool(cluster.disruption_budgets()), "the budget")
    first, second = cluster.pods_on("n-1")
    assert (first.termination_grace_seconds, first.critical, first.is_daemon) == (1, False, False)
    eviction = cluster.evict(first.key, first.uid)
    assert eviction.answer == "later"
    assert "disruption budget" in eviction.why
    assert len(objections((first, second), cluster.disruption_budgets(), datetime.now(UTC))) == 2  # noqa: TID251
    client.apply(budget(1))
    wait_until(lambda: allowed(cluster, 1), "room in the budget")
    assert cluster.evict(first.key, first.uid).answer == "evicted"
    wait_until(lambda: first.key not in {pod.key for pod in cluster.pods_on("n-1")}, "the pod to go")
    assert cluster.evict(first.key, first.uid).answer == "gone"
    wait_until(lambda: allowed(cluster, 1), "room in the budget again")
    assert cluster.evict(second.key, "another").answer == "gone"
    assert second.key in {pod.key for pod in cluster.pods_on("n-1")}


def test_two_budgets_over_one_pod_say_later_for_ever(plane: ControlPlane, client: Client) -> None:
    cluster = opened(plane)
    client.apply(node("n-1"), deployment(1), budget(0), budget(0, "second"))
    wait_until(lambda: serving(cluster, "n-1", 1), "a ready pod")
    (pod,) = cluster.pods_on("n-1")
    eviction = cluster.evict(pod.key, pod.uid)
    assert eviction.answer == "later"
    assert "more than one PodDisruptionBudget" in eviction.why


def test_a_pod_is_deleted_whatever_a_budget_says(plane: ControlPlane, client: Client) -> None:
    cluster = opened(plane)
    client.apply(node("n-1"), deployment(1), budget(1))
    wait_until(lambda: serving(cluster, "n-1", 1), "a ready pod")
    (pod,) = cluster.pods_on("n-1")
    cluster.delete_pod(pod.key, "another", 0)
    assert cluster.pods_on("n-1")[0].uid == pod.uid
    cluster.delete_pod(pod.key, pod.uid, 0)
    wait_until(lambda: pod.uid not in {each.uid for each in cluster.pods_on("n-1")}, "the pod to go")
    cluster.delete_pod(pod.key, pod.uid, 0)


def test_a_mark_goes_on_and_off_whole(plane: ControlPlane, client: Client) -> None:
    client.apply(node("n-1"))
    cluster = opened(plane)
    for _ in range(2):
        cluster.mark_node("n-1", DISRUPTED, {EXCLUDED: "true"})
    stored = client.get("v1", "Node", "n-1")
    assert stored["metadata"]["labels"][EXCLUDED] == "true"
    assert [t["effect"] for t in stored["spec"]["taints"] if t["key"] == DISRUPTED.key] == ["NoSchedule"]
    cluster.unmark_node("n-1", DISRUPTED, (EXCLUDED,))
    stored = client.get("v1", "Node", "n-1")
    assert EXCLUDED not in stored["metadata"]["labels"]
    assert DISRUPTED.key not in {t["key"] for t in stored["spec"].get("taints", ())}


def test_a_registered_node_waits_for_us_and_is_then_let_go(plane: ControlPlane, client: Client) -> None:
    client.create(node("n-1"))
    reconcile, retire = opened(plane, "reconcile"), opened(plane)
    reconcile.register_node("n-1", {"karpenter.sh/registered": "true"}, ())
    client.delete("v1", "Node", "n-1")
    found = retire.node_of("i-n-1", "n-1")
    assert found is not None
    assert found.terminating
    reconcile.register_node("n-1", {"x": "y"}, ())
    retire.mark_node("n-1", DISRUPTED, {EXCLUDED: "true"})
    retire.delete_node("n-1", "another")
    assert retire.node_of("i-n-1", "n-1") is not None
    retire.delete_node("n-1", found.uid)
    with pytest.raises(NotFoundError):
        client.get("v1", "Node", "n-1")
    assert retire.node_of("i-n-1", "n-1") is None


def test_attached_volumes_are_those_of_the_node(plane: ControlPlane, client: Client) -> None:
    def attachment(name: str, on: str) -> Object:
        return {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "VolumeAttachment",
            "metadata": {"name": name},
            "spec": {"attacher": "ebs.csi.aws.com", "nodeName": on, "source": {"persistentVolumeName": f"pv-{name}"}},
        }

    client.apply(attachment("a", "n-1"), attachment("b", "n-2"))
    assert opened(plane).attached_volumes("n-1") == ("pv-a",)


def test_only_retire_may_empty_nodes(plane: ControlPlane, client: Client) -> None:
    client.create(node("n-1"))
    reconcile = opened(plane, "reconcile")
    for forbidden in (
        lambda: reconcile.evict(PodKey("default", "p"), "u"),
        lambda: reconcile.delete_pod(PodKey("default", "p"), "u", 0),
        lambda: reconcile.delete_node("n-1", "u"),
    ):
        with pytest.raises(RefusedError, match="nodewright doctor mine"):
            forbidden()


def test_a_node_is_retired_under_a_budget_and_its_pods_run_elsewhere(plane: ControlPlane, client: Client) -> None:
    """The use case on a real cluster: both pods move one after the other, never is there none."""
    cluster = opened(plane)
    client.apply(node("n-1"), deployment(2), budget(1))
    wait_until(lambda: serving(cluster, "n-1", 2), "two ready pods")
    client.create(node("n-2"))
    opened(plane, "reconcile").register_node("n-1", {}, ())
    wait_until(lambda: allowed(cluster, 1), "room in the budget")
    outcomes = retired(plane)
    assert outcomes[-1] == "gone"
    assert client.find("v1", "Node", "n-1") is None
    wait_until(lambda: serving(cluster, "n-2", 2), "both pods on the other node")


def retired(plane: ControlPlane) -> list[Outcome]:
    """Every turn of one retirement of n-1, each as soon as it is due."""
    clock, ledger = SystemClock(), InMemoryLedger()
    fleet = InMemoryFleet(VirtualClock(clock.now()), STACK)
    queue = InMemoryRetireQueue(VirtualClock(clock.now()))
    made = claim("c", instance_id="i-n-1", node_name="n-1", state=ClaimState.INITIALIZED)
    ledger.put_cluster(connected(plane))
    ledger.reserve("mine", 0, LaunchRecord("l", (), "", clock.now(), clock.now()), [made])
    tags = {"nodewright.dev/stack": STACK}
    fleet.instances["i-n-1"] = Instance("i-n-1", "x.s", "a", "spot", "running", "ami", clock.now(), tags)
    wanted = begin(made, "spot-interruption", clock.now(), deadline=clock.now() + timedelta(minutes=2))
    assert wanted is not None
    (stored,) = ledger.start_retirements("mine", [wanted], None)
    use = Retire(
        ledger,
        KubernetesClusters(lambda _: "retire"),
        fleet,
        queue,
        RecordedHints(),
        RecordingObserver(),
        clock,
        timedelta(seconds=30),
    )
    assert stored.retirement is not None
    assert stored.retirement.step is Step.TAINT
    outcomes = [use("mine", "c", stored.retirement.epoch)]
    while outcomes[-1] == "waits":
        after = ledger.claim("mine", "c").retirement
        assert after is not None
        clock.sleep(after.next_at - clock.now())
        outcomes.append(use("mine", "c", after.epoch))
    assert fleet.instances["i-n-1"].state == "terminated"
    return outcomes
