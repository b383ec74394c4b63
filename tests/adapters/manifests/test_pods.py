import json
from datetime import UTC, datetime

import pytest

from nodewright.adapters.manifests.objects import ManifestError
from nodewright.adapters.manifests.pod_specs import PodSpecs
from nodewright.adapters.manifests.pods import read_pod, read_pods
from nodewright.domain.nodes import NAME_FIELD
from nodewright.domain.pods import Attachment, Owner, PodKey
from nodewright.domain.taints import Toleration
from tests.adapters.manifests.raw import Json, container, pod, required_terms

ARM: Json = {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}
AMD: Json = {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}
FOREVER = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def test_a_pod_is_read_field_by_field() -> None:
    read = read_pod(
        pod(
            metadata={
                "labels": {"app": "web"},
                "creationTimestamp": "2026-01-02T03:04:05Z",
                "deletionTimestamp": "2026-01-02T04:04:05Z",
                "ownerReferences": [
                    {"kind": "Service", "name": "s", "uid": "1"},
                    {"kind": "ReplicaSet", "name": "web", "uid": "2", "controller": True},
                ],
            },
            status={
                "phase": "Running",
                "nominatedNodeName": "n-2",
                "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
                ],
            },
            schedulerName="mine",
            priority=7,
            schedulingGates=[{"name": "hold"}],
            tolerations=[
                {"key": "gpu", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 3},
                {"key": "a"},
            ],
        )
    )
    assert read.key == PodKey("shop", "web-1")
    assert (read.uid, read.labels, read.phase, read.priority) == ("u-1", {"app": "web"}, "Running", 7)
    assert read.created == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert read.owner == Owner("ReplicaSet", "web", "2")
    assert (read.scheduler_name, read.nominated_node_name, read.node_name) == ("mine", "n-2", "")
    assert read.gated
    assert read.terminating
    assert (read.unschedulable, read.unschedulable_message) == (True, "0/3 nodes")
    assert read.tolerations == (Toleration("gpu", "Exists", "", "NoSchedule"), Toleration("a"))
    assert dict(read.requests) == {"cpu": 100, "pods": 1}
    assert read.problems == ()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (False, "")),
        ({"status": "False", "reason": "SchedulerError", "message": "a plugin failed"}, (False, "")),
        ({"status": "False", "reason": "Unschedulable"}, (True, "")),
        ({"status": "False", "reason": "Unschedulable", "message": None}, (True, "")),
    ],
)
def test_only_a_scheduler_that_found_no_node_calls_a_pod_unschedulable(
    changes: Json, expected: tuple[bool, str]
) -> None:
    condition = {"type": "PodScheduled", "status": "True", **changes}
    read = read_pod(pod(status={"conditions": [condition]}))
    assert (read.unschedulable, read.unschedulable_message) == expected


def test_a_bound_pod_is_no_longer_unschedulable_whatever_its_conditions_say() -> None:
    stale = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"}
    read = read_pod(pod(nodeName="n-1", status={"conditions": [stale]}))
    assert (read.unschedulable, read.unschedulable_message) == (False, "")


def test_what_evicting_it_asks_for_is_read() -> None:
    scheduled = {"type": "PodScheduled", "status": "True"}
    read = read_pod(
        pod(
            metadata={"deletionTimestamp": "2026-01-02T04:04:05Z"},
            status={
                "phase": "Running",
                "startTime": "2026-01-02T03:04:05Z",
                "conditions": [scheduled, {"type": "Ready", "status": "True"}],
            },
            nodeName="n-1",
            priorityClassName="system-node-critical",
            terminationGracePeriodSeconds=0,
        )
    )
    assert (read.ready, read.critical, read.termination_grace_seconds) == (True, True, 0)
    assert read.started == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert read.deletion == datetime(2026, 1, 2, 4, 4, 5, tzinfo=UTC)


def test_a_pod_that_says_nothing_of_its_end_has_the_api_servers_defaults() -> None:
    read = read_pod(pod(priorityClassName="important", status={"conditions": [{"type": "Ready", "status": "False"}]}))
    assert (read.ready, read.critical, read.termination_grace_seconds) == (False, False, 30)
    assert (read.started, read.deletion) == (None, None)


def test_a_pod_that_asks_for_nothing_in_particular_fits_any_node() -> None:
    (anything,) = read_pod(pod()).alternatives
    assert len(anything) == 0


def test_limits_stand_in_for_missing_requests() -> None:
    limits = {"cpu": "0.25", "memory": "0.5Gi"}
    read = read_pod(pod(containers=[{"resources": {"limits": limits, "requests": {"cpu": "100m"}}}]))
    assert dict(read.requests) == {"cpu": 100, "memory": 2**29, "pods": 1}


def test_extended_resources_may_be_given_as_limits_only() -> None:
    read = read_pod(pod(containers=[{"resources": {"limits": {"nvidia.com/gpu": 1}}}]))
    assert dict(read.requests) == {"nvidia.com/gpu": 1, "pods": 1}


def resized(spec_cpu: str, status: Json, *conditions: Json, node: str = "n") -> int:
    """Millicores that a running pod of one container takes while it is being resized."""
    containers = [{"name": "app", "resources": {"requests": {"cpu": spec_cpu}}}]
    statuses = [{"name": "other"}, {"name": "app", **status}]
    raw = pod(
        containers=containers, status={"containerStatuses": statuses, "conditions": list(conditions)}, nodeName=node
    )
    return read_pod(raw).requests.get("cpu")


def test_while_a_pod_is_resized_the_largest_of_wanted_granted_and_in_force_counts() -> None:
    """KEP-1287."""

    def given(in_force: str, granted: str) -> Json:
        return {"resources": {"requests": {"cpu": in_force}}, "allocatedResources": {"cpu": granted}}

    assert resized("2", given("1", "1")) == 2000
    assert resized("1", given("2", "1")) == 2000
    assert resized("1", given("1", "3")) == 3000
    assert resized("2", given("1", "1"), {"type": "PodResizePending", "reason": "Deferred"}) == 2000
    assert resized("9", given("1", "2"), {"type": "PodResizePending", "reason": "Infeasible"}) == 2000


def test_what_was_never_given_does_not_count() -> None:
    stale: Json = {"resources": {"requests": {"cpu": "3"}}}
    assert resized("1", {"resources": {}, "allocatedResources": {"cpu": "3"}}) == 1000
    assert resized("1", stale, node="") == 1000


@pytest.mark.parametrize(
    ("observed", "conditions", "counts"), [(2, [], 1000), (1, [], 3000), (2, [{"type": "PodResizeInProgress"}], 3000)]
)
def test_what_kubelet_has_seen_and_has_nothing_to_do_about_is_as_the_spec_says(
    observed: int, conditions: list[Json], counts: int
) -> None:
    status: Json = {
        "observedGeneration": observed,
        "conditions": conditions,
        "containerStatuses": [{"name": "app", "resources": {"requests": {"cpu": "3"}}}],
    }
    raw = pod(metadata={"generation": 2}, containers=[container({"cpu": "1"})], nodeName="n", status=status)
    assert read_pod(raw).requests.get("cpu") == counts


def test_a_pod_s_own_level_is_resized_alike() -> None:
    status = {"resources": {"requests": {"cpu": "3"}}, "allocatedResources": {"cpu": "2"}}
    own = {"requests": {"cpu": "1"}}
    assert read_pod(pod(nodeName="n", resources=own, status=status)).requests.get("cpu") == 3000
    infeasible = {"type": "PodResizePending", "reason": "Infeasible"}
    larger = {"requests": {"cpu": "8"}}
    read = read_pod(pod(nodeName="n", resources=larger, status={**status, "conditions": [infeasible]}))
    assert read.requests.get("cpu") == 3000


@pytest.mark.parametrize(
    ("amount", "says"),
    [
        ("-1", "it is negative; ask for 0 or more"),
        ("1e30", "no node has so much"),
        ("1e999", "out of range"),
        (True, "is not a quantity"),
    ],
)
def test_an_amount_no_node_can_have_is_a_problem_and_counts_as_none(amount: object, says: str) -> None:
    read = read_pod(pod(containers=[container({"cpu": "1", "memory": amount})]))
    (problem,) = read.problems
    assert problem.startswith("spec.containers[0].resources.requests: memory: ")
    assert says in problem
    assert dict(read.requests) == {"cpu": 1000, "pods": 1}


def test_sidecars_run_beside_later_init_containers() -> None:
    ship = container({"cpu": "200m", "memory": "128Mi"}, restartPolicy="Always")
    migrate = container({"cpu": "900m", "memory": "256Mi"})
    app = container({"cpu": "500m", "memory": "512Mi"})
    read = read_pod(pod(containers=[app], initContainers=[ship, migrate], overhead={"cpu": "250m"}))
    assert dict(read.requests) == {"cpu": 1350, "memory": 640 * 2**20, "pods": 1}


