"""Rules about nodes and what a pod takes of one: each adds one to a template."""

import random
from collections.abc import Callable, Sequence
from typing import Final

from sandbox.controlplane.client import Object
from tests.kube_scheduler.drafts import REQUIRED, Draft
from tests.kube_scheduler.machines import RACK, ZONES

TIER: Final = "example.com/tier"
DEDICATED: Final = "dedicated"
GPU: Final = "nvidia.com/gpu"
_CORES: Final = "karpenter.k8s.aws/instance-cpu"
_FAMILY: Final = "karpenter.k8s.aws/instance-family"
_ZONE: Final = "topology.kubernetes.io/zone"
_CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
_TYPE: Final = "node.kubernetes.io/instance-type"

#: The names are those of nodes that exist.
NodeRule = Callable[[random.Random, Draft, Sequence[str]], None]


def in_zones(chance: random.Random, draft: Draft, _: Sequence[str]) -> None:
    draft.require_node(_is(_ZONE, "In", *chance.sample(ZONES, chance.choice((1, 2)))))


def select_zone(chance: random.Random, draft: Draft, _: Sequence[str]) -> None:
    draft.spec.setdefault("nodeSelector", {})[_ZONE] = chance.choice(ZONES)


def of_capacity_type(chance: random.Random, draft: Draft, _: Sequence[str]) -> None:
    draft.require_node(_is(_CAPACITY_TYPE, "In", chance.choice(("spot", "on-demand"))))


def on_arm(_: random.Random, draft: Draft, __: Sequence[str]) -> None:
    draft.spec.setdefault("nodeSelector", {})["kubernetes.io/arch"] = "arm64"


def either_or(chance: random.Random, draft: Draft, _: Sequence[str]) -> None:
    one = [_is(_ZONE, "In", chance.choice(ZONES)), _is(_CAPACITY_TYPE, "In", "on-demand")]
    other = [_is(_FAMILY, "In", chance.choice(("c", "m", "r")))]
    terms = [{"matchExpressions": one}, {"matchExpressions": other}]
    draft.spec.setdefault("affinity", {})["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": terms}}


def not_of_family(chance: random.Random, draft: Draft, _: Sequence[str]) -> None:
    draft.require_node(_is(_FAMILY, "NotIn", *chance.sample(("c", "m", "r", "a"), 2)))


def not_without_label(_: random.Random, draft: Draft, __: Sequence[str]) -> None:
    draft.require_node(_is(RACK, "Exists"))


def without_label(_: random.Random, draft: Draft, __: Sequence[str]) -> None:
    draft.require_node(_is(TIER, "DoesNotExist"))


def larger_than(chance: random.Random, draft: Draft, _: Sequence[str]) -> None:
    draft.require_node(_is(_CORES, "Gt", chance.choice(("2", "3"))))


def smaller_than(chance: random.Random, draft: Draft, _: Sequence[str]) -> None:
    draft.require_node(_is(_CORES, "Lt", chance.choice(("5", "8"))))


def of_gold(_: random.Random, draft: Draft, __: Sequence[str]) -> None:
    draft.spec.setdefault("nodeSelector", {})[TIER] = "gold"


def on_one_node(chance: random.Random, draft: Draft, names: Sequence[str]) -> None:
    """matchFields, as the DaemonSet controller writes it; or a large type, where no node is there."""
    if not names:
        draft.require_node(_is(_TYPE, "In", "c.l", "m.l", "a.l"))
        return
    draft.count = min(draft.count, 3)
    term = {"matchFields": [_is("metadata.name", "In", chance.choice(names))]}
    draft.spec.setdefault("affinity", {})["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": [term]}}


RULES: Final[tuple[NodeRule, ...]] = (
    in_zones,
    select_zone,
    of_capacity_type,
    on_arm,
    either_or,
    not_of_family,
    not_without_label,
    without_label,
    larger_than,
    smaller_than,
    of_gold,
    on_one_node,
)


def tolerate(chance: random.Random, draft: Draft) -> None:
    """Every form a toleration has."""
    forms: tuple[Object, ...] = (
        {"key": DEDICATED, "operator": "Equal", "value": "batch", "effect": "NoSchedule"},
        {"key": DEDICATED, "operator": "Exists"},
        {"key": DEDICATED, "value": "batch"},
        {"key": DEDICATED, "operator": "Equal", "value": "web", "effect": "NoSchedule"},
        {"operator": "Exists", "effect": "NoSchedule"},
        {"operator": "Exists"},
    )
    draft.rule("tolerations").append(chance.choice(forms))


def take_port(chance: random.Random, draft: Draft) -> None:
    """A port of the host: one such pod per node."""
    port: Object = {"containerPort": 80, "hostPort": chance.choice((8080, 9100))}
    port |= chance.choice(({}, {}, {"protocol": "UDP"}, {"hostIP": "10.0.0.1"}))
    draft.count = min(draft.count, 6)
    draft.spec["containers"][0]["ports"] = [port]


def want_gpu(draft: Draft) -> None:
    """An extended resource, and the toleration its nodes ask for."""
    draft.count = min(draft.count, 3)
    draft.spec["containers"][0]["resources"].setdefault("limits", {})[GPU] = "1"
    draft.rule("tolerations").append({"key": GPU, "operator": "Exists"})


def _is(key: str, operator: str, *values: str) -> Object:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
