"""Node pools of generated clusters, and what a node of one carries."""

import random
from collections.abc import Callable, Mapping
from typing import Final

from nodewright.domain.catalogue import InstanceType, Offering
from sandbox.controlplane.client import Object
from tests.kube_scheduler.machines import RACK, RACKS
from tests.kube_scheduler.node_rules import DEDICATED, GPU, TIER
from tests.kube_scheduler.pod_rules import CAPACITY_TYPE, ZONE
from tests.kube_scheduler.storage import CSI_ZONE


def draw_pools(chance: random.Random) -> list[Object]:
    """A general one, and two or three others; weights say which goes first."""
    others = chance.sample((_racked, _batch, gold, _gpu, _small), chance.choice((2, 2, 3)))
    return [make(chance) for make in (_general, *others)]


def gold(chance: random.Random) -> Object:
    """Whoever selects the label gets on-demand nodes."""
    return _pool(chance, "gold", [_in(CAPACITY_TYPE, "on-demand")], labels={TIER: "gold"})


def zone_labels(of: InstanceType, offering: Offering) -> dict[str, str]:
    """What the cloud and its CSI driver put on a node."""
    return {
        ZONE: offering.zone,
        CSI_ZONE: offering.zone,
        CAPACITY_TYPE: offering.capacity_type,
        "node.kubernetes.io/instance-type": of.name,
    }


def own_labels(chance: random.Random, pool: Object) -> dict[str, str]:
    """What a node of the pool has besides: its template's labels, a rack where it has some."""
    template = pool["spec"]["template"]
    racks = [r["values"] for r in template["spec"]["requirements"] if r["key"] == RACK]
    labels: Mapping[str, str] = template["metadata"]["labels"]
    chosen = {RACK: chance.choice(racks[0])} if racks else {}
    return {**labels, **chosen, "karpenter.sh/nodepool": pool["metadata"]["name"]}


def _general(chance: random.Random) -> Object:
    kinds = chance.choice((["spot", "on-demand"], ["spot", "on-demand"], ["on-demand"]))
    requirements = [_in(CAPACITY_TYPE, *kinds)]
    if chance.random() < 0.4:
        requirements.append(_in("kubernetes.io/arch", "amd64"))
    return _pool(chance, "general", requirements)


def _racked(chance: random.Random) -> Object:
    racks = chance.choice((RACKS, RACKS, RACKS[:2]))
    return _pool(chance, "racked", [_in(RACK, *racks)])


def _batch(chance: random.Random) -> Object:
    taint = {"key": DEDICATED, "value": "batch", "effect": chance.choice(("NoSchedule", "NoExecute"))}
    return _pool(chance, "batch", [_in(CAPACITY_TYPE, "spot")], taints=[taint])


def _gpu(chance: random.Random) -> Object:
    family = _in("karpenter.k8s.aws/instance-family", "g")
    return _pool(chance, "gpu", [family], taints=[{"key": GPU, "value": "true", "effect": "NoSchedule"}])


def _small(chance: random.Random) -> Object:
    cores: Object = {"key": "karpenter.k8s.aws/instance-cpu", "operator": "Lt", "values": ["5"]}
    return _pool(chance, "small", [cores], weight=chance.choice((20, 100)), limits={"cpu": chance.choice(("8", "16"))})


#: Draws a pool.
PoolMaker = Callable[[random.Random], Object]
WEIGHTS: Final = (None, None, 10, 50)


def _pool(chance: random.Random, name: str, requirements: list[Object], **more: object) -> Object:
    weight = more.get("weight") or chance.choice(WEIGHTS)
    node = {
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
        "requirements": requirements,
        "taints": more.get("taints", []),
    }
    template = {"metadata": {"labels": more.get("labels", {})}, "spec": node}
    spec: Object = {"template": template, "disruption": {"consolidateAfter": "Never"}}
    spec |= {"weight": weight} if weight else {}
    spec |= {"limits": more["limits"]} if "limits" in more else {}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": spec}


def _in(key: str, *values: str) -> Object:
    return {"key": key, "operator": "In", "values": list(values)}