def test_pod_level_requests_replace_what_they_name() -> None:
    read = read_pod(pod(containers=[container({"cpu": "1", "memory": "1Gi"})], resources={"requests": {"cpu": "2"}}))
    assert dict(read.requests) == {"cpu": 2000, "memory": 2**30, "pods": 1}


def test_the_node_selector_holds_in_every_alternative() -> None:
    read = read_pod(
        pod(
            nodeSelector={"team": "a"},
            affinity=required_terms({"matchExpressions": [ARM]}, {"matchExpressions": [AMD]}),
        )
    )
    arm, amd = read.alternatives
    assert arm.admits({"team": "a", "kubernetes.io/arch": "arm64"})
    assert amd.admits({"team": "a", "kubernetes.io/arch": "amd64"})
    assert not arm.admits({"kubernetes.io/arch": "arm64"})


def test_preferred_affinity_is_no_constraint() -> None:
    preferred = [{"weight": 1, "preference": {"matchExpressions": [ARM]}}]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    (anything,) = read_pod(pod(affinity=affinity)).alternatives
    assert len(anything) == 0


def test_old_label_keys_keep_working() -> None:
    read = read_pod(pod(nodeSelector={"karpenter.sh/provisioner-name": "default", "beta.kubernetes.io/arch": "arm64"}))
    assert set(read.alternatives[0]) == {"karpenter.sh/nodepool", "kubernetes.io/arch"}


def test_the_old_annotation_against_eviction_keeps_working() -> None:
    read = read_pod(pod(metadata={"annotations": {"karpenter.sh/do-not-evict": "true", "a": "b"}}))
    assert read.annotations["karpenter.sh/do-not-disrupt"] == "true"
    assert read.annotations["a"] == "b"


def test_an_empty_list_of_terms_matches_no_node() -> None:
    read = read_pod(pod(affinity=required_terms()))
    assert read.alternatives == ()
    assert "matches no node" in read.problems[0]


def test_an_empty_term_matches_no_node_but_leaves_the_others() -> None:
    read = read_pod(pod(affinity=required_terms({}, {"matchExpressions": [ARM]})))
    assert len(read.alternatives) == 1
    assert read.problems == ()


def test_a_term_that_names_a_node_holds_there_and_on_no_node_to_come() -> None:
    fields = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n-1"]}]}
    read = read_pod(pod(affinity=required_terms({**fields, "matchExpressions": [ARM]})))
    (pinned,) = read.alternatives
    assert pinned.admits({NAME_FIELD: "n-1", "kubernetes.io/arch": "arm64"})
    assert not pinned.admits({NAME_FIELD: "n-2", "kubernetes.io/arch": "arm64"})
    assert not pinned.admits({"kubernetes.io/arch": "arm64"})
    assert read.problems == ()


def test_a_term_that_shuns_a_node_leaves_the_nodes_to_come() -> None:
    fields = {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n-1"]}]}
    (shy,) = read_pod(pod(affinity=required_terms(fields))).alternatives
    assert shy.admits({})
    assert not shy.admits({NAME_FIELD: "n-1"})


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ({"key": "spec.taints", "operator": "In", "values": ["a"]}, "use metadata.name or a label"),
        ({"key": "metadata.name", "operator": "Exists"}, "In or NotIn and exactly one value"),
        ({"key": "metadata.name", "operator": "In", "values": ["a", "b"]}, "exactly one value"),
    ],
)
def test_fields_that_can_not_be_selected_by_are_a_problem_with_their_path(field: Json, says: str) -> None:
    (problem,) = read_pod(pod(affinity=required_terms({"matchFields": [field]}))).problems
    assert problem.startswith(f"spec.affinity.nodeAffinity.{FOREVER}.nodeSelectorTerms[0].matchFields[0]: ")
    assert says in problem


