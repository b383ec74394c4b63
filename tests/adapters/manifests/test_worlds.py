from collections.abc import Mapping
from datetime import UTC, datetime
from fnmatch import fnmatchcase

import pytest

from nodewright.adapters.manifests.worlds import World, read_world
from nodewright.domain.claims import ClaimState
from nodewright.domain.pods import Pod
from nodewright.domain.requirements import Requirements
from tests.adapters.manifests.raw import Json, seed_two
from tests.builders import resources

POOL: Json = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {"template": {"spec": {"nodeClassRef": {"name": "default"}}}},
}
POOL_LABEL = {"karpenter.sh/nodepool": "default"}


def pod(name: str = "p", *, requests: Json | None = None, metadata: Json | None = None, **spec: object) -> Json:
    container = {"name": "c", "resources": {"requests": requests or {"cpu": "1"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **(metadata or {})},
        "spec": {"containers": [container], **spec},
    }


def node(name: str = "n", *, metadata: Mapping[str, object] | None = None, **status: object) -> Json:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, **(metadata or {})}, "status": status}


def of(kind: str, name: str, **fields: object) -> Json:
    return {"kind": kind, "metadata": {"name": name}, **fields}


def told(world: World) -> list[str]:
    return [f"{w.object}|{w.path}|{w.message}" for w in world.state.warnings]


def by_name(world: World) -> Mapping[str, Pod]:
    return {each.key.name: each for each in world.state.pods}


def test_objects_of_all_kinds_are_read_in_any_order_and_out_of_lists() -> None:
    deployment = of("Deployment", "web", spec={"replicas": 2, "template": {"spec": pod()["spec"]}})
    daemon_set = of("DaemonSet", "agent", spec={"template": {"spec": pod()["spec"]}})
    world = read_world([of("List", "l", items=[deployment, node(capacity={"cpu": "4"})]), daemon_set, POOL, pod()])
    state = world.state
    assert sorted(by_name(world)) == ["p", "web-0", "web-1"]
    assert [each.name for each in state.nodes] == ["n"]
    assert [each.key.name for each in state.daemon_sets] == ["agent"]
    assert [each.name for each in state.pools] == ["default"]
    assert world.names_pools


@pytest.mark.parametrize(
    ("kind", "version", "warning"),
    [
        ("deployment", "apps/v1", "deployment/a|kind|*did you mean Deployment?"),
        ("Deploymnet", "apps/v1", "Deploymnet/a|kind|*did you mean Deployment?"),
        ("Nodepool", "karpenter.sh/v1", "Nodepool/a|kind|*did you mean NodePool?"),
        ("pods", "v1", "pods/a|kind|*did you mean Pod?"),
        ("EC2Nodeclass", "karpenter.k8s.aws/v1", "EC2Nodeclass/a|kind|*did you mean EC2NodeClass?"),
        ("Job", "v1", "Job/default/a|apiVersion|a Job is of batch, so this one is left out; correct it"),
        ("NodePool", "v1", "NodePool/a|apiVersion|a NodePool is of karpenter.sh, *"),
        ("CapacityBuffer", "autoscaling.k8s.io/v1", "CapacityBuffer/default/a|apiVersion|*autoscaling.x-k8s.io, *"),
    ],
)
def test_a_kind_that_is_nearly_one_that_counts_is_told(kind: str, version: str, warning: str) -> None:
    (only,) = told(read_world([of(kind, "a", apiVersion=version)]))
    assert fnmatchcase(only, warning.replace("?", "[?]")), only


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("Service", "v1"),
        ("ConfigMap", "v1"),
        ("ServiceAccount", "v1"),
        ("CronJob", "batch/v1"),
        ("ControllerRevision", "apps/v1"),
        ("CSIDriver", "storage.k8s.io/v1"),
        ("VolumeAttributesClass", "storage.k8s.io/v1"),
        ("CSIStorageCapacity", "storage.k8s.io/v1"),
        ("deployment", "example.com/v1"),
    ],
)
def test_kinds_of_kubernetes_that_are_like_none_of_ours_are_passed_over_in_silence(kind: str, version: str) -> None:
    assert told(read_world([of(kind, "a", apiVersion=version)])) == []


