"""NodePools of v1 out of NodePools of v1beta1 and Provisioners (karpenter-behaviour §3.1, §3.3)."""

from collections.abc import Mapping
from typing import Final

from nodewright.adapters.manifests.disruption import DEFAULT_EXPIRY
from nodewright.adapters.manifests.provisioners import implied_requirements
from nodewright.adapters.manifests.v1.metadata import written
from nodewright.adapters.manifests.v1.values import Json, duration, given, inside, listed
from nodewright.domain.labels import normalise_key
from nodewright.domain.pools import DisruptionBudget, NodePool

_POLICIES: Final = {"WhenUnderutilized": "WhenEmptyOrUnderutilized"}


def pool_as_v1(raw: Mapping[str, object], pool: NodePool) -> Json:
    """`pool` is what the manifest was read as; its kubelet settings aren't in the result."""
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": written(inside(raw, "metadata"), pool.name),
        "spec": _from_provisioner(raw, pool) if pool.kind == "Provisioner" else _from_pool(raw, pool),
    }


def _from_pool(raw: Mapping[str, object], pool: NodePool) -> Json:
    spec, section = inside(raw, "spec"), inside(raw, "spec", "disruption")
    node = inside(spec, "template", "spec")
    node["nodeClassRef"] = _class_reference(pool)
    node |= given(requirements=_requirements(listed(node, "requirements")), expireAfter=_expiry(node, pool))
    for name in ("kubelet", "resources"):
        node.pop(name, None)
    spec["template"] = {**inside(spec, "template"), "spec": node}
    if not section:
        spec.pop("disruption", None)
    return spec | given(disruption=_disruption(section))


def _expiry(node: Mapping[str, object], pool: NodePool) -> object:
    """Only where it isn't v1's default anyway."""
    return node.get("expireAfter") or (None if pool.expire_after == DEFAULT_EXPIRY else duration(pool.expire_after))


def _disruption(section: Json) -> Json:
    """v1 wants consolidateAfter said once there is a section; what v1beta1 meant without it is at once."""
    if not section:
        return {}
    text = section.get("consolidationPolicy")
    policy = {} if text is None else {"consolidationPolicy": _POLICIES.get(str(text), text)}
    others = {name: value for name, value in section.items() if name not in {"consolidationPolicy", "expireAfter"}}
    return {**policy, "consolidateAfter": "0s", **others}


def _from_provisioner(raw: Mapping[str, object], pool: NodePool) -> Json:
    spec = inside(raw, "spec")
    requirements = _requirements(listed(spec, "requirements"))
    node = given(
        nodeClassRef=_class_reference(pool),
        requirements=[*requirements, *_implied(requirements, pool)],
        taints=_taints(spec, "taints"),
        startupTaints=_taints(spec, "startupTaints"),
        expireAfter=duration(pool.expire_after),
    )
    metadata = given(labels=dict(pool.labels), annotations=dict(pool.annotations))
    limits = inside(spec, "limits").get("resources")
    return {
        "template": {**given(metadata=metadata), "spec": node},
        "disruption": {
            "consolidationPolicy": pool.consolidation_policy,
            "consolidateAfter": duration(pool.consolidate_after),
            "budgets": [_budget(each) for each in pool.budgets],
        },
        **({} if limits is None else {"limits": limits}),
        **given(weight=pool.weight or None),
    }


def _class_reference(pool: NodePool) -> Json:
    return {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": pool.node_class}


def _requirements(entries: list[Json]) -> list[Json]:
    """Under the names that keys have today."""
    return [{**entry, "key": normalise_key(key) if isinstance(key := entry["key"], str) else key} for entry in entries]


def _implied(entries: list[Json], pool: NodePool) -> list[Json]:
    """What v1alpha5 added by itself and v1 doesn't."""
    asked = {str(entry["key"]) for entry in entries} | {normalise_key(key) for key in pool.labels}
    return [{"key": key, "operator": op, "values": list(values)} for key, op, values in implied_requirements(asked)]


def _taints(spec: Mapping[str, object], name: str) -> list[Json]:
    return [{field: value for field, value in taint.items() if field != "timeAdded"} for taint in listed(spec, name)]


def _budget(budget: DisruptionBudget) -> Json:
    return {"nodes": budget.nodes} | given(reasons=list(budget.reasons))
