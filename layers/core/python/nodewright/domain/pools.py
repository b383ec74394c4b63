"""Node pools: which nodes may be bought, and with what on them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.taints import Taint

ConsolidationPolicy = Literal["WhenEmpty", "WhenEmptyOrUnderutilized"]


@dataclass(frozen=True, slots=True)
class DisruptionBudget:
    """How much of a pool may be disrupted at once, as it was written (karpenter-behaviour §1.4)."""

    nodes: str = "10%"
    """A number of nodes or a percentage of the pool."""
    schedule: str = ""
    """Cron or `@daily` and the like, UTC; empty: always."""
    duration: timedelta | None = None
    """How long from each hit of the schedule; None without one."""
    reasons: tuple[str, ...] = ()
    """Underutilized, Empty, Drifted; none named means all."""


@dataclass(frozen=True, slots=True)
class NodePool:
    """One NodePool, whatever generation and kind its manifest was of."""

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
    consolidation_policy: ConsolidationPolicy = "WhenEmptyOrUnderutilized"
    consolidate_after: timedelta | None = timedelta(0)
    """Since a node's last pod came or went; None: neither emptiness nor consolidation."""
    budgets: tuple[DisruptionBudget, ...] = (DisruptionBudget(),)
    """All that are active hold together; none at all is no bound."""
    kind: Literal["NodePool", "Provisioner"] = "NodePool"
    """Of its manifest, for whoever is to correct it."""

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}"
