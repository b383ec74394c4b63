"""Nodes go of themselves once nobody needs them."""

from pathlib import Path

import pytest

import sandbox
from tests.sandbox.spine.leaving import swept
from tests.sandbox.spine.manifests import Manifest
from tests.sandbox.spine.scene import Scene

pytestmark = pytest.mark.sandbox

SEED = Path(sandbox.__file__).parent / "seeds/one"


@pytest.fixture
def seeded(scene: Scene) -> Scene:
    """Nginx of the first seed runs, three times, on nodes that may all go at once."""
    scene.apply(*(path.read_text() for path in sorted(SEED.glob("*.yaml"))))
    free = {"spec": {"disruption": {"budgets": [{"nodes": "100%"}]}}}
    scene.kubernetes.patch("karpenter.sh/v1", "NodePool", "karpenter-node-pool", free)
    scale(scene, 3)
    scene.running(3)
    scene.initialized(len(scene.nodes()))
    return scene


def test_scaled_to_zero_every_node_goes_and_every_instance_ends(seeded: Scene) -> None:
    scale(seeded, 0)
    seeded.eventually(lambda: not seeded.pods(), "the pods to be gone")

    # A node that a look came too early for is looked at again a minute later.
    seeded.eventually(
        lambda: swept(seeded) and not seeded.nodes() and not alive(seeded), "all nodes to be gone", seconds=180
    )

    assert seeded.claims() == ()
    assert seeded.failures() == []


def alive(scene: Scene) -> list[Manifest]:
    return [each for each in scene.instances() if each["State"]["Name"] != "terminated"]


def scale(scene: Scene, replicas: int) -> Manifest:
    return scene.kubernetes.patch("apps/v1", "Deployment", "nginx", {"spec": {"replicas": replicas}})
