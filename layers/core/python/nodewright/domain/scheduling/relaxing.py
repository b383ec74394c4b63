"""Preferences that a plan doesn't keep, and why."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from functools import cache
from typing import Final

from nodewright.domain.nodes import HOSTNAME_LABEL, ZONE_ID_LABEL, ZONE_LABEL
from nodewright.domain.plans import Plan, Relaxed
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling.census import Census, Labels, places
from nodewright.domain.scheduling.rules import RepulsionRule, is_host
from nodewright.domain.scheduling.selections import Selections
from nodewright.domain.scheduling.soft_rules import SoftRule, Sort, soft_rules, soft_rules_of
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.topology import PodAffinityTerm, PreferredNodes

Preference = PreferredNodes | SoftRule

NO_NODE: Final = "no node that is there or could be bought would do"
HARD_SPREAD: Final = "a spread over the same label that must hold decides"
NO_TIME: Final = "there was no time to try it"
TOO_DEAR: Final = "nodes with it cost more than those of these pods, and it may cost nothing more"
_HOSTS: Final = "it would take more nodes, or pods of equal size to change places with"
_OTHERS: Final = "not all of these pods can have it, or not with preferences that weigh more"


def relaxed(snapshot: Snapshot, plan: Plan, why: Mapping[Preference, str]) -> tuple[Relaxed, ...]:
    """Each of them once, with how many of the placed pods have it in vain. `why`: of those given up."""
    found: dict[Preference, list[PodKey]] = {}
    for pod, preference in _Outcome(snapshot, plan, why).unmet():
        found.setdefault(preference, []).append(pod)
    told = (Relaxed(shown(each), len(pods), min(pods), why.get(each) or _usual(each)) for each, pods in found.items())
    return tuple(sorted(told, key=lambda each: (each.preference, each.example)))


def shown(preference: Preference) -> str:
    """In the field's words."""
    if isinstance(preference, SoftRule):
        return str(preference)
    return f"nodes with {preference.requirements} (weight {preference.weight})"


def _usual(preference: Preference) -> str:
    return _HOSTS if isinstance(preference, SoftRule) and is_host(preference.key) else _OTHERS


class _Outcome:
    """The cluster as it will be."""

    def __init__(self, snapshot: Snapshot, plan: Plan, given_up: Container[Preference]) -> None:
        self._given_up = given_up
        self._least = cache(self._fewest)
        self._reached = cache(self._domains)
        self._rules = soft_rules_of(snapshot.pods)
        self._index = {rule: number for number, rule in enumerate(self._rules)}
        counted = [RepulsionRule(PodAffinityTerm(rule.key, rule.selector)) for rule in self._rules]
        self._selections = Selections(counted, snapshot.namespaces)
        self._census = Census(self._rules)
        pods = {pod.key: pod for pod in snapshot.pods}
        self._nodes: list[Labels] = []
        self._together: Counter[tuple[int, str]] = Counter()
        """Rule and new node → pods there that it counts: in one zone, whichever it will be."""
        self._placed: list[tuple[Pod, Labels]] = []
        for room in (*snapshot.rooms, *snapshot.bystanders):
            self._nodes.append({HOSTNAME_LABEL: room.name, **room.labels})
            for pod in room.pods:
                self._census.add(self._selected(pod), self._nodes[-1])
        for number, (keys, labels) in enumerate(places(snapshot, plan)):
            named = {HOSTNAME_LABEL: f"new {number}", **labels}
            self._nodes.append(named)
            for key in keys:
                self._placed.append((pods[key], named))
                self._census.add(self._selected(pods[key]), named)
                self._together.update((rule, named[HOSTNAME_LABEL]) for rule in self._selected(pods[key]))

    def unmet(self) -> Iterator[tuple[PodKey, Preference]]:
        """Of all pods with a place."""
        for pod, labels in self._placed:
            yield from ((pod.key, each) for each in pod.preferences.nodes if not each.requirements.admits(labels))
            yield from ((pod.key, rule) for rule in soft_rules(pod) if not self._holds(rule, pod, labels))

    def _holds(self, rule: SoftRule, pod: Pod, labels: Labels) -> bool:
        number = self._index[rule]
        counts, value = self._census.counts[number], labels.get(rule.key)
        itself = number in self._selected(pod)
        here = (self._beside(number, labels) if value is None else counts[value]) - itself
        if rule.sort is Sort.TOGETHER:
            return here > 0 or counts.total() <= itself
        if rule.sort is Sort.APART:
            return here <= 0
        if value is None:
            return True
        least = 0 if rule in self._given_up else self._least(number, pod.alternatives)
        return here + itself - least <= rule.max_skew

    def _beside(self, number: int, labels: Labels) -> int:
        """Those on its node, whose zone is open."""
        is_zone = self._rules[number].key in {ZONE_LABEL, ZONE_ID_LABEL}
        return self._together[number, labels[HOSTNAME_LABEL]] if is_zone else 0

    def _fewest(self, number: int, alternatives: tuple[Requirements, ...]) -> int:
        """In any domain that a spread's pods could be in."""
        key, counts = self._rules[number].key, self._census.counts[number]
        return min((counts[value] for value in self._reached(key, alternatives)), default=0)

    def _domains(self, key: str, alternatives: tuple[Requirements, ...]) -> frozenset[str]:
        """Values of a label on nodes that pods may come to."""
        open_to_it = (node for node in self._nodes if key in node and any(each.admits(node) for each in alternatives))
        return frozenset(node[key] for node in open_to_it)

    def _selected(self, pod: Pod) -> tuple[int, ...]:
        return self._selections.of(pod.key.namespace, pod.labels)
