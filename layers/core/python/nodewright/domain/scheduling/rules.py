"""Hard rules between pods: each once, however many pods have it (kube-scheduler's PodTopologySpread and
InterPodAffinity, 1.37).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from nodewright.domain import nodes
from nodewright.domain.pods import Pod
from nodewright.domain.requirements import Requirements
from nodewright.domain.taints import Toleration
from nodewright.domain.topology import PodAffinityTerm, PodSelector


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Which nodes a spread counts (nodeAffinityPolicy, nodeTaintsPolicy); None: it doesn't look at that."""

    alternatives: tuple[Requirements, ...] | None = None
    tolerations: tuple[Toleration, ...] | None = None


@dataclass(frozen=True, slots=True)
class SpreadRule:
    """No domain may have more than `max_skew` more selected pods than the one that has least."""

    key: str
    selector: PodSelector
    max_skew: int
    min_domains: int
    keys: frozenset[str]
    """Of all hard spreads of its pods: a node that lacks one of them isn't counted in any."""
    nodes: NodeFilter


@dataclass(frozen=True, slots=True)
class AffinityRule:
    """In each term's domain there must be a pod that all the terms select."""

    terms: tuple[PodAffinityTerm, ...]


@dataclass(frozen=True, slots=True)
class RepulsionRule:
    """No selected pod in the domain of a pod that has this rule, nor the other way round."""

    term: PodAffinityTerm


Rule = SpreadRule | AffinityRule | RepulsionRule


def rules_of(pod: Pod) -> Iterator[Rule]:
    """The hard rules a pod has itself."""
    hard = [spread for spread in pod.spreads if spread.hard]
    keys = frozenset(spread.topology_key for spread in hard)
    for spread in hard:
        counted = NodeFilter(
            pod.alternatives if spread.honors_affinity else None, pod.tolerations if spread.honors_taints else None
        )
        yield SpreadRule(spread.topology_key, spread.selector, spread.max_skew, spread.min_domains, keys, counted)
    if pod.affinity:
        yield AffinityRule(pod.affinity)
    yield from map(RepulsionRule, pod.anti_affinity)


def topology_keys(rule: Rule) -> tuple[str, ...]:
    """The node labels whose values are its domains."""
    if isinstance(rule, SpreadRule):
        return (rule.key,)
    if isinstance(rule, RepulsionRule):
        return (rule.term.topology_key,)
    return tuple(term.topology_key for term in rule.terms)


def selectors(rule: Rule) -> tuple[PodSelector, ...]:
    """Which pods it counts: those that all of these select."""
    if isinstance(rule, SpreadRule):
        return (rule.selector,)
    if isinstance(rule, RepulsionRule):
        return (rule.term.selector,)
    return tuple(term.selector for term in rule.terms)


def counts_nothing(rule: Rule) -> bool:
    """A spread whose selector is empty counts no pod at all, kube-scheduler's own reading of `{}`."""
    return isinstance(rule, SpreadRule) and rule.selector.labels is not None and not len(rule.selector.labels)


def order(rule: Rule) -> tuple[object, ...]:
    """A total order that doesn't depend on how sets happen to be laid out."""
    told = tuple(_told(selector) for selector in selectors(rule))
    if not isinstance(rule, SpreadRule):
        return (type(rule).__name__, topology_keys(rule), told)
    limits = (rule.max_skew, rule.min_domains, tuple(sorted(rule.keys)))
    counted = (tuple(map(str, rule.nodes.alternatives or ())), tuple(map(repr, rule.nodes.tolerations or ())))
    looks = (rule.nodes.alternatives is None, rule.nodes.tolerations is None)
    return (type(rule).__name__, topology_keys(rule), told, limits, looks, counted)


def _told(selector: PodSelector) -> tuple[str, ...]:
    return (str(selector.labels), str(selector.namespace_labels), *sorted(selector.namespaces))


def is_host(key: str) -> bool:
    """Whether each node is a domain of its own."""
    return key == nodes.HOSTNAME_LABEL
