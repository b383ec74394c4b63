"""A pod spec's rules between pods and its wishes, completed with what is the pod's own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from nodewright.adapters.manifests.node_affinity import read_preferred_nodes
from nodewright.adapters.manifests.pod_affinity import PodAffinities, read_pod_affinities
from nodewright.adapters.manifests.raw_specs import RawPodSpec
from nodewright.adapters.manifests.topology_spreads import SpreadTemplate, read_spreads
from nodewright.domain.topology import NO_PREFERENCES, PodAffinityTerm, Preferences, PreferredNodes, TopologySpread


@dataclass(frozen=True, slots=True)
class PodRules:
    """Those of one pod."""

    spreads: tuple[TopologySpread, ...] = ()
    affinity: tuple[PodAffinityTerm, ...] = ()
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    preferences: Preferences = NO_PREFERENCES


NO_RULES: Final = PodRules()


@dataclass(frozen=True, slots=True)
class RuleTemplates:
    """Those of a spec, whose selectors lack the pod's own namespace and labels."""

    spreads: tuple[SpreadTemplate, ...]
    pods: PodAffinities
    nodes: tuple[PreferredNodes, ...]

    @property
    def label_keys(self) -> tuple[str, ...]:
        """Labels of a pod that decide on its rules."""
        pods = self.pods
        wished = (each.term for each in (*pods.preferred_affinity, *pods.preferred_anti_affinity))
        terms = (*pods.affinity, *pods.anti_affinity, *wished)
        selectors = (*(each.selector for each in self.spreads), *(each.selector for each in terms))
        return tuple(sorted({key for each in selectors for key in (*each.match_keys, *each.mismatch_keys)}))

    def of(self, namespace: str, labels: Mapping[str, str]) -> PodRules:
        """The rules of a pod of this namespace and these labels."""
        pods = self.pods
        return PodRules(
            spreads=tuple(each.of(namespace, labels) for each in self.spreads),
            affinity=tuple(each.of(namespace, labels) for each in pods.affinity),
            anti_affinity=tuple(each.of(namespace, labels) for each in pods.anti_affinity),
            preferences=Preferences(
                nodes=self.nodes,
                affinity=tuple(each.of(namespace, labels) for each in pods.preferred_affinity),
                anti_affinity=tuple(each.of(namespace, labels) for each in pods.preferred_anti_affinity),
            ),
        )


def read_rules(spec: RawPodSpec) -> tuple[RuleTemplates | None, tuple[str, ...]]:
    """(rules or None where a spec has none, problems)."""
    spreads, unreadable = read_spreads(spec.topology_spread_constraints)
    pods = read_pod_affinities(spec.affinity)
    nodes, unknown = read_preferred_nodes(spec.affinity)
    found = spreads or nodes or pods.affinity or pods.anti_affinity
    wished = pods.preferred_affinity or pods.preferred_anti_affinity
    rules = RuleTemplates(spreads, pods, nodes) if found or wished else None
    return rules, (*unreadable, *pods.problems, *unknown)
