from datetime import timedelta

import pytest

from nodewright.adapters.manifests.pool_readings import PoolReading
from nodewright.adapters.manifests.pools import read_pool
from nodewright.domain.pools import NodePool
from nodewright.domain.taints import Taint
from tests.adapters.manifests.raw import Json, node_pool, requirement

CPU = "karpenter.k8s.aws/instance-cpu"


def sound(raw: Json) -> NodePool:
    """The pool of a manifest that has nothing wrong with it."""
    reading = read_pool(raw)
    assert reading.warnings == ()
    assert reading.pool is not None
    return reading.pool


def only_warning(reading: PoolReading) -> tuple[str, str]:
    (warning,) = reading.warnings
    assert warning.object == "NodePool/default"
    return warning.path, warning.message


def test_a_v1_pool_is_read_field_by_field() -> None:
    pool = sound(
        node_pool(
            labels={"team": "a"},
            node={
                "requirements": [requirement("kubernetes.io/arch", "In", "arm64")],
                "taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}],
                "startupTaints": [{"key": "cni", "effect": "NoExecute"}],
                "expireAfter": "1h30m",
                "terminationGracePeriod": "48h",
            },
            limits={"cpu": "1000", "memory": "1000Gi", "nodes": 5},
            weight=10,
        )
    )
    assert pool.node_class == "default"
    assert pool.labels == {"team": "a"}
    assert pool.requirements["team"].allows("a")
    assert not pool.requirements["kubernetes.io/arch"].allows("amd64")
    assert pool.taints == (Taint("gpu", "yes", "NoSchedule"),)
    assert pool.startup_taints == (Taint("cni", "", "NoExecute"),)
    assert pool.expire_after == timedelta(minutes=90)
    assert pool.termination_grace_period == timedelta(hours=48)
    assert dict(pool.limits or {}) == {"cpu": 1_000_000, "memory": 1000 * 2**30, "nodes": 5}
    assert pool.weight == 10


def test_a_v1beta1_pool_may_name_its_class_without_group_and_kind() -> None:
    pool = sound(node_pool(version="v1beta1", node={"nodeClassRef": {"name": "gpu"}}))
    assert pool.node_class == "gpu"


def test_expiry_is_read_where_either_generation_has_it() -> None:
    old = sound(node_pool(version="v1beta1", disruption={"expireAfter": "24h"}))
    new = sound(node_pool(node={"expireAfter": "24h"}))
    assert old.expire_after == new.expire_after == timedelta(hours=24)


def test_of_two_times_of_expiry_the_newer_generation_s_counts() -> None:
    raw = node_pool(node={"expireAfter": "24h"}, disruption={"expireAfter": "48h"})
    reading = read_pool(raw)
    assert reading.pool is not None
    assert reading.pool.expire_after == timedelta(hours=24)
    assert only_warning(reading)[0] == "spec.disruption.expireAfter"


def test_expiry_is_thirty_days_unless_said_otherwise() -> None:
    assert sound(node_pool()).expire_after == timedelta(days=30)
    assert sound(node_pool(node={"expireAfter": "Never"})).expire_after is None


def test_the_old_name_of_the_consolidation_policy_is_known() -> None:
    sound(node_pool(disruption={"consolidationPolicy": "WhenUnderutilized"}))


def test_a_limit_of_zero_is_kept_and_not_unlimited() -> None:
    assert dict(sound(node_pool(limits={"cpu": 0})).limits or {}) == {"cpu": 0}


def test_a_pool_without_limits_has_none() -> None:
    assert sound(node_pool()).limits is None


def test_our_own_annotations_are_settings() -> None:
    annotations = {"nodewright.dev/assume-arch": "any", "team": "a"}
    pool = sound(node_pool(metadata={"annotations": annotations}))
    assert pool.settings == {"nodewright.dev/assume-arch": "any"}


def test_a_pool_being_deleted_says_so() -> None:
    assert sound(node_pool(metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})).terminating


def test_min_values_are_kept() -> None:
    entry = requirement("karpenter.k8s.aws/instance-family", "Exists") | {"minValues": 3}
    pool = sound(node_pool(node={"requirements": [entry]}))
    assert pool.requirements["karpenter.k8s.aws/instance-family"].min_values == 3


def test_an_unknown_field_is_a_warning_with_its_path_and_no_more() -> None:
    reading = read_pool(node_pool(node={"taint": []}, wieght=3))
    assert reading.pool is not None
    assert {w.path for w in reading.warnings} == {"spec.wieght", "spec.template.spec.taint"}
    assert all("unknown field" in w.message for w in reading.warnings)


def test_an_impossible_requirement_is_a_warning_that_names_the_key() -> None:
    reading = read_pool(node_pool(node={"requirements": [requirement(CPU, "Gt", "24"), requirement(CPU, "Lt", "8")]}))
    path, message = only_warning(reading)
    assert reading.pool is not None
    assert reading.pool.requirements[CPU].is_empty
    assert path == "spec.template.spec.requirements"
    assert CPU in message


