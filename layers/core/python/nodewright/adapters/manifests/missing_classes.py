"""Pools whose node class isn't in the input: they are planned with default values."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from nodewright.adapters.manifests.configuration import Configuration
from nodewright.application.ports import ManifestWarning
from nodewright.domain.nodeclasses import NodeClass, SelectorTerm
from nodewright.domain.pools import NodePool


def with_classes(configuration: Configuration, refused: Iterable[str]) -> Configuration:
    """Every class that a pool names; `refused`: those that are there, and unusable, by name.

    Such a pool can't buy, and its class's own warnings say why.
    """
    there = {each.name for each in configuration.node_classes} | set(refused)
    pools = {pool.node_class: pool for pool in reversed(configuration.pools) if pool.node_class not in there}
    names = sorted(pools)
    return Configuration(
        configuration.pools,
        (*configuration.node_classes, *(replace(_DEFAULT, name=name) for name in names)),
        (*configuration.warnings, *(_told(name, pools[name]) for name in names)),
    )


_ANY: Final = (SelectorTerm(tags={"*": "*"}),)
_DEFAULT: Final = NodeClass(
    name="",
    ami_family="AL2023",
    ami_terms=(SelectorTerm(alias="al2023@latest"),),
    subnet_terms=_ANY,
    security_group_terms=_ANY,
)
_FIELDS: Final = {"NodePool": "spec.template.spec.nodeClassRef.name", "Provisioner": "spec.providerRef.name"}


def _told(name: str, pool: NodePool) -> ManifestWarning:
    message = (
        f"class {name!r} is not in the input, so it is planned as {_DEFAULT.ami_family} with default values; "
        "add its manifest with -f"
    )
    return ManifestWarning(str(pool), _FIELDS[pool.kind], message)
