from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewright.adapters.manifests.pool_readings import PoolReading
from nodewright.adapters.manifests.pools import read_pool
from nodewright.adapters.manifests.provisioners import read_provisioner
from nodewright.domain.nodeclasses import Kubelet, SelectorTerm
from nodewright.domain.pools import DisruptionBudget, NodePool
from nodewright.domain.taints import Taint
from tests.adapters.manifests.raw import Json, node_pool, provisioner, requirement

OS, ARCH, CAPACITY = "kubernetes.io/os", "kubernetes.io/arch", "karpenter.sh/capacity-type"
TYPE = "node.kubernetes.io/instance-type"
FAMILY = "karpenter.k8s.aws/instance-family"
CATEGORY = "karpenter.k8s.aws/instance-category"
GENERATION = "karpenter.k8s.aws/instance-generation"
DEFAULTS = (
    requirement(OS, "In", "linux"),
    requirement(ARCH, "In", "amd64"),
    requirement(CAPACITY, "In", "on-demand"),
)
INLINE = {"subnetSelector": {"team": "a"}, "securityGroupSelector": {"team": "a"}, "instanceProfile": "nodes"}


def sound(raw: Json) -> NodePool:
    """The pool of a manifest that has nothing wrong with it."""
    reading = read_provisioner(raw)
    assert reading.warnings == ()
    assert reading.pool is not None
    return reading.pool


def only_warning(reading: PoolReading) -> tuple[str, str]:
    (warning,) = reading.warnings
    assert warning.object == "Provisioner/default"
    return warning.path, warning.message


def test_a_provisioner_is_read_field_by_field() -> None:
    pool = sound(
        provisioner(
            labels={"team": "a"},
            annotations={"note": "x"},
            requirements=[requirement(TYPE, "In", "m5.large")],
            taints=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
            startupTaints=[{"key": "cni", "effect": "NoExecute"}],
            limits={"resources": {"cpu": "1000", "memory": "1000Gi"}},
            weight=10,
            ttlSecondsUntilExpired=2592000,
        )
    )
    assert (pool.kind, pool.name, pool.node_class, pool.weight) == ("Provisioner", "default", "default", 10)
    assert (pool.labels, pool.annotations) == ({"team": "a"}, {"note": "x"})
    assert pool.requirements["team"].allows("a")
    assert pool.taints == (Taint("gpu", "yes", "NoSchedule"),)
    assert pool.startup_taints == (Taint("cni", "", "NoExecute"),)
    assert dict(pool.limits or {}) == {"cpu": 1_000_000, "memory": 1000 * 2**30}
    assert pool.expire_after == timedelta(days=30)
    assert pool.termination_grace_period is None


def test_what_the_webhook_added_is_added() -> None:
    asked = sound(provisioner()).requirements
    assert [asked[key].values for key in (OS, ARCH, CAPACITY)] == [{"linux"}, {"amd64"}, {"on-demand"}]
    assert asked[CATEGORY].values == {"c", "m", "r"}
    assert asked[GENERATION].allows("3")
    assert not asked[GENERATION].allows("2")


def test_what_is_asked_for_is_left_as_it_is() -> None:
    asked = sound(
        provisioner(requirements=[requirement(ARCH, "In", "arm64"), requirement(CAPACITY, "NotIn", "on-demand")])
    ).requirements
    assert asked[ARCH].values == {"arm64"}
    assert asked[CAPACITY].allows("spot")
    assert not asked[CAPACITY].allows("on-demand")


def test_a_label_asks_too() -> None:
    pool = sound(provisioner(labels={CAPACITY: "spot", FAMILY: "t3"}))
    assert pool.requirements[CAPACITY].values == {"spot"}
    assert CATEGORY not in pool.requirements


@pytest.mark.parametrize("key", [TYPE, FAMILY, CATEGORY, GENERATION])
def test_whoever_asks_for_types_gets_no_categories_besides(key: str) -> None:
    asked = sound(provisioner(requirements=[requirement(key, "In", "4")])).requirements
    assert {CATEGORY, GENERATION} & set(asked) == {key} & {CATEGORY, GENERATION}


@pytest.mark.property
@given(st.sets(st.sampled_from([OS, ARCH, CAPACITY, TYPE, FAMILY, CATEGORY, GENERATION])))
def test_a_default_never_narrows_what_was_asked(keys: set[str]) -> None:
    values = {OS: "linux", ARCH: "arm64", CAPACITY: "spot", TYPE: "t4g.medium", FAMILY: "t4g", CATEGORY: "t"}
    entries = [requirement(key, "In", values.get(key, "1")) for key in sorted(keys)]
    asked = sound(provisioner(requirements=entries)).requirements
    assert {OS, ARCH, CAPACITY} <= set(asked)
    assert all(asked[key].values == {values.get(key, "1")} for key in keys)


def test_nodes_stay_where_nothing_is_said_of_their_going() -> None:
    pool = sound(provisioner())
    assert (pool.consolidate_after, pool.expire_after) == (None, None)


