"""NodePools of v1 and v1beta1, told apart field by field: what one has and the other hasn't."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import msgspec

from nodewright.adapters.manifests.constraints import (
    join_requirements,
    read_labels,
    read_limits,
    read_requirements,
    read_taints,
    refuse_repeated_taints,
)
from nodewright.adapters.manifests.disruption import DEFAULT_EXPIRY, Disruption, read_disruption
from nodewright.adapters.manifests.durations import read_duration
from nodewright.adapters.manifests.fields import Fields, Report, metadata_fields, report_on
from nodewright.adapters.manifests.kubelets import read_kubelet
from nodewright.adapters.manifests.own_settings import read_settings
from nodewright.adapters.manifests.pool_readings import (
    PoolReading,
    static_hash,
    with_price_limit,
)
from nodewright.domain.nodeclasses import Kubelet
from nodewright.domain.pools import NodePool

_CLASS_GROUP = "karpenter.k8s.aws"
_CLASS_KIND = "EC2NodeClass"
#: Where Karpenter's own migration to v1 parked the kubelet settings of a pool.
PARKED_KUBELET = "compatibility.karpenter.sh/v1beta1-kubelet-conversion"


def read_pool(raw: Mapping[str, object]) -> PoolReading:
    """One NodePool object."""
    name, report = report_on(raw, "NodePool", "the pool is left out of planning")
    root = Fields(raw, "", report)
    root.known("apiVersion", "kind", "metadata", "status")
    spec = root.child("spec")
    template = spec.child("template")
    node = template.child("spec")
    metadata = metadata_fields(raw)
    annotations = metadata.pairs("annotations")
    disruption = read_disruption(spec)
    pool = NodePool(
        name=name,
        node_class=_node_class(node),
        weight=spec.whole("weight", highest=100) or 0,
        limits=with_price_limit(read_limits(spec, "limits"), annotations, report),
        expire_after=_expire_after(node, disruption, spec),
        termination_grace_period=read_duration(node, "terminationGracePeriod", None),
        settings=read_settings(annotations, report),
        terminating="deletionTimestamp" in metadata,
        consolidation_policy=disruption.consolidation_policy,
        consolidate_after=disruption.consolidate_after,
        budgets=disruption.budgets,
    )
    pool = _with_template(pool, template.child("metadata"), node)
    kubelet = _kubelet(node, annotations, report)
    _check_replicas(spec)
    root.finish()
    return PoolReading(None if report.refused else pool, kubelet, tuple(report.warnings))


def _expire_after(node: Fields, disruption: Disruption, spec: Fields) -> timedelta | None:
    """v1 has it in the template, v1beta1 in the disruption section."""
    if "expireAfter" in node and disruption.expire_after != DEFAULT_EXPIRY:
        spec.warn("disruption.expireAfter", "template.spec.expireAfter counts, and this one is ignored; remove it")
    return read_duration(node, "expireAfter", disruption.expire_after)


def _with_template(pool: NodePool, metadata: Fields, node: Fields) -> NodePool:
    """The pool with what its nodes carry, and the hash of that."""
    labels = read_labels(metadata, "labels")
    taints, startup_taints = read_taints(node, "taints"), read_taints(node, "startupTaints")
    refuse_repeated_taints((*taints, *startup_taints), node)
    _warn_of_resources(node)
    full = replace(
        pool,
        requirements=join_requirements(read_requirements(node, "requirements"), labels, node, "requirements"),
        labels=labels,
        annotations=metadata.pairs("annotations"),
        taints=taints,
        startup_taints=startup_taints,
    )
    return replace(full, hash=static_hash(full))


def _node_class(node: Fields) -> str:
    """The class's name; its group and kind may be missing, but not be another provider's."""
    reference = node.child("nodeClassRef")
    group = reference.text("group") or reference.text("apiVersion").rpartition("/")[0]
    reference.known("apiVersion")
    kind, name = reference.text("kind", _CLASS_KIND), reference.text("name")
    if group not in {"", _CLASS_GROUP} or kind not in {"", _CLASS_KIND}:
        reference.refuse("", f"{kind} of {group or _CLASS_GROUP} is another provider's; refer to an {_CLASS_KIND}")
    elif not name:
        reference.refuse("name", f"no class is named; write the name of an {_CLASS_KIND}")
    return name


def _warn_of_resources(node: Fields) -> None:
    """v1beta1's schema has the field, for claims share it with pools."""
    if "resources" in node:
        node.warn("resources", "it has no effect on a pool, nor has it in Karpenter; remove it")
        node.known("resources")


def _check_replicas(spec: Fields) -> None:
    if "replicas" in spec:
        spec.refuse("replicas", "static capacity is not supported; remove it, and nodes come as pods need them")
        spec.known("replicas")


def _kubelet(node: Fields, annotations: Mapping[str, str], report: Report) -> Kubelet | None:
    if "kubelet" in node:
        return read_kubelet(node.child("kubelet"))
    return _parked_kubelet(annotations[PARKED_KUBELET], report) if PARKED_KUBELET in annotations else None


def _parked_kubelet(text: str, report: Report) -> Kubelet | None:
    path = f"metadata.annotations.{PARKED_KUBELET}"
    try:
        raw: object = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        report.refuse(path, f"it is not JSON ({error}); correct or remove it")
        return None
    fields = Fields(raw, path, report)
    kubelet = read_kubelet(fields)
    fields.finish()
    return kubelet
