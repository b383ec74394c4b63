"""A cluster's whole configuration: pools and classes read together.

v1beta1 and v1alpha5 keep kubelet settings on pools, the domain on classes. Where pools that share a
class differ in them the class is split, one copy per pool.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nodewright.adapters.manifests.fields import metadata_fields
from nodewright.adapters.manifests.generations import is_node_template, is_provisioner
from nodewright.adapters.manifests.node_templates import read_node_template
from nodewright.adapters.manifests.nodeclasses import NodeClassReading, read_node_class
from nodewright.adapters.manifests.pool_readings import PoolReading
from nodewright.adapters.manifests.pools import read_pool
from nodewright.adapters.manifests.provisioners import read_provisioner
from nodewright.application.ports import ManifestWarning
from nodewright.domain.nodeclasses import Kubelet, NodeClass
from nodewright.domain.pools import NodePool


@dataclass(frozen=True, slots=True)
class Configuration:
    """Pools and classes that can be used, sorted by name, and what was wrong with the rest."""

    pools: tuple[NodePool, ...]
    node_classes: tuple[NodeClass, ...]
    warnings: tuple[ManifestWarning, ...] = ()


def read_configuration(
    pools: Iterable[Mapping[str, object]], node_classes: Iterable[Mapping[str, object]]
) -> Configuration:
    """NodePools and Provisioners, EC2NodeClasses and AWSNodeTemplates of any generation, as JSON."""
    current_pools, outdated_pools = pools_that_count(pools)
    current_classes, outdated_classes = classes_that_count(node_classes)
    pool_readings = [read_provisioner(raw) if is_provisioner(raw) else read_pool(raw) for raw in current_pools]
    class_readings = [_read_class(raw) for raw in current_classes]
    every: list[PoolReading | NodeClassReading] = [*pool_readings, *class_readings]
    return _joined(
        [reading for reading in pool_readings if reading.pool is not None],
        [reading.node_class for reading in every if reading.node_class is not None],
        (*outdated_pools, *outdated_classes, *itertools.chain.from_iterable(reading.warnings for reading in every)),
    )


def pools_that_count(raws: Iterable[Mapping[str, object]]) -> tuple[list[Mapping[str, object]], list[ManifestWarning]]:
    """Without those that another manifest of their name supersedes, and what is said of these."""
    return _newest(raws, is_provisioner, ("NodePool", "Provisioner"))


def classes_that_count(
    raws: Iterable[Mapping[str, object]],
) -> tuple[list[Mapping[str, object]], list[ManifestWarning]]:
    """The same of classes."""
    return _newest(raws, is_node_template, ("EC2NodeClass", "AWSNodeTemplate"))


def _read_class(raw: Mapping[str, object]) -> NodeClassReading:
    return read_node_template(raw) if is_node_template(raw) else read_node_class(raw)


def _newest(
    raws: Iterable[Mapping[str, object]], is_old: Callable[[Mapping[str, object]], bool], kinds: tuple[str, str]
) -> tuple[list[Mapping[str, object]], list[ManifestWarning]]:
    """Without objects of the old kind that have a namesake of the new one: somebody is moving over."""
    new_kind, old_kind = kinds
    every, repeated = _last_of_each(list(raws), is_old, kinds)
    new, old = [raw for raw in every if not is_old(raw)], [raw for raw in every if is_old(raw)]
    names = {_name(raw) for raw in new}
    reason = f"the {new_kind} of this name counts, and this {old_kind} is ignored; delete it, or rename one of them"
    outdated = [name for raw in old if (name := _name(raw)) in names]
    warnings = [ManifestWarning(f"{old_kind}/{name}", "metadata.name", reason) for name in outdated]
    return [*new, *(raw for raw in old if _name(raw) not in outdated)], [*repeated, *warnings]


def _last_of_each(
    raws: Sequence[Mapping[str, object]], is_old: Callable[[Mapping[str, object]], bool], kinds: tuple[str, str]
) -> tuple[list[Mapping[str, object]], list[ManifestWarning]]:
    """Of manifests for one object the last, as `kubectl apply` would have it; an API server never has two."""
    last = {(is_old(raw), _name(raw)): raw for raw in raws}
    told = Counter((is_old(raw), _name(raw)) for raw in raws)
    reason = "it is written more than once, and only the last counts; remove the others"
    return list(last.values()), [
        ManifestWarning(f"{kinds[old]}/{name}", "metadata.name", reason)
        for (old, name), times in told.items()
        if times > 1
    ]


def _name(raw: Mapping[str, object]) -> str:
    return metadata_fields(raw).text("name")


def _joined(
    readings: Sequence[PoolReading], node_classes: Iterable[NodeClass], warnings: Iterable[ManifestWarning]
) -> Configuration:
    """Pools with the kubelet settings that are theirs moved to their classes."""
    classes = {node_class.name: node_class for node_class in node_classes}
    split = [_split(node_class, _pools_of(readings, name)) for name, node_class in sorted(classes.items())]
    homeless = [r.pool for r in readings if r.pool and r.pool.node_class not in classes]
    return Configuration(
        pools=tuple(sorted([*homeless, *(p for part in split for p in part.pools)], key=lambda pool: pool.name)),
        node_classes=tuple(node_class for part in split for node_class in part.node_classes),
        warnings=(*warnings, *(warning for part in split for warning in part.warnings)),
    )


def _pools_of(readings: Sequence[PoolReading], node_class: str) -> list[tuple[NodePool, Kubelet | None]]:
    return [(r.pool, r.kubelet) for r in readings if r.pool and r.pool.node_class == node_class]


def _split(node_class: NodeClass, pools: Sequence[tuple[NodePool, Kubelet | None]]) -> Configuration:
    """One class with its pools: settings they agree on are the class's, else who differs gets a copy."""
    settings = [kubelet or node_class.kubelet for _, kubelet in pools]
    if all(kubelet == settings[0] for kubelet in settings):
        merged = replace(node_class, kubelet=settings[0]) if settings else node_class
        return Configuration(tuple(pool for pool, _ in pools), (merged,))
    parts = [_own_copy(node_class, pool, kubelet) for (pool, _), kubelet in zip(pools, settings, strict=True)]
    return Configuration(
        pools=tuple(pool for pool, _ in parts),
        node_classes=(node_class, *(copy for _, copy in parts if copy)),
        warnings=(_differing(node_class, [copy.name for _, copy in parts if copy]),),
    )


def _own_copy(node_class: NodeClass, pool: NodePool, kubelet: Kubelet) -> tuple[NodePool, NodeClass | None]:
    if kubelet == node_class.kubelet:
        return pool, None
    copy = replace(node_class, name=f"{node_class.name}.{pool.name}", kubelet=kubelet, source=str(node_class))
    return replace(pool, node_class=copy.name), copy


def _differing(node_class: NodeClass, copies: Sequence[str]) -> ManifestWarning:
    return ManifestWarning(
        str(node_class),
        "spec.kubelet",
        f"its pools ask for different kubelet settings, so copies of it are used: {', '.join(copies)}; "
        "write one class for each instead",
    )