@pytest.mark.parametrize(
    ("limits", "warnings"),
    [
        ({"CPU": 4}, ["CPU|it limits nothing: there is no resource CPU; did you mean cpu?"]),
        ({"node": 4}, ["node|it limits nothing: there is no resource node; did you mean nodes?"]),
        (
            {"nodes": 1.5},
            ["nodes|1.5 counts as 1, for the next node would be beyond it; write a whole number"],
        ),
        (
            {
                "cpu": 1,
                "nodes": "2",
                "ephemeral-storage": "1Ti",
                "nvidia.com/gpu": 1,
                "smarter-devices/fuse": 1,
                "hugepages-2Mi": "1Gi",
                "attachable-volumes-aws-ebs": 9,
            },
            [],
        ),
    ],
)
def test_a_limit_that_is_not_as_it_seems_is_told(limits: Json, warnings: list[str]) -> None:
    spec = {"template": {"spec": {"nodeClassRef": {"name": "default"}}}, "limits": limits}
    world = read_world([{**POOL, "spec": spec}])
    assert [each.partition("spec.limits.")[2] for each in told(world) if "spec.limits" in each] == warnings
    assert [each.name for each in world.state.pools] == ["default"]


@pytest.mark.parametrize("kind", ["NodePool", "EC2NodeClass"])
def test_a_spec_that_is_no_object_is_told_once(kind: str) -> None:
    (only,) = told(read_world([of(kind, "a", spec=["a"])]))
    assert only.startswith(f"{kind}/a|spec|['a'] stands where an object with fields must be; ")


def test_node_overlays_are_read_and_one_that_can_not_be_is_told_of() -> None:
    overlays = [
        of("NodeOverlay", name, apiVersion="karpenter.sh/v1alpha1", spec={"requirements": [], "price": price})
        for name, price in (("sound", "1"), ("broken", "free"))
    ]
    world = read_world([*overlays, POOL])
    assert [each.name for each in world.state.overlays] == ["sound"]
    assert any(each.startswith("NodeOverlay/broken|spec.price|") for each in told(world))


def test_kinds_that_do_not_matter_are_passed_over_in_silence() -> None:
    service, own = of("Service", "s", apiVersion="v1"), of("NodePool", "x", apiVersion="eks.example.com/v1")
    world = read_world([service, own, of("Job", "j", apiVersion="batch.example.com/v1")])
    assert (told(world), world.names_pools, world.state.pods) == ([], False, ())


def test_kinds_of_another_providers_karpenter_are_told() -> None:
    (only,) = told(read_world([of("AKSNodeClass", "a", apiVersion="karpenter.azure.com/v1")]))
    assert only.startswith("AKSNodeClass/a|apiVersion|karpenter.azure.com has no kind AKSNodeClass")


def test_what_has_no_kind_or_no_name_is_told() -> None:
    warnings = told(read_world([{"hello": "world"}, {"kind": "Pod", "metadata": {}}]))
    assert [each.rpartition("|")[0] for each in warnings] == ["object|kind", "Pod/default|metadata.name"]


def test_of_two_objects_of_one_name_the_last_counts() -> None:
    world = read_world([pod(requests={"cpu": "1"}), pod(requests={"cpu": "2"}), pod(requests={"cpu": "2"})])
    assert by_name(world)["p"].requests == resources(cpu="2", pods=1)
    assert [each.rpartition("|")[0] for each in told(world)] == ["Pod/default/p|metadata.name"]


def test_generated_names_become_names() -> None:
    made = {"kind": "Pod", "metadata": {"generateName": "run-"}, "spec": {}}
    assert sorted(by_name(read_world([made, made]))) == ["run-0", "run-1"]


def test_an_object_that_cannot_be_read_is_told_by_its_field_and_the_rest_is_read() -> None:
    world = read_world([pod(), {"kind": "Pod", "metadata": {"name": "odd"}, "spec": "none"}])
    assert sorted(by_name(world)) == ["p"]
    assert told(world) == [
        "Pod/odd|spec|Expected `object`, got `str`; correct the field in its manifest; it is left out"
    ]


def test_a_workload_whose_pods_cannot_be_told_is_told() -> None:
    world = read_world([of("Deployment", "web", spec={"replicas": -1}), pod()])
    assert sorted(by_name(world)) == ["p"]
    (only,) = told(world)
    assert only.startswith("Deployment/default/web|spec.replicas|-1 is not a whole number")
    assert only.endswith("its pods are left out")


def test_replica_sets_of_a_deployment_that_is_there_stand_for_no_pods_of_their_own() -> None:
    template = {"template": {"spec": pod()["spec"]}}
    replica_set = of("ReplicaSet", "web-1a", spec={"replicas": 2, **template})
    replica_set["metadata"] = {
        "name": "web-1a",
        "ownerReferences": [{"kind": "Deployment", "name": "web", "controller": True}],
    }
    assert sorted(by_name(read_world([replica_set]))) == ["web-1a-0", "web-1a-1"]
    deployment = of("Deployment", "web", spec={"replicas": 3, **template})
    assert sorted(by_name(read_world([replica_set, deployment]))) == ["web-0", "web-1", "web-2"]