def test_consolidation_and_a_time_for_empty_nodes_are_told_apart() -> None:
    on, off = sound(provisioner(consolidation={"enabled": True})), sound(provisioner(consolidation={"enabled": False}))
    empty = sound(provisioner(ttlSecondsAfterEmpty=30))
    assert (on.consolidation_policy, on.consolidate_after) == ("WhenEmptyOrUnderutilized", timedelta(0))
    assert off.consolidate_after is None
    assert (empty.consolidation_policy, empty.consolidate_after) == ("WhenEmpty", timedelta(seconds=30))


def test_both_together_take_only_empty_nodes_and_are_a_warning() -> None:
    reading = read_provisioner(provisioner(consolidation={"enabled": True}, ttlSecondsAfterEmpty=30))
    path, message = only_warning(reading)
    assert path == "spec.ttlSecondsAfterEmpty"
    assert "remove one" in message
    assert reading.pool is not None
    assert (reading.pool.consolidation_policy, reading.pool.consolidate_after) == ("WhenEmpty", timedelta(seconds=30))


def test_nodes_are_not_replaced_because_their_provisioner_changed() -> None:
    assert DisruptionBudget("0", reasons=("Drifted",)) in sound(provisioner()).budgets


def test_kubelet_settings_are_handed_on_without_the_runtime() -> None:
    reading = read_provisioner(provisioner(kubeletConfiguration={"maxPods": 30, "containerRuntime": "containerd"}))
    assert reading.warnings == ()
    assert reading.kubelet == Kubelet(max_pods=30)


def test_a_class_may_stand_in_the_provisioner_itself() -> None:
    reading = read_provisioner(provisioner(providerRef=None, provider={"apiVersion": "x", "kind": "AWS", **INLINE}))
    assert reading.warnings == ()
    assert reading.pool is not None
    assert reading.node_class is not None
    assert reading.pool.node_class == reading.node_class.name
    assert reading.node_class.instance_profile == "nodes"
    assert reading.node_class.subnet_terms == (SelectorTerm(tags={"team": "a"}),)
    assert str(reading.node_class) == "Provisioner/default"
    assert reading.node_class.path("spec.subnetSelectorTerms") == "spec.provider.subnetSelector"


def test_our_own_annotations_are_settings_and_a_deletion_is_known() -> None:
    metadata = {
        "annotations": {"nodewright.dev/assume-arch": "any", "y": "2"},
        "deletionTimestamp": "2026-01-01T00:00:00Z",
    }
    pool = sound(provisioner(metadata=metadata))
    assert pool.settings == {"nodewright.dev/assume-arch": "any"}
    assert pool.terminating


def test_moving_to_a_node_pool_of_the_same_content_makes_no_node_drift() -> None:
    old = provisioner(labels={"team": "a"}, taints=[{"key": "a", "effect": "NoSchedule"}], ttlSecondsUntilExpired=86400)
    node = {"requirements": list(DEFAULTS), "taints": [{"key": "a", "effect": "NoSchedule"}], "expireAfter": "24h"}
    new = read_pool(node_pool(labels={"team": "a"}, node=node)).pool
    assert new is not None
    assert sound(old).hash == new.hash


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (provisioner(providerRef=None), "spec.providerRef.name"),
        (provisioner(providerRef={"kind": "GCPNodeTemplate", "name": "a"}), "spec.providerRef.kind"),
        (provisioner(provider=INLINE), "spec.provider"),
        (provisioner(providerRef=None, provider={"launchTemplate": "a", **INLINE}), "spec.provider.launchTemplate"),
        (provisioner(requirements=[requirement(TYPE, "Is", "a")]), "spec.requirements[0]"),
        (provisioner(labels={"karpenter.sh/provisioner-name": "x"}), "spec.labels.karpenter.sh/provisioner-name"),
        (
            provisioner(requirements=[requirement("karpenter.sh/provisioner-name", "Exists")]),
            "spec.requirements[0].key",
        ),
        (provisioner(limits={"resources": {"cpu": "lots"}}), "spec.limits.resources"),
        (provisioner(ttlSecondsUntilExpired="30d"), "spec.ttlSecondsUntilExpired"),
        (provisioner(ttlSecondsAfterEmpty=-1), "spec.ttlSecondsAfterEmpty"),
        (provisioner(weight=101), "spec.weight"),
        (provisioner(taints=[{"key": "a", "effect": "Never"}]), "spec.taints[0]"),
        (provisioner(kubeletConfiguration={"maxPods": "many"}), "spec.kubeletConfiguration.maxPods"),
    ],
)
def test_what_we_do_not_understand_is_not_bought(raw: Json, path: str) -> None:
    reading = read_provisioner(raw)
    found, message = only_warning(reading)
    assert (reading.pool, reading.node_class) == (None, None)
    assert found == path
    assert "left out of planning until this is fixed" in message


def test_an_unknown_field_is_a_warning_with_its_path_and_no_more() -> None:
    reading = read_provisioner(provisioner(ttlSecondsAfterEmtpy=30, limits={"cpu": "5"}))
    assert reading.pool is not None
    assert {warning.path for warning in reading.warnings} == {"spec.ttlSecondsAfterEmtpy", "spec.limits.cpu"}


@pytest.mark.parametrize("raw", [{}, {"metadata": None, "spec": None}, {"metadata": {"name": "x"}, "spec": [1]}])
def test_a_manifest_of_any_other_shape_is_refused_without_a_crash(raw: Json) -> None:
    reading = read_provisioner(raw)
    assert reading.pool is None
    assert reading.warnings
