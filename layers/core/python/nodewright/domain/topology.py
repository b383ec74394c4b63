"""Rules between pods: spread, affinity and anti-affinity over a label of nodes.

Selectors are complete here: matchLabelKeys and mismatchLabelKeys are merged into them when a pod is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from nodewright.domain.requirements import Requirements

NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
"""The label that every namespace has."""

Namespaces = Mapping[str, Mapping[str, str]]
"""Labels of each namespace by its name."""


@dataclass(frozen=True, slots=True)
class PodSelector:
    """Which pods a rule counts."""

    labels: Requirements | None
    """Of the pods; empty selects every pod, None no pod at all."""
    namespaces: frozenset[str] = frozenset()
    """By name."""
    namespace_labels: Requirements | None = None
    """Namespaces by label, besides those named; empty selects every namespace, None no more of them."""

    def selects(self, namespace: str, labels: Mapping[str, str], namespaces: Namespaces) -> bool:
        """Whether a pod of these labels counts. A namespace that isn't known has its name's label only."""
        if self.labels is None or not self.labels.admits(labels):
            return False
        return namespace in self.namespaces or self._takes_namespace(namespace, namespaces)

    def _takes_namespace(self, name: str, namespaces: Namespaces) -> bool:
        if self.namespace_labels is None:
            return False
        return self.namespace_labels.admits({NAMESPACE_NAME: name, **namespaces.get(name, {})})


@dataclass(frozen=True, slots=True)
class TopologySpread:
    """One of a pod's topologySpreadConstraints."""

    topology_key: str
    selector: PodSelector
    """In the pod's own namespace."""
    max_skew: int = 1
    min_domains: int = 1
    hard: bool = True
    """DoNotSchedule; else ScheduleAnyway, a preference."""
    honors_affinity: bool = True
    """nodeAffinityPolicy Honor: only nodes that the pod's node selector and affinity allow are domains."""
    honors_taints: bool = False
    """nodeTaintsPolicy Honor: only nodes whose taints the pod tolerates are."""


@dataclass(frozen=True, slots=True)
class PodAffinityTerm:
    """A domain of nodes in which selected pods must be, or must not."""

    topology_key: str
    selector: PodSelector


@dataclass(frozen=True, slots=True)
class Weighted:
    """A preferred term of pod affinity (weight 1–100) or anti-affinity."""

    weight: int
    term: PodAffinityTerm


@dataclass(frozen=True, slots=True)
class PreferredNodes:
    """A preferred node-affinity term."""

    weight: int
    requirements: Requirements


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a pod would like but doesn't need; soft spread constraints are among its `spreads`."""

    nodes: tuple[PreferredNodes, ...] = ()
    affinity: tuple[Weighted, ...] = ()
    anti_affinity: tuple[Weighted, ...] = ()


NO_PREFERENCES: Final = Preferences()
