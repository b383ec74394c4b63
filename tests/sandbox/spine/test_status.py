"""`nodewright status`, run as a person would, against table and cluster."""

import json

import pytest

from sandbox.world.world import CLUSTER
from tests.sandbox.spine.manifests import AMD64, ON_DEMAND, deployment, family, node_class, node_pool
from tests.sandbox.spine.scene import Scene

pytestmark = pytest.mark.sandbox


def test_a_pool_is_shown_with_what_it_uses_of_its_limits_wherever_those_can_be_read(scene: Scene) -> None:
    scene.apply(
        node_class(),
        node_pool(family("m7i"), AMD64, ON_DEMAND, limits={"cpu": "100"}),
        deployment("web", 1, cpu="500m"),
    )
    scene.running(1)
    (claim,) = scene.initialized(1)

    kubeconfig = str(scene.world.control_plane.kubeconfig)
    told = json.loads(scene.world.cli("status", CLUSTER, "--kubeconfig", kubeconfig, "--output", "json"))[CLUSTER]
    (pool,) = told["pools"]
    assert (pool["name"], pool["limits"], pool["inUse"]["cpu"]) == ("default", {"cpu": "100"}, "2")
    assert [each["node"] for each in told["claims"]] == [claim.node_name]

    shown = scene.world.cli("status", CLUSTER, "--kubeconfig", kubeconfig)
    assert "2%" in shown
    assert claim.node_name in shown
    without_access = scene.world.cli("status")
    assert "limits of pools are not known" in without_access
    assert claim.node_name in without_access
