"""Nodes of two vCPUs with one pod each, as many as asked for: what interruptions and state are measured on."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.world import World

# A Kubernetes object: JSON as it comes.
Object = dict[str, Any]

NODE_CLASS = Path(__file__).parents[1] / "sandbox/seeds/one/ec2nodeclass.yaml"
PATIENCE_SECONDS = 420.0

POOL: Object = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "one-pod-a-node"},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                "requirements": [
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
                    {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64", "amd64"]},
                    {"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": ["c", "m", "r", "t"]},
                    {"key": "karpenter.k8s.aws/instance-cpu", "operator": "In", "values": ["2"]},
                ],
            }
        },
        # Nothing but what is measured ends a node.
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
    },
}


def launch(world: World, nodes: int) -> None:
    """From zero to so many nodes, each with its pod running."""
    world.reset()
    world.control_plane.client.apply(NODE_CLASS.read_text(), POOL, _deployment(nodes))
    until(lambda: running(world) == nodes, f"{nodes} pods to run")


def running(world: World) -> int:
    """Pods that run and aren't on their way out."""
    pods = world.control_plane.client.objects("v1", "Pod", "default")
    return sum(pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"] for pod in pods)


def until(done: Callable[[], bool], what: str, pause: float = 0.5) -> None:
    """Ends the benchmark where it takes too long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not done():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {PATIENCE_SECONDS:.0f} s for {what}")
        time.sleep(pause)


def _deployment(replicas: int) -> Object:
    """More than half of a node's processors each."""
    labels = {"app": "one-pod-a-node"}
    container = {"name": "main", "image": "nginx", "resources": {"requests": {"cpu": "1100m", "memory": "128Mi"}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "one-pod-a-node"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }
