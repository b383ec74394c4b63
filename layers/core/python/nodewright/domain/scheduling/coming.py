"""Who of a plan surely comes to his node, in whatever order kube-scheduler binds pods.

A pod does when, whoever of the others is there by then, its rules let it; a group under one spread when not all
that are left of it can be stuck (waiting_order.py has the argument); one under several spreads at once when
going through all orders shows it (exploring.py).
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.exploring import SpreadView, never_stuck
from nodewright.domain.scheduling.ledger import Ledger
from nodewright.domain.scheduling.rules import AffinityRule, RepulsionRule, SpreadRule

_Waiting = dict[PodKey, tuple[int, ...]]
"""Pods that aren't known to come → the rules that they may wait for."""


def stuck(ledger: Ledger) -> Mapping[PodKey, int]:
    """Pods that may wait for ever → a rule that they may wait for."""
    return _Coming(ledger).stuck()


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Of a spread: how many may be in a domain, and how many surely will."""

    most: Mapping[str, int]
    least: Mapping[str, int]
    domains: int

    def holds(self, domain: str, rule: SpreadRule) -> bool:
        """Whether one that is meant for this domain can't be kept out of it, whoever else is there."""
        others = [number for name, number in self.least.items() if name != domain]
        enough = self.domains >= rule.min_domains
        if self.domains == 1 and enough:
            return True
        lowest = min(others) if enough and len(others) == self.domains - 1 else 0
        return self.most[domain] - lowest <= rule.max_skew