def test_an_unreadable_term_is_a_problem_with_its_path() -> None:
    bad = {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Gt", "values": ["many"]}
    (problem,) = read_pod(pod(affinity=required_terms({"matchExpressions": [bad]}))).problems
    assert "nodeSelectorTerms[0].matchExpressions[0]: " in problem
    assert "many" in problem


def test_a_selector_that_no_node_can_meet_is_a_problem_as_short_as_it_may_be() -> None:
    read = read_pod(pod(nodeSelector={"team": "x" * 10_000}))
    (problem,) = read.problems
    assert problem.startswith("spec.nodeSelector: team: the value 'xxx")
    assert "10000 characters; at most 63" in problem
    assert len(problem) < 150
    assert read.alternatives == ()


def test_nodes_it_would_like_are_read_with_their_weight() -> None:
    liked = [
        {"weight": 7, "preference": {"matchExpressions": [ARM]}},
        {"weight": 1, "preference": {}},
        {"weight": 101, "preference": {"matchExpressions": [ARM]}},
    ]
    read = read_pod(pod(affinity={"nodeAffinity": {PREFERRED: liked}}))
    (wish,) = read.preferences.nodes
    assert wish.weight == 7
    assert wish.requirements.admits({"kubernetes.io/arch": "arm64"})
    (problem,) = read.problems
    assert problem.startswith(f"spec.affinity.nodeAffinity.{PREFERRED}[2].weight: 101 ")


def test_an_unreadable_quantity_is_a_problem_not_a_crash() -> None:
    read = read_pod(pod(containers=[container(), container({"memory": "5K"})]))
    (problem,) = read.problems
    assert problem.startswith("spec.containers[1].resources.requests: memory: '5K'")


@pytest.mark.parametrize(
    ("toleration", "says"),
    [
        ({"operator": "Equal", "value": "1"}, "an empty key needs operator Exists"),
        ({"key": "a", "operator": "Near"}, "operator 'Near' is not known; use Equal or Exists"),
        ({"key": "a", "effect": "Never"}, "effect 'Never' is not known"),
        ({"key": "a", "operator": "Exists", "value": "1"}, "operator Exists takes no value"),
    ],
)
def test_a_toleration_kubernetes_would_refuse_is_a_problem_with_its_path(toleration: Json, says: str) -> None:
    (problem,) = read_pod(pod(tolerations=[{"operator": "Exists"}, toleration])).problems
    assert problem.startswith(f"spec.tolerations[1]: {says}")


def test_claimed_devices_are_a_problem_with_their_path() -> None:
    (problem,) = read_pod(pod(resourceClaims=[{"name": "gpu"}])).problems
    assert problem.startswith("spec.resourceClaims: ")


@pytest.mark.parametrize(
    "spec",
    [
        {"topologySpreadConstraints": [{"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}]},
        {"affinity": {"podAffinity": {PREFERRED: [{"weight": 1, "podAffinityTerm": {"topologyKey": "zone"}}]}}},
        {"volumes": [{"name": "t", "emptyDir": {}}, {"name": "persistentVolumeClaim", "configMap": {"name": "x"}}]},
        {"containers": [container(ports=[{"containerPort": 80, "hostPort": 0}])]},
        {"resourceClaims": []},
        {"schedulingGates": None, "affinity": None, "tolerations": None, "volumes": None},
    ],
)
def test_what_is_no_hard_constraint_is_no_problem(spec: Json) -> None:
    read = read_pod(pod(spec))
    assert read.problems == ()
    assert not read.gated


def test_claims_are_named_and_those_of_ephemeral_volumes_after_the_pod() -> None:
    volumes = [
        {"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "again", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}},
        {"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
        {"name": "old", "awsElasticBlockStore": {"volumeID": "aws://us-east-1a/vol-1"}},
    ]
    read = read_pod(pod(volumes=volumes))
    assert read.claim_names == ("data", "web-1-scratch", "web-1-tmp")
    assert read.claim_templates == (("web-1-scratch", "fast"), ("web-1-tmp", None))
    assert read.attachments == {Attachment("ebs.csi.aws.com", "vol-1")}


def test_a_claim_without_a_name_is_a_problem() -> None:
    problem = read_pod(pod(volumes=[{"persistentVolumeClaim": {}}])).problems[0]
    assert problem.startswith("spec.volumes[0].persistentVolumeClaim.claimName: ")


def test_a_pod_of_a_file_may_lack_what_the_api_server_adds() -> None:
    read = read_pod({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "a"}]}})
    assert read.key == PodKey("default", "a")
    assert (read.phase, read.scheduler_name) == ("Pending", "default-scheduler")
    assert dict(read.requests) == {"pods": 1}


def test_a_pod_that_can_not_be_read_is_named_with_its_field() -> None:
    with pytest.raises(ManifestError, match=r"Pod/shop/web-1: .*containers.*correct the field"):
        read_pod(pod(containers="all"))


def page(*pods: Json, token: str = "") -> bytes:
    return json.dumps({"kind": "PodList", "metadata": {"continue": token}, "items": list(pods)}).encode()


def test_a_page_says_which_comes_next() -> None:
    read = read_pods(page(pod(), token="more"), PodSpecs())
    assert len(read.items) == 1
    assert read.next_page == "more"


def test_an_empty_list_may_be_null() -> None:
    assert read_pods(b'{"metadata": {}, "items": null}', PodSpecs()).items == ()


def test_one_unreadable_pod_of_a_list_is_left_out_with_a_warning() -> None:
    bad: Json = {"metadata": {"name": "bad", "namespace": "shop", "labels": {"a": 1}}, "spec": {}}
    read = read_pods(page(pod(), bad, token="more"), PodSpecs())
    assert [p.key.name for p in read.items] == ["web-1"]
    assert read.next_page == "more"
    (warning,) = read.warnings
    assert warning.object == "Pod/shop/bad"


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"affinity": {"nodeAffinity": "arm64"}}, "spec.affinity.nodeAffinity"),
        ({"affinity": {"podAffinity": {FOREVER: [{"topologyKey": 3}]}}}, f"spec.affinity.podAffinity.{FOREVER}[0]."),
        ({"topologySpreadConstraints": [{"maxSkew": "1"}]}, "spec.topologySpreadConstraints[0].maxSkew"),
        ({"nodeSelector": {"a": True}}, "spec.nodeSelector.a"),
        ({"tolerations": [{"key": 1}]}, "spec.tolerations[0].key"),
        ({"volumes": [{"persistentVolumeClaim": {"claimName": 1}}]}, "spec.volumes[0].persistentVolumeClaim.claimName"),
        ({"containers": [container(ports=[{"hostPort": "80"}])]}, "spec.containers[0].ports[0].hostPort"),
        ({"containers": [{"resources": {"requests": "all"}}]}, "spec.containers[0].resources.requests"),
        ({"overhead": ["1"]}, "spec.overhead"),
    ],
)
def test_a_field_of_the_wrong_type_is_a_problem_and_the_pod_still_counts_where_it_runs(spec: Json, path: str) -> None:
    read = read_pods(page(pod({"nodeName": "n", **spec}, metadata={"name": "bad"}), pod()), PodSpecs())
    bad, sound = read.items
    (problem,) = bad.problems
    assert problem.startswith(path)
    assert problem.endswith("; correct the field")
    assert (bad.node_name, sound.problems, read.warnings) == ("n", (), ())


