"""Preferences between pods: soft spread, preferred affinity and anti-affinity, each once however many pods have it.

A soft spread has no weight of its own; it counts as one in the middle of those that affinity may have.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.topology import PodSelector, TopologySpread, Weighted

SPREAD_WEIGHT: Final = 50


class Sort(StrEnum):
    """What is wanted of the pods that a rule selects."""

    TOGETHER = "affinity"
    APART = "anti-affinity"
    SPREAD = "spread"


@dataclass(frozen=True, slots=True)
class SoftRule:
    """One of them."""

    sort: Sort
    weight: int
    key: str
    """The node label whose values are its domains."""
    selector: PodSelector
    max_skew: int = 1
    """Of a spread."""

    def __str__(self) -> str:
        labels = self.selector.labels
        whom = "no pods" if labels is None else str(labels)
        return f"{self.sort} over {self.key} for pods with {whom} (weight {self.weight})"


def soft_rules(pod: Pod) -> Iterator[SoftRule]:
    """Those a pod has itself."""
    for spread in pod.spreads:
        if not spread.hard and _counts(spread):
            yield soft_spread(spread)
    for sort, terms in ((Sort.TOGETHER, pod.preferences.affinity), (Sort.APART, pod.preferences.anti_affinity)):
        yield from (soft_rule(sort, each) for each in terms)


def soft_spread(spread: TopologySpread) -> SoftRule:
    """Of a spread that needn't hold."""
    return SoftRule(Sort.SPREAD, SPREAD_WEIGHT, spread.topology_key, spread.selector, spread.max_skew)


def soft_rule(sort: Sort, each: Weighted) -> SoftRule:
    """Of a preferred term."""
    return SoftRule(sort, each.weight, each.term.topology_key, each.term.selector)


def soft_rules_of(pods: Iterable[Pod]) -> tuple[SoftRule, ...]:
    """Of all these, in an order that doesn't depend on theirs."""
    minding = (pod for pod in pods if pod.spreads or pod.preferences.affinity or pod.preferences.anti_affinity)
    return tuple(dict.fromkeys(rule for pod in sorted(minding, key=_key) for rule in soft_rules(pod)))


def _key(pod: Pod) -> PodKey:
    return pod.key


def _counts(spread: TopologySpread) -> bool:
    """kube-scheduler counts no pods at all for an empty selector."""
    return bool(spread.selector.labels)