def test_a_capacity_type_that_does_not_exist_is_a_warning() -> None:
    entry = requirement("karpenter.sh/capacity-type", "In", "spot", "preemptible")
    path, message = only_warning(read_pool(node_pool(node={"requirements": [entry]})))
    assert path == "spec.template.spec.requirements[0].values"
    assert "preemptible" in message


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (node_pool(node={"requirements": [requirement(CPU, "Gt", "many")]}), "spec.template.spec.requirements[0]"),
        (node_pool(node={"requirements": [requirement(CPU, "Is", "4")]}), "spec.template.spec.requirements[0]"),
        (node_pool(node={"requirements": "all"}), "spec.template.spec.requirements"),
        (
            node_pool(node={"requirements": [requirement("kubernetes.io/hostname", "In", "a")]}),
            "spec.template.spec.requirements[0].key",
        ),
        (node_pool(labels={"karpenter.sh/nodepool": "x"}), "spec.template.metadata.labels.karpenter.sh/nodepool"),
        (node_pool(labels={"team": "no blanks"}), "spec.template.metadata.labels.team"),
        (node_pool(limits={"cpu": "5K"}), "spec.limits"),
        (node_pool(node={"taints": [{"key": "a", "effect": "Never"}]}), "spec.template.spec.taints[0]"),
        (node_pool(node={"taints": [{"effect": "NoSchedule"}]}), "spec.template.spec.taints[0]"),
        (
            node_pool(node={"taints": [{"key": "a", "effect": "NoExecute"}] * 2}),
            "spec.template.spec",
        ),
        (node_pool(node={"expireAfter": "1d"}), "spec.template.spec.expireAfter"),
        (node_pool(weight=101), "spec.weight"),
        (node_pool(replicas=3), "spec.replicas"),
        (node_pool(node={"nodeClassRef": {}}), "spec.template.spec.nodeClassRef.name"),
        (
            node_pool(node={"nodeClassRef": {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "a"}}),
            "spec.template.spec.nodeClassRef",
        ),
        (node_pool(node={"kubelet": {"maxPods": "110 - 10"}}), "spec.template.spec.kubelet.maxPods"),
        (node_pool(node={"kubelet": {"kubeReserved": {"cpu": "some"}}}), "spec.template.spec.kubelet.kubeReserved.cpu"),
    ],
)
def test_what_we_do_not_understand_is_not_bought(raw: Json, path: str) -> None:
    reading = read_pool(raw)
    found, message = only_warning(reading)
    assert reading.pool is None
    assert found == path
    assert "left out of planning until this is fixed" in message


@pytest.mark.parametrize("raw", [{}, {"metadata": None, "spec": None}, {"metadata": {"name": "x"}, "spec": [1]}])
def test_a_manifest_of_any_other_shape_is_refused_without_a_crash(raw: Json) -> None:
    reading = read_pool(raw)
    assert reading.pool is None
    assert reading.warnings


def test_numbers_that_yaml_made_of_texts_are_taken_as_they_were_written() -> None:
    entry = {"key": CPU, "operator": "In", "values": [2, 4]}
    pool = sound(node_pool(node={"requirements": [entry]}, labels={"spot": True}, weight="7"))
    assert pool.requirements[CPU].values == {"2", "4"}
    assert pool.labels == {"spot": "true"}
    assert pool.weight == 7


def test_kubelet_settings_of_a_pool_are_handed_on() -> None:
    reading = read_pool(node_pool(version="v1beta1", node={"kubelet": {"maxPods": 30, "clusterDNS": ["10.0.0.10"]}}))
    assert reading.kubelet is not None
    assert reading.kubelet.max_pods == 30
    assert reading.kubelet.cluster_dns == ("10.0.0.10",)


def test_kubelet_settings_parked_by_the_migration_to_v1_are_found() -> None:
    parked = {"compatibility.karpenter.sh/v1beta1-kubelet-conversion": '{"maxPods": 40}'}
    reading = read_pool(node_pool(metadata={"annotations": parked}))
    assert reading.kubelet is not None
    assert reading.kubelet.max_pods == 40


def test_parked_kubelet_settings_that_are_no_json_refuse_the_pool() -> None:
    parked = {"compatibility.karpenter.sh/v1beta1-kubelet-conversion": "{maxPods"}
    assert read_pool(node_pool(metadata={"annotations": parked})).pool is None


def test_the_hash_does_not_mind_order_nor_generation() -> None:
    taints = [{"key": "a", "effect": "NoSchedule"}, {"key": "b", "effect": "NoExecute"}]
    new = node_pool(labels={"x": "1", "y": "2"}, node={"taints": taints, "expireAfter": "24h"})
    old = node_pool(
        version="v1beta1",
        labels={"y": "2", "x": "1"},
        node={"taints": taints[::-1], "nodeClassRef": {"name": "default"}},
        disruption={"expireAfter": "24h"},
    )
    assert sound(new).hash == sound(old).hash


def test_the_hash_minds_what_nodes_are_made_with_and_nothing_else() -> None:
    plain = sound(node_pool()).hash
    assert sound(node_pool(weight=3, node={"requirements": [requirement(CPU, "Gt", "4")]})).hash == plain
    assert sound(node_pool(labels={"x": "1"})).hash != plain
    assert sound(node_pool(node={"startupTaints": [{"key": "a", "effect": "NoSchedule"}]})).hash != plain
    assert sound(node_pool(node={"expireAfter": "Never"})).hash != plain
