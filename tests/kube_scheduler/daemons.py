"""DaemonSets, and the pods they put on a node: nothing else creates those here."""

import random
from collections.abc import Iterator, Sequence
from typing import Final

from sandbox.controlplane.client import Object
from tests.kube_scheduler.containers import container

NAMESPACE: Final = "red"
PORT: Final = 9100
_EVERYWHERE: Final[list[Object]] = [{"operator": "Exists"}]


def draw_daemon_sets(chance: random.Random) -> list[Object]:
    """Up to three kinds of them."""
    kinds = (_everywhere, _amd_only, _untolerant, _with_port)
    return [make(chance) for make in chance.sample(kinds, chance.choice((0, 1, 1, 2, 3)))]


def pods_for(node: Object, daemon_sets: Sequence[Object]) -> Iterator[Object]:
    """Bound already: the pods of those DaemonSets that run on such a node."""
    return (_pod(each, node) for each in daemon_sets if _runs_on(each, node))


def _runs_on(daemon_set: Object, node: Object) -> bool:
    spec = daemon_set["spec"]["template"]["spec"]
    labels = node["metadata"]["labels"]
    selected = all(labels.get(key) == value for key, value in spec.get("nodeSelector", {}).items())
    return selected and bool(spec.get("tolerations") or not node["spec"]["taints"])


def _pod(daemon_set: Object, node: Object) -> Object:
    name, host = daemon_set["metadata"]["name"], node["metadata"]["name"]
    template = daemon_set["spec"]["template"]
    owner = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": name,
        "uid": f"uid-{name}",
        "controller": True,
    }
    metadata = {"name": f"{name}-{host}", "namespace": NAMESPACE, "labels": template["metadata"]["labels"]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "ownerReferences": [owner]},
        "spec": {**template["spec"], "nodeName": host},
    }


def _everywhere(chance: random.Random) -> Object:
    return _daemon_set("everywhere", chance.choice((50, 200)), 128, tolerations=_EVERYWHERE)


def _amd_only(chance: random.Random) -> Object:
    selector = {"kubernetes.io/arch": "amd64"}
    return _daemon_set("amd-only", chance.choice((100, 300)), 256, tolerations=_EVERYWHERE, nodeSelector=selector)


def _untolerant(_: random.Random) -> Object:
    return _daemon_set("untolerant", 150, 300)


def _with_port(_: random.Random) -> Object:
    made = _daemon_set("with-port", 50, 64, tolerations=_EVERYWHERE)
    made["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"containerPort": PORT, "hostPort": PORT}]
    return made


def _daemon_set(name: str, cpu: int, memory: int, **more: object) -> Object:
    labels = {"app": name, "tier": "back"}
    spec = {"containers": [container(cpu, memory)], **more}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }
