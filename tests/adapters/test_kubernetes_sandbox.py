"""What only a real API server can tell: that it takes what we install and write, and calls us when it should."""

import base64
import json
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import groupby
from pathlib import Path
from typing import Self

import pytest

from nodewright.adapters.kubernetes import KubernetesClusters
from nodewright.adapters.manifests.configuration import Configuration, read_configuration
from nodewright.adapters.manifests.crds import crds
from nodewright.adapters.manifests.rbac import rbac
from nodewright.adapters.manifests.v1.conversion import convert
from nodewright.adapters.manifests.webhooks import webhook_configuration
from nodewright.adapters.memory import RecordingObserver
from nodewright.application.buffer_telling import tell_buffers
from nodewright.application.errors import ConflictError, NotFoundError, RefusedError
from nodewright.application.ports import Cluster
from nodewright.domain.buffer_status import UnitRoom
from nodewright.domain.clusters import ConnectedCluster
from nodewright.domain.host_ports import HostPort
from nodewright.domain.nodes import ZONE_LABEL
from nodewright.domain.pods import Attachment, Owner
from nodewright.domain.taints import Taint
from nodewright.domain.volumes import with_volumes
from sandbox.controlplane import Client, ControlPlane
from sandbox.controlplane.client import Object, wait_until
from sandbox.controlplane.components import KWOK_ANNOTATION
from sandbox.controlplane.pki import Authority
from tests.adapters.manifests.buffer_crd import buffer_crd
from tests.adapters.manifests.field_tables import TABLES
from tests.adapters.manifests.raw import SEED_TWO, node_pool, node_template, provisioner, seed_one
from tests.builders import requirements

pytestmark = pytest.mark.sandbox

GROUPS = {"provision": ["nodewright:provision"], "reconcile": ["nodewright:reconcile"]}
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def verify(token: str) -> tuple[str, list[str]] | None:
    return (token, GROUPS[token]) if token in GROUPS else None


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(verify=verify) as running:
        running.client.apply(*map(dict, rbac()), *map(dict, crds()))
        running.checkpoint()
        yield running


@pytest.fixture
def client(plane: ControlPlane) -> Iterator[Client]:
    yield plane.client
    plane.reset()


@pytest.fixture
def woken(plane: ControlPlane, tmp_path: Path) -> Iterator[list[str]]:
    """Operation and resource of each webhook call, as the API server makes them."""
    with _Webhook(plane.authority, tmp_path) as webhook:
        bundle = base64.b64encode(plane.ca_pem).decode()
        plane.client.apply(_patient(webhook_configuration("mine", webhook.url, bundle)))
        # The API server takes a moment to see it: a pool comes and goes until it calls.
        wait_until(lambda: _probe(plane.client, webhook.calls), "the webhooks to be called")
        webhook.calls.clear()
        yield webhook.calls


def opened(plane: ControlPlane, token: str, authority: Authority | None = None) -> Cluster:
    pem = authority.ca_pem if authority else plane.ca_pem
    bundle = base64.b64encode(pem).decode()
    return KubernetesClusters(lambda _: token).open(ConnectedCluster("mine", plane.url, bundle, "1.37", "", ""))


def node() -> Object:
    taints = [
        {"key": "karpenter.sh/unregistered", "effect": "NoExecute"},
        {"key": "team", "value": "a", "effect": "NoSchedule"},
    ]
    metadata = {"name": "n-1", "labels": {"karpenter.sh/nodepool": "default"}, "annotations": {KWOK_ANNOTATION: "fake"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": taints}}


def test_the_first_seed_is_read_as_it_stands_written_as_v1beta1_and_served_as_v1(
    plane: ControlPlane, client: Client
) -> None:
    client.apply(seed_one("node_pool"), seed_one("node_class"), seed_one("deployment"))
    provision = opened(plane, "provision")
    wait_until(lambda: len(provision.pending_pods()) == 1, "the pod of the deployment")
    state = provision.read()
    assert state.warnings == ()
    assert [p.name for p in state.pools] == ["karpenter-node-pool"]
    assert [c.metadata_options.http_put_response_hop_limit for c in state.node_classes] == [2]
    assert client.get("karpenter.k8s.aws/v1", "EC2NodeClass", "default")["apiVersion"] == "karpenter.k8s.aws/v1"
    (pod,) = state.pods
    assert dict(pod.requests) == {"cpu": 250, "memory": 2**29, "pods": 1}


def test_the_second_seed_is_read_as_it_stands_beside_the_first(plane: ControlPlane, client: Client) -> None:
    for file in sorted(SEED_TWO.glob("*.yaml")):
        client.apply(file.read_text())
    client.apply(seed_one("node_pool"), seed_one("node_class"))
    provision = opened(plane, "provision")
    wait_until(lambda: len(provision.pending_pods()) == 5, "the first pod of prometheus and four of my-svc")
    state = provision.read()
    assert state.warnings == ()
    assert list(map(str, state.pools)) == [
        "Provisioner/general",
        "NodePool/karpenter-node-pool",
        "Provisioner/prometheus-provisioner",
    ]
    assert list(map(str, state.node_classes)) == [
        "EC2NodeClass/default",
        "AWSNodeTemplate/general",
        "AWSNodeTemplate/prometheus-node-template",
    ]
    kept = [pod.key.name for pod in state.pods if pod.annotations.get("karpenter.sh/do-not-disrupt") == "true"]
    assert kept == ["prometheus-0"]


SURROUNDINGS = """
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: lazy}
provisioner: ebs.csi.aws.com
volumeBindingMode: WaitForFirstConsumer
allowedTopologies: [{matchLabelExpressions: [{key: topology.ebs.csi.aws.com/zone, values: [c]}]}]
---
apiVersion: v1
kind: LimitRange
metadata: {name: least, namespace: kube-node-lease}
spec: {limits: [{type: Container, default: {cpu: 300m}}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: kube-node-lease}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      hostNetwork: true
      containers: [{name: agent, image: agent, ports: [{containerPort: 9100}]}]
---
apiVersion: v1
kind: Pod
metadata: {name: db, namespace: default, labels: {app: db, tenant: x}}
spec:
  automountServiceAccountToken: false
  containers: [{name: db, image: db}]
  volumes:
    - {name: tmp, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: lazy, accessModes: [ReadWriteOnce],
       resources: {requests: {storage: 1Gi}}}}}}
  topologySpreadConstraints:
    - {topologyKey: topology.kubernetes.io/zone, maxSkew: 1, whenUnsatisfiable: DoNotSchedule,
       labelSelector: {matchLabels: {app: db}}, matchLabelKeys: [tenant]}
  affinity:
    podAntiAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        - topologyKey: kubernetes.io/hostname
          labelSelector: {matchExpressions: [{key: tenant, operator: Exists}]}
          mismatchLabelKeys: [tenant]
          namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: default}}
"""


def test_what_pods_need_besides_nodes_is_read_with_what_the_api_server_makes_of_it(
    plane: ControlPlane, client: Client
) -> None:
    client.apply(SURROUNDINGS)
    provision = opened(plane, "provision")
    wait_until(lambda: provision.read().storage.claims, "the claim of the ephemeral volume")
    state = provision.read()
    (pod,) = with_volumes(state.pods, state.storage)
    assert pod.volume_nodes == (requirements((ZONE_LABEL, "In", "c")),)
    assert pod.attachments == {Attachment("ebs.csi.aws.com", "default/db-tmp")}
    assert pod.problems == ()
    (spread,), (shunned,) = pod.spreads, pod.anti_affinity
    assert spread.selector.labels == requirements(("app", "In", "db"), ("tenant", "In", "x"))
    assert shunned.selector.labels == requirements(("tenant", "Exists"), ("tenant", "NotIn", "x"))
    assert state.namespaces is not None
    assert "default" in state.namespaces
    (agent,) = state.daemon_sets
    assert (agent.requests.get("cpu"), agent.host_ports, agent.generation) == (300, (HostPort(9100),), "1")


CONTROLLERS = """
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web, namespace: default, annotations: {nodewright.dev/look-ahead: "off"}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  replicas: 2
  serviceName: db
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: c, image: c}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: sums, namespace: default}
spec:
  parallelism: 4
  completions: 9
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: c}]}
"""
SCARCE = """
apiVersion: v1
kind: Namespace
metadata: {name: scarce}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: two, namespace: scarce}
spec: {hard: {pods: "2"}}
"""
WANTED = """
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: many, namespace: scarce}
spec:
  replicas: 5
  selector: {matchLabels: {app: many}}
  template:
    metadata: {labels: {app: many}}
    spec: {containers: [{name: c, image: c}]}
"""


def test_controllers_of_pods_that_wait_tell_provision_how_many_they_want(plane: ControlPlane, client: Client) -> None:
    client.apply(CONTROLLERS)
    provision = opened(plane, "provision")
    wait_until(lambda: len(provision.pending_pods()) == 9, "the pods of three controllers")
    owners = {pod.owner for pod in provision.pending_pods() if pod.owner is not None}
    found = [provision.workload("default", owner) for owner in sorted(owners, key=lambda owner: owner.kind)]
    assert [each.owner for each in found if each is not None] == sorted(owners, key=lambda owner: owner.kind)
    told = [(each.owner.kind, each.wanted, each.silent, each.look_ahead) for each in found if each is not None]
    assert told == [("Job", 4, "", ""), ("ReplicaSet", 3, "", "off"), ("StatefulSet", 2, "", "")]
    with pytest.raises(NotFoundError):
        provision.workload("default", Owner("ReplicaSet", "none", "u"))
    with pytest.raises(RefusedError, match="nodewright doctor mine"):
        opened(plane, "reconcile").workload("default", Owner("Job", "sums", "u"))


def test_a_controller_whose_pods_a_quota_refuses_is_expected_to_make_none(plane: ControlPlane, client: Client) -> None:
    client.apply(SCARCE)
    provision = opened(plane, "provision")
    wait_until(lambda: client.get("v1", "ResourceQuota", "two", "scarce").get("status", {}).get("hard"), "the quota")
    client.apply(WANTED)
    many = Owner("ReplicaSet", "many", "u")

    def silence() -> str:
        workload = provision.workload("scarce", many)
        return "" if workload is None else workload.silent

    # A namespace this young may lack its service account at first, and the API server the quota's status.
    wait_until(lambda: "exceeded quota" in silence(), "the controller to tell of the quota")


BUFFERS = """
apiVersion: v1
kind: PodTemplate
metadata: {name: unit, namespace: default}
template:
  spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 500m}}}]}
---
apiVersion: autoscaling.x-k8s.io/v1alpha1
kind: CapacityBuffer
metadata: {name: by-template, namespace: default}
spec: {podTemplateRef: {name: unit}, replicas: 3}
---
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: by-workload, namespace: default}
spec: {scalableRef: {apiGroup: apps, kind: StatefulSet, name: db}, percentage: 50}
"""


def test_capacity_buffers_are_read_by_whoever_plans_once_the_cluster_has_the_kind(
    plane: ControlPlane, client: Client
) -> None:
    assert opened(plane, "provision").read().buffers == ()
    client.apply(buffer_crd())
    client.apply(CONTROLLERS, BUFFERS)
    for role in ("provision", "reconcile"):
        state = opened(plane, role).read()
        assert state.warnings == ()
        assert [(each.key.name, each.units) for each in state.buffers] == [("by-template", 3), ("by-workload", 1)]
        assert state.buffers[0].template.requests.get("cpu") == 500


NAMED_CLASSES = """
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: gvisor}
handler: runsc
overhead: {podFixed: {cpu: 250m}}
scheduling:
  nodeSelector: {sandbox: gvisor}
  tolerations: [{key: sandbox, operator: Exists, effect: NoSchedule}]
---
apiVersion: v1
kind: PodTemplate
metadata: {name: unit, namespace: default}
template:
  spec:
    priorityClassName: high
    runtimeClassName: gvisor
    containers: [{name: c, image: c, resources: {requests: {cpu: 500m}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: such-a-pod, namespace: default}
spec:
  priorityClassName: high
  runtimeClassName: gvisor
  containers: [{name: c, image: c, resources: {requests: {cpu: 500m}}}]
"""


def test_a_buffers_unit_is_what_the_api_server_makes_of_such_a_pod(plane: ControlPlane, client: Client) -> None:
    client.apply(buffer_crd())
    client.apply(NAMED_CLASSES, BUFFERS.partition("---")[2].partition("---")[0])
    for role in ("provision", "reconcile"):
        state = opened(plane, role).read()
        (pod,) = state.pods
        (unit,) = (each.template for each in state.buffers)
        assert (unit.requests, unit.alternatives, unit.priority) == (pod.requests, pod.alternatives, pod.priority)
        # Whoever is not told otherwise stays on a node that fails for five minutes: that is nothing to a planner.
        assert set(unit.tolerations) == {each for each in pod.tolerations if each.effect != "NoExecute"}
        assert dict(unit.requests) == {"cpu": 750, "pods": 1}


def test_a_buffers_status_is_told_once_and_stands_as_its_api_has_it(plane: ControlPlane, client: Client) -> None:
    client.apply(buffer_crd())
    client.apply(CONTROLLERS, BUFFERS)
    observer, provision, reconcile = RecordingObserver(), opened(plane, "provision"), opened(plane, "reconcile")
    for cluster in (provision, reconcile):
        rooms = {each.key: UnitRoom(there=2) for each in cluster.read().buffers}
        tell_buffers("mine", cluster, cluster.read(), rooms, observer, NOW)
        assert observer.problems == []
        before = buffer_named(client, "by-template")
        tell_buffers("mine", cluster, cluster.read(), rooms, observer, NOW)
        assert buffer_named(client, "by-template") == before
    status = buffer_named(client, "by-template")["status"]
    assert (status["replicas"], status["podTemplateRef"]) == (3, {"name": "unit"})
    assert (
        status["podTemplateGeneration"] == client.get("v1", "PodTemplate", "unit", "default")["metadata"]["generation"]
    )
    said = {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}
    assert said == {
        "ReadyForProvisioning": ("True", "Resolved"),
        "Provisioning": ("False", "RequiresNewCapacity"),
        "nodewright.dev/Told": ("True", "Told"),
    }
    assert conditions_of(client, "by-workload")["Provisioning"] == "FitsExistingCapacity"
    client.delete("v1", "PodTemplate", "unit", "default")
    tell_buffers("mine", reconcile, reconcile.read(), {}, observer, NOW)
    assert conditions_of(client, "by-template") == {
        "ReadyForProvisioning": "PodTemplateNotFound",
        "Provisioning": "NotReadyForProvisioning",
        "nodewright.dev/Told": "Told",
    }
    assert "podTemplateRef" not in buffer_named(client, "by-template")["status"]


def test_a_status_isnt_told_to_a_buffer_that_changed_meanwhile(plane: ControlPlane, client: Client) -> None:
    client.apply(buffer_crd())
    client.apply(CONTROLLERS, BUFFERS)
    cluster = opened(plane, "reconcile")
    (reading, _) = cluster.read().buffer_readings
    client.patch("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "by-template", {"spec": {"replicas": 5}}, "default")
    with pytest.raises(ConflictError):
        cluster.tell_buffer(reading.key, reading.version, reading.wanted)


def buffer_named(client: Client, name: str) -> Object:
    return client.get("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", name, "default")


def conditions_of(client: Client, buffer: str) -> dict[str, str]:
    return {each["type"]: each["reason"] for each in buffer_named(client, buffer)["status"]["conditions"]}


def test_what_was_legal_in_the_oldest_kinds_is_taken(plane: ControlPlane, client: Client) -> None:
    disk = {"deviceName": "/dev/xvda", "ebs": {"volumeSize": 100, "volumeType": "gp3"}}
    inline = {"subnetSelector": {"a": "b,c"}, "securityGroupSelector": {"aws::ids": "sg-1"}, "instanceProfile": "p"}
    client.apply(
        provisioner(metadata={"name": "named"}, ttlSecondsAfterEmpty=30, limits={"resources": {"cpu": 1000}}),
        provisioner(metadata={"name": "inline"}, providerRef=None, provider=inline, weight=100),
        node_template(subnetSelector={"Name": ""}, blockDeviceMappings=[disk], tags={"Name": "x"}),
    )
    state = opened(plane, "provision").read()
    assert state.warnings == ()
    assert list(map(str, state.pools)) == ["Provisioner/inline", "Provisioner/named"]
    assert [c.block_devices[0].volume_size_gib for c in state.node_classes if c.name == "default"] == [100]


def test_unknown_fields_of_a_manifest_survive_in_the_cluster(plane: ControlPlane, client: Client) -> None:
    pool = seed_one("node_pool")
    pool["spec"] = {**pool["spec"], "later": {"deep": [1]}}  # type: ignore[dict-item]
    client.apply(pool)
    stored = client.get("karpenter.sh/v1", "NodePool", "karpenter-node-pool")
    assert stored["spec"]["later"] == {"deep": [1]}
    assert [w.path for w in opened(plane, "provision").read().warnings] == ["spec.later"]


def every_field() -> list[Object]:
    """A manifest for each field of each kind and generation, each of another name."""
    sound = [(t, row) for t in TABLES for row in t.rows if row.status != "refused" and row.where.startswith("spec")]
    return [{**t.manifest(row), "metadata": {"name": f"a-{i}"}} for i, (t, row) in enumerate(sound)]


def configuration(manifests: Sequence[Object]) -> Configuration:
    pools = [raw for raw in manifests if raw["kind"] in {"NodePool", "Provisioner"}]
    return read_configuration(pools, [raw for raw in manifests if raw["kind"] in {"EC2NodeClass", "AWSNodeTemplate"}])


def test_every_field_of_every_generation_is_taken_and_read_as_it_was_written(
    plane: ControlPlane, client: Client
) -> None:
    written = every_field()
    client.apply(*written)
    state, expected = opened(plane, "provision").read(), configuration(written)
    assert (state.pools, state.node_classes) == (expected.pools, expected.node_classes)
    assert len(state.overlays) == sum(raw["kind"] == "NodeOverlay" for raw in written)


def test_what_is_converted_is_taken_as_v1(plane: ControlPlane, client: Client) -> None:
    converted = convert(every_field())
    client.apply(*converted.documents)
    state, expected = opened(plane, "provision").read(), configuration(converted.documents)
    assert (state.pools, state.node_classes) == (expected.pools, expected.node_classes)
    assert {pool.kind for pool in state.pools} == {"NodePool"}


def test_a_repeated_event_is_one_event_that_counts(plane: ControlPlane, client: Client) -> None:
    client.apply(seed_one("deployment"))
    provision = opened(plane, "provision")
    wait_until(lambda: len(provision.pending_pods()) == 1, "the pod of the deployment")
    (pod,) = provision.pending_pods()
    for _ in range(3):
        provision.record_event(pod.key, pod.uid, "FailedScheduling", "no pool", NOW)
    events = client.objects("events.k8s.io/v1", "Event", "default")
    (ours,) = [e for e in events if e["reportingController"] == "nodewright.dev/provisioner"]
    assert ours["series"]["count"] == 3


def test_a_node_is_registered_by_reconcile_and_by_nobody_else(plane: ControlPlane, client: Client) -> None:
    client.create(node())
    taints = (Taint("karpenter.sh/unregistered", "", "NoExecute"),)
    opened(plane, "reconcile").register_node("n-1", {"karpenter.sh/registered": "true"}, taints)
    stored = client.get("v1", "Node", "n-1")
    assert stored["metadata"]["labels"]["karpenter.sh/registered"] == "true"
    assert "karpenter.sh/unregistered" not in {t["key"] for t in stored["spec"]["taints"]}
    assert "team" in {t["key"] for t in stored["spec"]["taints"]}
    with pytest.raises(RefusedError, match="nodewright doctor mine"):
        opened(plane, "provision").register_node("n-1", {"x": "y"}, ())


OF_NO_SCHEDULER = """
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: default}
spec:
  schedulerName: nobody
  containers: [{name: web, image: web}]
"""
"""One whose nomination kube-scheduler doesn't take away again."""


def test_pods_are_nominated_by_reconcile_and_by_nobody_else(plane: ControlPlane, client: Client) -> None:
    client.apply(OF_NO_SCHEDULER)
    (pod,) = opened(plane, "provision").pending_pods()

    def nominated() -> str:
        stored = client.get("v1", "Pod", pod.key.name, pod.key.namespace)
        return str(stored["status"].get("nominatedNodeName", ""))

    opened(plane, "reconcile").nominate(pod.key, pod.uid, "n-1")
    assert nominated() == "n-1"
    with pytest.raises(ConflictError):
        opened(plane, "reconcile").nominate(pod.key, "another-uid", "n-2")
    opened(plane, "reconcile").nominate(pod.key, pod.uid, "")
    assert nominated() == ""
    with pytest.raises(RefusedError, match="nodewright doctor mine"):
        opened(plane, "provision").nominate(pod.key, pod.uid, "n-1")
    binding = {"metadata": {"name": pod.key.name}, "target": {"kind": "Node", "name": "n-9"}}
    client.request("POST", f"/api/v1/namespaces/{pod.key.namespace}/pods/{pod.key.name}/binding", binding)
    with pytest.raises(ConflictError):
        opened(plane, "reconcile").nominate(pod.key, pod.uid, "n-1")


def test_strangers_and_strange_authorities_are_refused_with_the_fix(plane: ControlPlane) -> None:
    with pytest.raises(RefusedError, match="nodewright doctor mine"):
        opened(plane, "nobody").read()
    with pytest.raises(RefusedError, match="nodewright connect mine"):
        opened(plane, "provision", Authority("another", NOW)).read()


def test_the_cluster_wakes_us_for_what_matters_and_for_nothing_else(
    plane: ControlPlane, client: Client, woken: list[str]
) -> None:
    client.apply(seed_one("node_pool"), seed_one("deployment"))
    wait_until(lambda: "CREATE events default-scheduler" in woken, "the scheduler's event")
    client.create(node())
    wait_until(lambda: "UPDATE nodes/status" in woken, "the node to be ready")
    opened(plane, "reconcile").register_node("n-1", {"a": "b"}, ())
    (pod,) = opened(plane, "provision").pending_pods()
    opened(plane, "provision").record_event(pod.key, pod.uid, "FailedScheduling", "no pool", NOW)
    client.patch("karpenter.sh/v1", "NodePool", "karpenter-node-pool", {"metadata": {"labels": {"a": "b"}}})
    assert "UPDATE nodepools" not in woken
    client.patch("karpenter.sh/v1", "NodePool", "karpenter-node-pool", {"spec": {"weight": 51}})
    client.delete("v1", "Node", "n-1")
    wait_until(lambda: "DELETE nodes" in woken, "the node's end")
    assert set(woken) == {
        "CREATE nodepools",
        "CREATE events default-scheduler",
        "CREATE nodes",
        "UPDATE nodes/status",
        "UPDATE nodepools",
        "DELETE nodes",
    }


def test_the_oldest_kinds_wake_us_as_the_newer_do(client: Client, woken: list[str]) -> None:
    client.apply(provisioner(weight=1), node_template())
    client.apply(provisioner(weight=2), node_template())
    client.delete("karpenter.sh/v1alpha5", "Provisioner", "default")
    wait_until(lambda: "DELETE provisioners" in woken, "the Provisioner's end")
    assert _news(woken, "provisioners", "awsnodetemplates") == [
        "CREATE provisioners",
        "CREATE awsnodetemplates",
        "UPDATE provisioners",
        "DELETE provisioners",
    ]


def test_capacity_buffers_wake_us_where_the_cluster_has_them(client: Client, woken: list[str]) -> None:
    client.apply(buffer_crd())
    client.apply(BUFFERS)
    client.delete("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "by-template", "default")
    wait_until(lambda: "DELETE capacitybuffers" in woken, "the buffer's end")
    assert _news(woken, "capacitybuffers") == ["CREATE capacitybuffers", "DELETE capacitybuffers"]


def _news(calls: Sequence[str], *resources: str) -> list[str]:
    """The API server tries a write on the copy in its cache first, and tells of it again when that was stale.

    Of these resources only: the scheduler may still have something to say about pods of another test.
    """
    return [call for call, _ in groupby(calls) if call.split()[1] in resources]


def _patient(configuration: Mapping[str, object]) -> Object:
    """With time enough for a busy machine: a call that takes longer than we let it isn't made, or comes late."""
    webhooks: Sequence[Object] = configuration["webhooks"]  # type: ignore[assignment]
    return {**configuration, "webhooks": [{**each, "timeoutSeconds": 30} for each in webhooks]}


def _probe(client: Client, calls: list[str]) -> bool:
    client.apply(node_pool(metadata={"name": "probe"}))
    client.delete("karpenter.sh/v1", "NodePool", "probe")
    return bool(calls)


class _Webhook:
    """Answers every AdmissionReview with yes, and notes what it was about."""

    def __init__(self, authority: Authority, folder: Path) -> None:
        self.calls: list[str] = []
        certificate = authority.serving(["127.0.0.1"])
        chain = folder / "webhook.pem"
        chain.write_bytes(certificate.key_pem + certificate.certificate_pem)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.calls = self.calls
        # The handshake belongs into the connection's own thread: the API server opens several at once.
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._server.server_port}/v1/clusters/mine/token"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    calls: list[str]

    def handle_error(self, request: object, client_address: object) -> None:
        """The API server drops connections it no longer needs; that is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        resource = "/".join(filter(None, (request["resource"]["resource"], request.get("subResource"))))
        speaker = (request.get("object") or {}).get("reportingController")
        self.server.calls.append(" ".join(filter(None, (request["operation"], resource, speaker))))
        response = {"uid": request["uid"], "allowed": True}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        answer = json.dumps(review).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Silent."""