def test_a_pool_whose_class_is_not_there_is_planned_with_default_values() -> None:
    world = read_world([POOL])
    (made,) = world.state.node_classes
    assert (made.name, made.ami_family) == ("default", "AL2023")
    (only,) = told(world)
    assert only.startswith("NodePool/default|spec.template.spec.nodeClassRef.name|class 'default' is not in the input")


def test_a_class_that_is_there_and_unusable_is_not_replaced() -> None:
    broken = of("EC2NodeClass", "default", apiVersion="karpenter.k8s.aws/v1", spec={"role": "arn:x"})
    world = read_world([POOL, broken])
    assert world.state.node_classes == ()
    assert not any("not in the input" in each for each in told(world))


def test_old_kinds_are_read() -> None:
    world = read_world([seed_two("general-provisioner"), seed_two("general-awsnodetemplate")])
    assert [str(each) for each in world.state.pools] == ["Provisioner/general"]
    assert [each.name for each in world.state.node_classes] == ["general"]


def test_a_node_somebody_wrote_down_is_ready_and_has_all_it_has() -> None:
    (found,) = read_world([node(capacity={"cpu": "4", "memory": "8Gi"})]).state.nodes
    assert found.ready
    assert found.allocatable == resources(cpu="4", memory="8Gi")
    assert found.labels == {"kubernetes.io/hostname": "n"}


def test_a_node_that_says_it_is_not_ready_is_not() -> None:
    (found,) = read_world([node(conditions=[{"type": "Ready", "status": "Unknown"}])]).state.nodes
    assert not found.ready


@pytest.mark.parametrize(
    ("versions", "newest"),
    [([], ""), (["v1.33.1-eks-473151a"], "1.33"), (["v1.9.0", "v1.31.2"], "1.31"), (["unknown"], "")],
)
def test_the_clusters_version_is_that_of_its_newest_node(versions: list[str], newest: str) -> None:
    nodes = [node(f"n{i}", nodeInfo={"kubeletVersion": version}) for i, version in enumerate(versions)]
    assert read_world(nodes).kubernetes == newest


def test_pods_get_the_priority_of_their_class() -> None:
    classes = [of("PriorityClass", "high", value=1000), of("PriorityClass", "low", value=-5, globalDefault=True)]
    pods = [
        pod("named", priorityClassName="high"),
        pod("unnamed"),
        pod("system", priorityClassName="system-node-critical"),
        pod("given", priority=7, priorityClassName="high"),
        pod("admitted", metadata={"creationTimestamp": "2026-01-01T00:00:00Z"}),
    ]
    found = by_name(read_world([*classes, *pods]))
    assert {name: each.priority for name, each in found.items()} == {
        "named": 1000,
        "unnamed": -5,
        "system": 2_000_001_000,
        "given": 7,
        "admitted": 0,
    }


def test_namespaces_defaults_go_to_containers_that_say_nothing() -> None:
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "300m", "memory": "1Gi"}}]}
    bare = pod("bare", requests={"memory": "2Gi"})
    capped = pod("capped")
    capped["spec"] = {"containers": [{"resources": {"limits": {"cpu": "2"}}}]}
    daemon_set = of("DaemonSet", "agent", spec={"template": {"spec": {"containers": [{"name": "c"}]}}})
    world = read_world([of("LimitRange", "l", spec=limits), bare, capped, daemon_set])
    assert by_name(world)["bare"].requests == resources(cpu="300m", memory="2Gi", pods=1)
    assert by_name(world)["capped"].requests == resources(cpu="2", memory="1Gi", pods=1)
    assert world.state.daemon_sets[0].requests == resources(cpu="300m", memory="1Gi", pods=1)


def test_a_runtime_class_adds_its_overhead_and_where_it_runs() -> None:
    scheduling = {"nodeSelector": {"runtime": "kata"}, "tolerations": [{"key": "kata", "operator": "Exists"}]}
    runtime = of("RuntimeClass", "kata", overhead={"podFixed": {"cpu": "250m"}}, scheduling=scheduling)
    found = by_name(read_world([runtime, pod(runtimeClassName="kata", nodeSelector={"disk": "ssd"})]))["p"]
    assert found.requests == resources(cpu="1250m", pods=1)
    assert found.alternatives == (Requirements.from_labels({"disk": "ssd", "runtime": "kata"}),)
    assert [each.key for each in found.tolerations] == ["kata"]


