"""A cluster is disconnected and connected again, as its owner would do it."""

import pytest

from nodewright.application.errors import NotFoundError
from sandbox.world.webhooks import CONFIGURATION
from sandbox.world.world import CLUSTER
from tests.sandbox.spine.manifests import AMD64, ON_DEMAND, family, node_class, node_pool, pod
from tests.sandbox.spine.scene import Scene

pytestmark = pytest.mark.sandbox

BINDING = ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "nodewright:provision")
CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "nodepools.karpenter.sh")


def test_a_disconnected_cluster_is_served_no_more_and_again_once_it_is_connected(scene: Scene) -> None:
    old = scene.webhook_path()
    scene.world.disconnect()

    assert scene.kubernetes.find(*CONFIGURATION) is None
    assert scene.kubernetes.find(*BINDING) is None
    assert scene.kubernetes.find(*CRD) is not None
    with pytest.raises(NotFoundError, match="nodewright connect my-cluster"):
        scene.ledger.cluster(CLUSTER)
    scene.apply(node_class(), node_pool(family("m7i"), AMD64, ON_DEMAND), pod("early"))
    assert scene.world.lambdas.invoke("tick", {}).payload == {"clusters": 0}
    scene.hint("provision", "too-late")
    scene.eventually(lambda: "is not connected" in str(scene.problems()), "the hint to be refused")
    assert scene.instances() == []

    said = scene.world.connect()

    assert "custom resources: 0 installed" in said
    assert scene.webhook_path() != old
    scene.apply(pod("late"))
    scene.running(2)
