"""What pods request, in every way a spec can say it."""

import random
from typing import Final

from sandbox.controlplane.client import Object
from tests.kube_scheduler.drafts import Draft

RUNTIME: Final = "sandboxed"
_OVERHEAD: Final = (100, 64)
_IMAGE: Final = "registry.k8s.io/pause:3.10"
#: Millicores and MiB of a main container.
_SIZES: Final = ((50, 64), (100, 128), (250, 256), (250, 1024), (500, 512), (500, 2048), (1000, 1024), (1500, 3072))


def request(chance: random.Random, draft: Draft) -> None:
    """One container, and some of: init container, sidecar, overhead, resources of the pod as a whole."""
    cpu, memory = chance.choice(_SIZES)
    draft.spec["containers"] = [container(cpu, memory)]
    draft.cpu, draft.memory = cpu, memory
    if chance.random() < 0.2:
        _add_init(draft, "prepare", cpu * 2, memory // 2)
    if chance.random() < 0.2:
        _add_init(draft, "proxy", 50, 64, restartPolicy="Always")
    if chance.random() < 0.15:
        draft.cpu, draft.memory = draft.cpu + 100, draft.memory + 128
        draft.spec["resources"] = {"requests": {"cpu": f"{draft.cpu}m", "memory": f"{draft.memory}Mi"}}
    if chance.random() < 0.15:
        draft.spec["runtimeClassName"] = RUNTIME
        draft.cpu, draft.memory = draft.cpu + _OVERHEAD[0], draft.memory + _OVERHEAD[1]


def runtime_class() -> Object:
    """The API server takes overhead from here."""
    cpu, memory = _OVERHEAD
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": RUNTIME},
        "handler": RUNTIME,
        "overhead": {"podFixed": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}},
    }


def container(cpu: int, memory: int, name: str = "main") -> Object:
    """Millicores and MiB."""
    requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    return {"name": name, "image": _IMAGE, "resources": {"requests": requests}}


def _add_init(draft: Draft, name: str, cpu: int, memory: int, **more: str) -> None:
    draft.rule("initContainers").append({**container(cpu, memory, name), **more})
    draft.cpu, draft.memory = draft.cpu + cpu, draft.memory + memory
