"""Node pools: which nodes may be bought, and with what on them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.taints import Taint


@dataclass(frozen=True, slots=True)
class NodePool:
    """One NodePool, whatever generation its manifest was of."""

    name: str
    node_class: str
    """Name of its EC2NodeClass."""
    requirements: Requirements = Requirements()
    """The template's requirements and labels together."""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    weight: int = 0
    limits: Resources | None = None
    """None: unlimited. A resource it doesn't name is unlimited. `nodes` counts nodes."""
    expire_after: timedelta | None = None
    termination_grace_period: timedelta | None = None
    hash: str = ""
    """Of the static template fields, karpenter-behaviour §1.6 (annotation karpenter.sh/nodepool-hash)."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Annotations `nodewright.dev/…` of the pool itself."""
    terminating: bool = False
