"""Provisioners of v1alpha5 (karpenter-behaviour §3.3)."""

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta

from nodewright.adapters.manifests.constraints import (
    join_requirements,
    read_labels,
    read_limits,
    read_requirements,
    read_taints,
    refuse_repeated_taints,
)
from nodewright.adapters.manifests.fields import Fields, metadata_fields, report_on
from nodewright.adapters.manifests.kubelets import read_kubelet
from nodewright.adapters.manifests.node_templates import read_template_spec
from nodewright.adapters.manifests.own_settings import read_settings
from nodewright.adapters.manifests.pool_readings import (
    PoolReading,
    static_hash,
    with_price_limit,
)
from nodewright.domain import nodes
from nodewright.domain.labels import AWS_DOMAIN
from nodewright.domain.nodeclasses import NodeClass
from nodewright.domain.pools import ConsolidationPolicy, DisruptionBudget, NodePool
from nodewright.domain.requirements import Operator, Requirement, Requirements

_CLASS_KINDS = frozenset({"", "AWSNodeTemplate", "EC2NodeClass"})
Entry = tuple[str, Operator, tuple[str, ...]]
# Karpenter's admission webhook wrote these into every Provisioner that says nothing of the key.
_DEFAULTS: tuple[Entry, ...] = (
    (nodes.OS_LABEL, "In", ("linux",)),
    (nodes.ARCH_LABEL, "In", ("amd64",)),
    (nodes.CAPACITY_TYPE_LABEL, "In", ("on-demand",)),
)
_CATEGORY, _GENERATION = f"{AWS_DOMAIN}/instance-category", f"{AWS_DOMAIN}/instance-generation"
_TYPE_KEYS = frozenset({nodes.INSTANCE_TYPE_LABEL, f"{AWS_DOMAIN}/instance-family", _CATEGORY, _GENERATION})
_DEFAULT_TYPES: tuple[Entry, ...] = ((_CATEGORY, "In", ("c", "m", "r")), (_GENERATION, "Gt", ("2",)))
# A node of a Provisioner wasn't replaced because its Provisioner changed. Other budgets didn't exist;
# Karpenter's default of later comes nearest to its one node at a time.
_BUDGETS = (DisruptionBudget(), DisruptionBudget("0", reasons=("Drifted",)))


def read_provisioner(raw: Mapping[str, object]) -> PoolReading:
    """One Provisioner object, as the NodePool that does the same."""
    metadata = metadata_fields(raw)
    annotations = metadata.pairs("annotations")
    name, report = report_on(raw, "Provisioner", "the pool is left out of planning")
    root = Fields(raw, "", report)
    root.known("apiVersion", "kind", "metadata", "status")
    spec = root.child("spec")
    written_in = _written_in(spec, name, report.object)
    policy, after = _consolidation(spec)
    pool = NodePool(
        name=name,
        node_class=written_in.name if written_in else _named_class(spec),
        weight=spec.whole("weight", highest=100) or 0,
        limits=with_price_limit(read_limits(spec.child("limits"), "resources"), annotations, report),
        expire_after=_seconds(spec, "ttlSecondsUntilExpired"),
        settings=read_settings(annotations, report),
        terminating="deletionTimestamp" in metadata,
        consolidation_policy=policy,
        consolidate_after=after,
        budgets=_BUDGETS,
        kind="Provisioner",
    )
    pool = _with_nodes(pool, spec)
    kubelet = read_kubelet(spec.child("kubeletConfiguration")) if "kubeletConfiguration" in spec else None
    root.finish()
    if report.refused:
        return PoolReading(None, kubelet, tuple(report.warnings))
    return PoolReading(pool, kubelet, tuple(report.warnings), written_in)


def implied_requirements(asked: Collection[str]) -> Iterator[Entry]:
    """(key, operator, values) of what the webhook would have added, given the keys of requirements and labels."""
    yield from (entry for entry in _DEFAULTS if entry[0] not in asked)
    if _TYPE_KEYS.isdisjoint(asked):
        yield from _DEFAULT_TYPES


def _with_nodes(pool: NodePool, spec: Fields) -> NodePool:
    """The pool with what its nodes are and carry, and the hash of the latter."""
    labels = read_labels(spec, "labels")
    taints, startup_taints = read_taints(spec, "taints"), read_taints(spec, "startupTaints")
    refuse_repeated_taints((*taints, *startup_taints), spec)
    asked = join_requirements(read_requirements(spec, "requirements"), labels, spec, "requirements")
    full = replace(
        pool,
        requirements=Requirements((*asked.values(), *itertools.starmap(Requirement.of, implied_requirements(asked)))),
        labels=labels,
        annotations=spec.pairs("annotations"),
        taints=taints,
        startup_taints=startup_taints,
    )
    return replace(full, hash=static_hash(full))


def _written_in(spec: Fields, name: str, source: str) -> NodeClass | None:
    """The class that stands in the Provisioner itself. No object can have its name: they take no underscore."""
    if "provider" not in spec:
        return None
    if "providerRef" in spec:
        spec.refuse("provider", "provider and providerRef exclude each other; remove one")
        spec.known("providerRef")
    return read_template_spec(spec.child("provider"), f"{name}_provider", source)


def _named_class(spec: Fields) -> str:
    reference = spec.child("providerRef")
    reference.known("apiVersion")
    kind, name = reference.text("kind"), reference.text("name")
    if kind not in _CLASS_KINDS:
        reference.refuse("kind", f"{kind} is another provider's; refer to an AWSNodeTemplate")
    elif not name:
        reference.refuse("name", "no template is named; write the name of an AWSNodeTemplate")
    return name


def _consolidation(spec: Fields) -> tuple[ConsolidationPolicy, timedelta | None]:
    """Neither consolidation nor a time for empty nodes: they stay."""
    enabled = spec.child("consolidation").flag("enabled") or False
    empty_for = _seconds(spec, "ttlSecondsAfterEmpty")
    if enabled and empty_for is not None:
        spec.warn(
            "ttlSecondsAfterEmpty",
            "it and consolidation.enabled exclude each other, so only empty nodes go; remove one of them",
        )
    if enabled and empty_for is None:
        return "WhenEmptyOrUnderutilized", timedelta(0)
    return "WhenEmpty", empty_for


def _seconds(spec: Fields, name: str) -> timedelta | None:
    """None where it is absent: never."""
    seconds = spec.whole(name)
    return None if seconds is None else timedelta(seconds=seconds)