def test_pods_of_a_daemon_set_share_one_reading_though_each_names_its_node() -> None:
    def daemon(node: str) -> Json:
        fields = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        owners = [{"kind": "DaemonSet", "name": "d", "uid": "1", "controller": True}]
        metadata = {"name": f"d-{node}", "ownerReferences": owners}
        return pod(metadata=metadata, nodeName=node, affinity=required_terms(fields))

    first, second = read_pods(page(daemon("n-1"), daemon("n-2")), PodSpecs()).items
    assert first.alternatives is second.alternatives


def test_pods_that_nobody_s_daemon_set_pinned_to_their_nodes_are_told_apart() -> None:
    def pinned(node: str) -> Json:
        fields = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        return pod(metadata={"name": node}, nodeName=node, affinity=required_terms(fields))

    first, second = read_pods(page(pinned("n-1"), pinned("n-2")), PodSpecs()).items
    assert first.alternatives[0].admits({NAME_FIELD: "n-1"})
    assert second.alternatives[0].admits({NAME_FIELD: "n-2"})


def test_pods_that_differ_in_one_byte_of_what_decides_are_told_apart() -> None:
    variants: list[Json] = [
        {},
        {"nodeSelector": {"a": "b"}},
        {"affinity": required_terms({"matchExpressions": [ARM]})},
        {"tolerations": [{"key": "a", "operator": "Exists"}]},
        {"topologySpreadConstraints": [{"topologyKey": "zone"}]},
        {"volumes": [{"persistentVolumeClaim": {"claimName": "a"}}]},
        {"volumes": [{"persistentVolumeClaim": {"claimName": "b"}}]},
        {"hostNetwork": True, "containers": [container(ports=[{"containerPort": 81}])]},
        {"resourceClaims": [{"name": "a"}]},
        {"containers": [container(ports=[{"hostPort": 80}])]},
        {"containers": [container({"cpu": "2"})]},
        {"initContainers": [container({"cpu": "3"})]},
        {"initContainers": [container({"cpu": "3"}, restartPolicy="Always")]},
        {"overhead": {"cpu": "1"}},
        {"resources": {"requests": {"cpu": "4"}}},
    ]
    together = read_pods(page(*(pod(variant) for variant in variants)), PodSpecs()).items
    assert together == tuple(read_pod(pod(variant)) for variant in variants)
    seen = {
        (p.requests, p.alternatives, p.tolerations, p.problems, p.spreads, p.host_ports, p.claim_names)
        for p in together
    }
    assert len(seen) == len(variants)
