from typing import Any

import pytest

from nodewright.adapters.manifests.rbac import (
    DISRUPT_GROUP,
    INTERRUPT_GROUP,
    PROVISION_GROUP,
    RECONCILE_GROUP,
    RETIRE_GROUP,
    rbac,
)

GROUPS = (DISRUPT_GROUP, INTERRUPT_GROUP, PROVISION_GROUP, RECONCILE_GROUP, RETIRE_GROUP)


def objects(kind: str) -> dict[str, Any]:
    found: list[Any] = [raw for raw in rbac() if raw["kind"] == kind]
    return {raw["metadata"]["name"]: raw for raw in found}


def allowed(group: str) -> set[tuple[str, str, str]]:
    return {
        (api_group, resource, verb)
        for rule in objects("ClusterRole")[group]["rules"]
        for api_group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_is_bound_to_its_own_role(group: str) -> None:
    binding = objects("ClusterRoleBinding")[group]
    assert binding["roleRef"]["name"] == group
    assert [(s["kind"], s["name"]) for s in binding["subjects"]] == [("Group", group)]


def test_only_reconcile_may_change_nodes_only_provision_speaks_and_both_tell_buffers() -> None:
    changing = {
        (g, r, v) for g in (PROVISION_GROUP, RECONCILE_GROUP) for _, r, v in allowed(g) if v not in {"get", "list"}
    }
    assert changing == {
        (PROVISION_GROUP, "events", "create"),
        (PROVISION_GROUP, "events", "patch"),
        (PROVISION_GROUP, "capacitybuffers/status", "patch"),
        (RECONCILE_GROUP, "capacitybuffers/status", "patch"),
        (RECONCILE_GROUP, "nodes", "patch"),
        (RECONCILE_GROUP, "pods/status", "patch"),
    }


@pytest.mark.parametrize("group", [DISRUPT_GROUP, INTERRUPT_GROUP, PROVISION_GROUP, RECONCILE_GROUP])
def test_pools_and_classes_of_every_generation_may_be_read(group: str) -> None:
    for api_group, resource in (
        ("karpenter.sh", "nodepools"),
        ("karpenter.sh", "provisioners"),
        ("karpenter.k8s.aws", "ec2nodeclasses"),
        ("karpenter.k8s.aws", "awsnodetemplates"),
    ):
        assert {(api_group, resource, "get"), (api_group, resource, "list")} <= allowed(group)


@pytest.mark.parametrize("group", [DISRUPT_GROUP, PROVISION_GROUP, RECONCILE_GROUP])
def test_whoever_plans_may_list_all_that_pods_depend_on(group: str) -> None:
    for api_group, resource in (
        ("", "nodes"),
        ("", "pods"),
        ("", "namespaces"),
        ("", "limitranges"),
        ("", "persistentvolumeclaims"),
        ("", "persistentvolumes"),
        ("storage.k8s.io", "storageclasses"),
        ("storage.k8s.io", "csinodes"),
        ("storage.k8s.io", "volumeattachments"),
        ("apps", "daemonsets"),
        ("karpenter.sh", "nodeoverlays"),
        ("autoscaling.x-k8s.io", "capacitybuffers"),
    ):
        assert (api_group, resource, "list") in allowed(group)
    for api_group, resource in (
        ("", "podtemplates"),
        ("apps", "deployments"),
        ("apps", "statefulsets"),
        ("scheduling.k8s.io", "priorityclasses"),
        ("node.k8s.io", "runtimeclasses"),
    ):
        assert {verb for g, r, verb in allowed(group) if (g, r) == (api_group, resource)} == {"get"}


def test_provision_alone_may_look_jobs_up_and_nobody_lists_workloads() -> None:
    assert {group for group in GROUPS if ("batch", "jobs", "get") in allowed(group)} == {PROVISION_GROUP}
    for group in GROUPS:
        listed = {resource for api_group, resource, verb in allowed(group) if verb == "list" and api_group != ""}
        assert listed.isdisjoint({"deployments", "replicasets", "statefulsets", "jobs"})


def test_disrupt_marks_nodes_and_speaks_but_makes_nobody_leave() -> None:
    assert {(r, v) for _, r, v in allowed(DISRUPT_GROUP) if v not in {"get", "list"}} == {
        ("nodes", "patch"),
        ("events", "create"),
        ("events", "patch"),
    }
    assert ("policy", "poddisruptionbudgets", "list") in allowed(DISRUPT_GROUP)


def test_interrupt_reads_how_nodes_are_configured_and_nothing_else() -> None:
    assert {resource for _, resource, _ in allowed(INTERRUPT_GROUP)} == {
        "nodepools",
        "provisioners",
        "ec2nodeclasses",
        "awsnodetemplates",
    }
    assert {verb for _, _, verb in allowed(INTERRUPT_GROUP)} == {"get", "list"}


def test_retire_may_empty_nodes_and_take_them_away_and_make_nothing_but_events() -> None:
    changing = {(resource, verb) for _, resource, verb in allowed(RETIRE_GROUP) if verb not in {"get", "list"}}
    assert changing == {
        ("nodes", "patch"),
        ("nodes", "delete"),
        ("pods", "delete"),
        ("pods/eviction", "create"),
        ("events", "create"),
        ("events", "patch"),
    }
    assert {("policy", "poddisruptionbudgets", "list"), ("storage.k8s.io", "volumeattachments", "list")} <= allowed(
        RETIRE_GROUP
    )


def test_nobody_may_read_secrets_or_everything() -> None:
    for group in GROUPS:
        assert all("*" not in permission for permission in allowed(group))
        assert "secrets" not in {resource for _, resource, _ in allowed(group)}
