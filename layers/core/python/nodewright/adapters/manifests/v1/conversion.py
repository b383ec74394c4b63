"""A set of manifests with its pools and classes as v1; everything else in it stays as it is.

Pools and classes are read together, as planning reads them, because kubelet settings move from pools to
classes. What can't be read is not converted: nobody knows what was meant.
"""

import difflib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from nodewright.adapters.manifests.configuration import (
    Configuration,
    classes_that_count,
    pools_that_count,
    read_configuration,
)
from nodewright.adapters.manifests.fields import metadata_fields
from nodewright.adapters.manifests.generations import is_provisioner
from nodewright.adapters.manifests.pools import PARKED_KUBELET, read_pool
from nodewright.adapters.manifests.provisioners import read_provisioner
from nodewright.adapters.manifests.v1.classes import class_as_v1, template_as_v1
from nodewright.adapters.manifests.v1.metadata import annotated
from nodewright.adapters.manifests.v1.old_names import old_names
from nodewright.adapters.manifests.v1.pools import pool_as_v1
from nodewright.adapters.manifests.v1.values import Json, inside, kubelet_settings, without_nulls
from nodewright.application.ports import ManifestWarning
from nodewright.domain.nodeclasses import Kubelet, NodeClass
from nodewright.domain.pools import NodePool

_POOLS: Final = {("karpenter.sh", "NodePool"), ("karpenter.sh", "Provisioner")}
_CLASSES: Final = {("karpenter.k8s.aws", "EC2NodeClass"), ("karpenter.k8s.aws", "AWSNodeTemplate")}
_KINDS: Final = {kind for _, kind in _POOLS | _CLASSES} | {"NodeClaim", "Machine", "NodeOverlay"}


@dataclass(frozen=True, slots=True)
class Conversion:
    """What came of the documents, in their order."""

    documents: tuple[Json, ...]
    warnings: tuple[ManifestWarning, ...]
    left: tuple[str, ...]
    """Pools and classes of older generations that are as they were, because of what the warnings say of them."""