def test_volumes_and_namespaces_are_read() -> None:
    world = read_world(
        [
            of("Namespace", "shop"),
            of("PersistentVolumeClaim", "data", spec={"volumeName": "pv"}),
            of("PersistentVolume", "pv", spec={}),
            of("StorageClass", "gp3", provisioner="ebs.csi.aws.com"),
            of("CSINode", "n", spec={"drivers": [{"name": "ebs.csi.aws.com", "allocatable": {"count": 25}}]}),
        ]
    )
    storage = world.state.storage
    assert [str(each) for each in storage.claims or ()] == ["default/data"]
    assert [each.name for each in storage.volumes or ()] == ["pv"]
    assert [each.name for each in storage.classes or ()] == ["gp3"]
    assert storage.attachable == {"n": {"ebs.csi.aws.com": 25}}
    assert list(world.state.namespaces or ()) == ["shop"]


def stateful_set(storage_class: str | None) -> Json:
    claim = {"metadata": {"name": "data"}, "spec": {"storageClassName": storage_class}}
    spec = {"replicas": 2, "template": {"spec": pod()["spec"]}, "volumeClaimTemplates": [claim]}
    return of("StatefulSet", "db", spec=spec)


def test_claims_of_a_stateful_set_are_made_where_they_are_not_there() -> None:
    there = of("PersistentVolumeClaim", "data-db-0", spec={"volumeName": "pv"})
    world = read_world([stateful_set("gp3"), there])
    claims = world.state.storage.claims or ()
    assert [(each.name, each.bound) for each in claims] == [("data-db-0", True), ("data-db-1", False)]
    assert by_name(world)["db-1"].claim_names == ("data-db-1",)


@pytest.mark.parametrize(("name", "assumed"), [("gp3", "gp3"), (None, "default")])
def test_storage_classes_left_out_of_the_input_are_taken_for_ebs(name: str | None, assumed: str) -> None:
    world = read_world([stateful_set(name)])
    (made,) = world.state.storage.classes or ()
    assert (made.name, made.provisioner, made.waits, made.default) == (assumed, "ebs.csi.aws.com", True, name is None)
    (only,) = told(world)
    assert only.startswith(f"StorageClass/{assumed}||it is not in the input")


def test_classes_of_ephemeral_volumes_are_taken_for_ebs_too() -> None:
    volume = {"name": "t", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
    world = read_world([pod(volumes=[volume])])
    assert [(each.name, each.default) for each in world.state.storage.classes or ()] == [("default", True)]


def test_with_any_storage_class_in_the_input_a_missing_one_is_missing() -> None:
    world = read_world([stateful_set("gp4"), of("StorageClass", "gp3", provisioner="ebs.csi.aws.com")])
    assert [each.name for each in world.state.storage.classes or ()] == ["gp3"]
    assert told(world) == []


def test_node_claims_tell_of_nodes_on_their_way() -> None:
    claim: Json = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "default-x", "creationTimestamp": "2026-01-01T12:00:00Z", "labels": POOL_LABEL},
        "spec": {
            "nodeClassRef": {"name": "default"},
            "requirements": [
                {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["x.m"]},
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]},
            ],
            "taints": [{"key": "a", "effect": "NoSchedule"}],
        },
        "status": {
            "providerID": "aws:///a/i-1",
            "capacity": {"cpu": "4"},
            "allocatable": {"cpu": "3900m"},
            "conditions": [{"type": "Launched", "status": "True"}, {"type": "Registered", "status": "False"}],
        },
    }
    (found,) = read_world([claim]).claims
    assert (found.id, found.pool, found.node_class, found.state) == (
        "default-x",
        "default",
        "default",
        ClaimState.LAUNCHED,
    )
    assert (found.instance_type, found.capacity_type, found.instance_id) == ("x.m", "on-demand", "i-1")
    assert found.created == datetime(2026, 1, 1, 12, tzinfo=UTC)
    assert found.allocatable == resources(cpu="3900m")
    assert [str(taint) for taint in found.taints] == ["a:NoSchedule"]
    assert found.retirement is None


def test_nodes_of_a_pool_that_start_or_leave_are_on_their_way_too() -> None:
    young = {"creationTimestamp": "2026-01-01T12:00:00Z"}
    done = {"karpenter.sh/initialized": "true"}
    nodes = [
        node("starts", metadata={**young, "labels": POOL_LABEL}),
        node("stands", metadata={**young, "labels": {**POOL_LABEL, **done}}),
        node("leaves", metadata={"labels": {**POOL_LABEL, **done}, "deletionTimestamp": "2026-01-01T12:00:00Z"}),
        node("timeless", metadata={"labels": POOL_LABEL}),
        node("stranger", metadata=young),
    ]
    claims = {claim.node_name: claim for claim in read_world([POOL, *nodes]).claims}
    assert {name: claim.retirement is not None for name, claim in claims.items()} == {"starts": False, "leaves": True}
    assert claims["starts"].state is ClaimState.REGISTERED
