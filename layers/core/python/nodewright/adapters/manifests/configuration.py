"""A cluster's whole configuration: pools and classes read together.

v1beta1 keeps kubelet settings on pools, the domain on classes. Where pools that share a class differ
in them the class is split, one copy per pool.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nodewright.adapters.manifests.nodeclasses import read_node_class
from nodewright.adapters.manifests.pools import PoolReading, read_pool
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
    """NodePool and EC2NodeClass objects of any generation, as JSON."""
    pool_readings = [read_pool(raw) for raw in pools]
    class_readings = [read_node_class(raw) for raw in node_classes]
    usable = [reading for reading in pool_readings if reading.pool is not None]
    classes = {reading.node_class.name: reading.node_class for reading in class_readings if reading.node_class}
    split = [_split(node_class, _pools_of(usable, name)) for name, node_class in sorted(classes.items())]
    homeless = [r.pool for r in usable if r.pool and r.pool.node_class not in classes]
    found = (*(r.warnings for r in pool_readings), *(r.warnings for r in class_readings), *(s.warnings for s in split))
    return Configuration(
        pools=tuple(sorted([*homeless, *(p for part in split for p in part.pools)], key=lambda pool: pool.name)),
        node_classes=tuple(node_class for part in split for node_class in part.node_classes),
        warnings=tuple(itertools.chain.from_iterable(found)),
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
    copy = replace(node_class, name=f"{node_class.name}.{pool.name}", kubelet=kubelet)
    return replace(pool, node_class=copy.name), copy


def _differing(node_class: NodeClass, copies: Sequence[str]) -> ManifestWarning:
    return ManifestWarning(
        f"EC2NodeClass/{node_class.name}",
        "spec.kubelet",
        f"its NodePools ask for different kubelet settings, so copies of it are used: {', '.join(copies)}; "
        "write one class for each instead",
    )