def convert(documents: Iterable[Mapping[str, object]]) -> Conversion:
    """Kubernetes objects as JSON; a `kind: List` is to be taken apart before."""
    every = [_json(without_nulls(raw)) if _identity(raw) in _POOLS | _CLASSES else dict(raw) for raw in documents]
    pools, outdated_pools = pools_that_count(raw for raw in every if _identity(raw) in _POOLS)
    classes, outdated_classes = classes_that_count(raw for raw in every if _identity(raw) in _CLASSES)
    counted = {id(raw) for raw in (*pools, *classes)}
    read = _read(read_configuration(pools, classes))
    current = [raw for raw in every if id(raw) in counted or _identity(raw) not in _POOLS | _CLASSES]
    warnings = (*outdated_pools, *outdated_classes, *read.warnings)
    return Conversion(
        tuple(made for raw in current for made in _converted(raw, read)),
        (*warnings, *(warning for raw in current for warning in (*_own_warnings(raw, read), *old_names(raw)))),
        tuple(_key(raw) for raw in current if id(raw) in counted and _is_old(raw) and not read.knows(_key(raw))),
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """The configuration, by the object (`NodePool/default`) that each value was read from."""

    pools: Mapping[str, NodePool]
    classes: Mapping[str, Sequence[NodeClass]]
    """The class itself, then its copies."""
    class_names: frozenset[str]
    warnings: tuple[ManifestWarning, ...]

    def knows(self, key: str) -> bool:
        """Whether anything was made of the object."""
        return key in self.pools or key in self.classes

    def is_homeless(self, pool: NodePool) -> bool:
        """Whether the pool's class isn't among the manifests, or is one that can't be read."""
        return pool.node_class not in self.class_names


def _read(configuration: Configuration) -> _Read:
    names = _class_names(configuration.node_classes)
    classes: defaultdict[str, list[NodeClass]] = defaultdict(list)
    for each in configuration.node_classes:
        classes[str(each)].append(replace(each, name=names[each.name]))
    pools = (replace(pool, node_class=names.get(pool.node_class, pool.node_class)) for pool in configuration.pools)
    return _Read({str(p): p for p in pools}, classes, frozenset(names.values()), configuration.warnings)


def _class_names(node_classes: Sequence[NodeClass]) -> dict[str, str]:
    """Names as objects can have them: a class written into a Provisioner has one that none can have."""
    names: dict[str, str] = {each.name: each.name for each in node_classes if "_" not in each.name}
    for each in node_classes:
        name = each.name.replace("_", "-")
        while each.name not in names and name in names.values():
            name += "-1"
        names.setdefault(each.name, name)
    return names


def _converted(raw: Json, read: _Read) -> Iterator[Json]:
    """A class written into a Provisioner stands behind it, a copy behind its original."""
    key = _key(raw)
    if not read.knows(key):
        yield raw
    if key in read.pools:
        yield _pool(raw, read.pools[key], read)
    for node_class in read.classes.get(key, ()):
        yield _class(raw, node_class)


def _pool(raw: Json, pool: NodePool, read: _Read) -> Json:
    """Kubelet settings without a class to go to are parked where Karpenter's own migration parked them."""
    made, kubelet = pool_as_v1(raw, pool), _own_kubelet(raw)
    if kubelet is None or not read.is_homeless(pool):
        return made
    settings = json.dumps(kubelet_settings(kubelet), separators=(",", ":"))
    return {**made, "metadata": annotated(inside(made, "metadata"), PARKED_KUBELET, settings)}


def _class(raw: Json, node_class: NodeClass) -> Json:
    if raw["kind"] == "EC2NodeClass":
        return class_as_v1(raw, node_class)
    if raw["kind"] == "AWSNodeTemplate":
        return template_as_v1(inside(raw, "metadata"), inside(raw, "spec"), node_class)
    return template_as_v1({}, inside(raw, "spec", "provider"), node_class)


def _own_warnings(raw: Json, read: _Read) -> Iterator[ManifestWarning]:
    """What has to be done by hand."""
    group, kind = _identity(raw)
    if "karpenter" in group and kind not in _KINDS:
        yield ManifestWarning(_key(raw), "kind", f"{group} has no such kind, so it is left as it is; {_meant(kind)}")
    pool = read.pools.get(_key(raw))
    if pool and read.is_homeless(pool) and _own_kubelet(raw) is not None:
        yield ManifestWarning(
            str(pool),
            f"metadata.annotations.{PARKED_KUBELET}",
            f"EC2NodeClass {pool.node_class!r} is not among these manifests or can't be read, so the kubelet settings"
            " are kept here; convert both together, or move them to its spec.kubelet",
        )
    for node_class in read.classes.get(_key(raw), ()):
        if raw["kind"] != "EC2NodeClass" and not node_class.instance_profile:
            yield ManifestWarning(
                str(node_class),
                node_class.path("spec.instanceProfile"),
                "there is none, so nodes get the stack's own; for use with Karpenter add a role or instanceProfile",
            )


def _meant(kind: str) -> str:
    near = difflib.get_close_matches(kind, sorted(_KINDS), 1)
    return f"did you mean {near[0]}?" if near else "correct or remove it"


def _is_old(raw: Json) -> bool:
    return _identity(raw)[1] in {"Provisioner", "AWSNodeTemplate"} or not str(raw.get("apiVersion")).endswith("/v1")


def _own_kubelet(raw: Json) -> Kubelet | None:
    """Of a pool's manifest."""
    return (read_provisioner(raw) if is_provisioner(raw) else read_pool(raw)).kubelet


def _identity(raw: Mapping[str, object]) -> tuple[str, str]:
    """(API group, kind)."""
    return str(raw.get("apiVersion")).partition("/")[0], str(raw.get("kind"))


def _key(raw: Mapping[str, object]) -> str:
    return f"{raw.get('kind', '')}/{metadata_fields(raw).text('name')}"


def _json(value: object) -> Json:
    return value if isinstance(value, dict) else {}
