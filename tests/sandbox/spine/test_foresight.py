"""Nodes for pods that aren't there yet, bought by the deployed functions with the rights they have."""

import pytest

from tests.adapters.manifests.buffer_crd import buffer_crd
from tests.sandbox.spine.manifests import AMD64, ON_DEMAND, Manifest, family, node_class, node_pool, pod
from tests.sandbox.spine.scene import Scene

pytestmark = pytest.mark.sandbox

LARGE = (family("m7i"), AMD64, ON_DEMAND, {"key": "karpenter.k8s.aws/instance-cpu", "operator": "In", "values": ["2"]})
#: Kubernetes' own controller leaves it alone, so the test can be as slow as it likes.
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: sums, namespace: default}
spec:
  parallelism: 3
  completions: 3
  managedBy: example.com/slow
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: c, resources: {requests: {cpu: 1500m}}}]}
"""


def of_job(scene: Scene, name: str) -> Manifest:
    uid = scene.kubernetes.get("batch/v1", "Job", "sums")["metadata"]["uid"]
    made = pod(name, cpu="1500m")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "sums", "uid": uid, "controller": True}
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [owner]}}


def test_the_first_pod_of_a_slow_job_brings_nodes_for_all(scene: Scene) -> None:
    scene.apply(node_class(), node_pool(*LARGE, disruption={"consolidateAfter": "Never"}), JOB)
    scene.apply(of_job(scene, "sums-a"))
    claims = scene.initialized(3)
    assert sorted(len(claim.nominated_pods) for claim in claims) == [0, 0, 1]
    assert sorted(len(claim.expected_pods) for claim in claims) == [0, 1, 1]
    scene.apply(of_job(scene, "sums-b"), of_job(scene, "sums-c"))

    def bound() -> bool:
        """Pods of Jobs end as soon as they run here."""
        return sum(bool(each["spec"].get("nodeName")) for each in scene.pods()) == 3

    scene.eventually(bound, "the pods to find the nodes that are there")
    assert {claim.id for claim in scene.claims()} == {claim.id for claim in claims}


def test_a_pool_with_headroom_has_a_node_before_any_pod_comes(scene: Scene) -> None:
    keeping = node_pool(*LARGE)
    keeping["metadata"]["annotations"] = {"nodewright.dev/headroom": "cpu=1500m,pods=1"}
    scene.apply(node_class(), keeping)
    (claim,) = scene.initialized(1)
    assert (claim.nominated_pods, len(claim.headroom)) == ((), 1)
    scene.apply(pod("web", cpu="1500m"))
    (web,) = scene.running(1)
    assert web["spec"]["nodeName"] == claim.node_name


BUFFER = """
apiVersion: v1
kind: PodTemplate
metadata: {name: unit, namespace: default}
template:
  spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 1500m}}}]}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: spare, namespace: default}
spec: {podTemplateRef: {name: unit}, replicas: 1}
"""


def test_a_capacity_buffer_has_its_node_and_says_so(scene: Scene) -> None:
    scene.apply(buffer_crd())
    scene.apply(node_class(), node_pool(*LARGE), BUFFER)
    scene.eventually(lambda: said(scene) == ("Resolved", "RequiresNewCapacity", "Told"), "the buffer to be told")
    (claim,) = scene.initialized(1)
    assert len(claim.headroom) == 1
    scene.eventually(lambda: said(scene) == ("Resolved", "FitsExistingCapacity", "Told"), "the buffer to have its room")
    assert scene.failures() == []


def said(scene: Scene) -> tuple[str, ...]:
    """Reasons of the conditions, in the order in which they are there."""
    buffer = scene.kubernetes.get("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "spare")
    return tuple(each["reason"] for each in buffer.get("status", {}).get("conditions", ()))
