"""Kubelet's own list: k8s.io/kubelet/pkg/apis/well_known_labels.go of 1.37."""

import pytest

from nodewright.domain.node_labels import for_kubelet, kubelet_may_set, restricted

ALLOWED = (
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "kubelet.kubernetes.io/anything",
    "sub.kubelet.kubernetes.io/anything",
    "node.kubernetes.io/anything",
    "sub.node.kubernetes.io/anything",
    "team",
    "example.com/team",
    "karpenter.sh/nodepool",
    "karpenter.k8s.aws/instance-cpu",
    "topology.k8s.aws/zone-id",
    "notkubernetes.io/team",
)
REFUSED = (
    "kubernetes.io/team",
    "kubernetes.io/instance-type",
    "k8s.io/team",
    "example.kubernetes.io/team",
    "example.k8s.io/team",
    "node-restriction.kubernetes.io/team",
    "node-role.kubernetes.io/worker",
    "notnode.kubernetes.io/team",
    "topology.kubernetes.io/rack",
)


@pytest.mark.parametrize("key", ALLOWED)
def test_kubelet_may_set(key: str) -> None:
    assert kubelet_may_set(key)
    assert restricted({key: "x"}) == {}


@pytest.mark.parametrize("key", REFUSED)
def test_kubelet_may_not_set(key: str) -> None:
    assert not kubelet_may_set(key)
    assert restricted({key: "x"}) == {key: "x"}
    assert for_kubelet({key: "x"}) == {}


@pytest.mark.parametrize(
    "key",
    [
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "kubernetes.io/hostname",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "karpenter.sh/registered",
        "karpenter.sh/initialized",
    ],
)
def test_what_others_set_is_not_said_twice(key: str) -> None:
    assert for_kubelet({key: "x"}) == {}


def test_labels_for_kubelet_are_in_order_whatever_order_they_came_in() -> None:
    labels = {"b": "2", "a": "1", "example.com/c": "3"}
    assert list(for_kubelet(labels).items()) == sorted(labels.items())