class _Coming:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._kept: dict[int, set[PodKey]] = {}
        """Rule → pods that it lets in, whoever is there besides those who surely come."""
        self._sure: set[PodKey] = set()

    def stuck(self) -> Mapping[PodKey, int]:
        ledger = self._ledger
        waits = [not isinstance(rule, RepulsionRule) for rule in ledger.rules]
        waiting = {key: tuple(rule for rule in rules if waits[rule]) for key, rules in ledger.rules_of.items()}
        self._sure = {key for key, rules in waiting.items() if not rules}
        waiting = {key: rules for key, rules in waiting.items() if rules}
        changed = {rule for rules in waiting.values() for rule in rules}
        while waiting:
            self._kept |= {rule: self._let_in(rule, self._sure) for rule in changed}
            come = {key for key, rules in waiting.items() if all(key in self._kept[rule] for rule in rules)}
            come = come or self._some_group(waiting) or self._some_crossed(waiting)
            if not come:
                break
            self._sure |= come
            waiting = {key: rules for key, rules in waiting.items() if key not in come}
            open_rules = {rule for rules in waiting.values() for rule in rules}
            changed = {rule for rule in open_rules if not come.isdisjoint(ledger.selected[rule])}
        return {key: next(rule for rule in rules if key not in self._kept[rule]) for key, rules in waiting.items()}

    def _some_group(self, waiting: _Waiting) -> set[PodKey]:
        """Pods of which a single spread is all they wait for, and which can't all be stuck under it."""
        groups: defaultdict[int, set[PodKey]] = defaultdict(set)
        for key, rules in waiting.items():
            unkept = [rule for rule in rules if key not in self._kept[rule]]
            if len(unkept) == 1 and isinstance(self._ledger.rules[unkept[0]], SpreadRule):
                groups[unkept[0]].add(key)
        come: set[PodKey] = set()
        for rule, group in groups.items():
            come |= self._never_all_stuck(rule, group)
        return come

    def _never_all_stuck(self, rule: int, group: set[PodKey]) -> set[PodKey]:
        """As many of the group as can count on each other."""
        stays = group & self._let_in(rule, self._sure | group)
        return stays if stays == group else self._never_all_stuck(rule, stays)

    def _some_crossed(self, waiting: _Waiting) -> set[PodKey]:
        """Pods that have the same spreads and wait for several of them, and all come."""
        groups: defaultdict[tuple[tuple[int, ...], tuple[bool, ...]], set[PodKey]] = defaultdict(set)
        for key, rules in waiting.items():
            spreads = tuple(rule for rule in rules if isinstance(self._ledger.rules[rule], SpreadRule))
            if all(key in self._kept[rule] for rule in rules if rule not in spreads):
                groups[spreads, tuple(key in self._ledger.selected[rule] for rule in spreads)].add(key)
        for (spreads, counted), group in groups.items():
            matter = [number for number, rule in enumerate(spreads) if not group <= self._kept[rule]]
            if self._never_stuck([spreads[n] for n in matter], [counted[n] for n in matter], group):
                return group
        return set()

    def _never_stuck(self, rules: Sequence[int], counted: Sequence[bool], group: AbstractSet[PodKey]) -> bool:
        ledger = self._ledger
        domains = [ledger.spread_domains(rule) for rule in self._spreads(rules)]
        places = Counter(tuple(each[ledger.site_of[key]] or "" for each in domains) for key in group)
        cells = sorted(places)
        if any("" in cell for cell in cells):
            return False
        views = [
            self._view(rule, tuple(cell[number] for cell in cells), group, counts_itself=itself)
            for number, (rule, itself) in enumerate(zip(rules, counted, strict=True))
        ]
        return never_stuck([places[cell] for cell in cells], views)

    def _view(
        self, number: int, domain_of: Sequence[str], group: AbstractSet[PodKey], *, counts_itself: bool
    ) -> SpreadView:
        (rule,) = self._spreads((number,))
        domains = self._ledger.spread_domains(rule)
        index = {name: place for place, name in enumerate(sorted({each for each in domains if each is not None}))}
        most, least = np.zeros(len(index), dtype=np.int64), np.zeros(len(index), dtype=np.int64)
        for site, member in self._ledger.members[number]:
            domain = domains[site]
            if domain is not None and member not in group:
                most[index[domain]] += 1
                least[index[domain]] += member is None or member in self._sure
        enough = len(index) >= rule.min_domains
        return SpreadView(tuple(index[each] for each in domain_of), counts_itself, most, least, rule.max_skew, enough)

    def _spreads(self, rules: Sequence[int]) -> tuple[SpreadRule, ...]:
        found = (self._ledger.rules[rule] for rule in rules)
        return tuple(rule for rule in found if isinstance(rule, SpreadRule))

    def _let_in(self, number: int, sure: AbstractSet[PodKey]) -> set[PodKey]:
        """Pods with a rule that it lets in, whoever is there besides these."""
        rule = self._ledger.rules[number]
        if isinstance(rule, SpreadRule):
            return self._spread(number, rule, sure)
        return self._attracted(number, rule, sure) if isinstance(rule, AffinityRule) else set()

    def _spread(self, number: int, rule: SpreadRule, sure: AbstractSet[PodKey]) -> set[PodKey]:
        ledger = self._ledger
        domains = ledger.spread_domains(rule)
        most: Counter[str] = Counter()
        least: Counter[str] = Counter()
        for site, member in ledger.members[number]:
            domain = domains[site]
            if domain is not None:
                most[domain] += 1
                least[domain] += member is None or member in sure
        numbers = _Numbers(most, least, ledger.domain_count(domains))
        mine = {key: domains[ledger.site_of[key]] for key in ledger.owners[number]}
        fine = {domain: numbers.holds(domain, rule) for domain in set(mine.values()) if domain is not None}
        return {key for key, domain in mine.items() if domain is not None and fine[domain]}

    def _attracted(self, number: int, rule: AffinityRule, sure: AbstractSet[PodKey]) -> set[PodKey]:
        """Those with a selected pod in each term's domain; or all selected ones are there, and any may begin."""
        ledger = self._ledger
        terms = [ledger.domains(term.topology_key) for term in rule.terms]
        members = ledger.members[number]
        there = [{domains[site] for site, member in members if member is None or member in sure} for domains in terms]
        anywhere = {tuple(domains[site] for domains in terms) for site, _ in members}
        anywhere = {place for place in anywhere if any(domain is not None for domain in place)}
        places = {key: tuple(domains[ledger.site_of[key]] for domains in terms) for key in ledger.owners[number]}
        return {
            key
            for key, place in places.items()
            if None not in place
            and (
                all(domain in some for domain, some in zip(place, there, strict=True))
                or (key in ledger.selected[number] and anywhere == {place})
            )
        }
