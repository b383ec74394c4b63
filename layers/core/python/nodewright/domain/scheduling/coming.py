"""Who of a plan surely comes to his node, in whatever order kube-scheduler binds pods.

A pod does when, whoever of the others is there by then, its rules let it; a group under one spread when not all
that are left of it can be stuck (waiting_order.py has the argument); pods that wait for
several spreads at once when going through all orders shows it (exploring.py).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.exploring import SpreadView, never_stuck
from nodewright.domain.scheduling.ledger import Domains, Ledger
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


class _Place(NamedTuple):
    """What a spread has to do with a pod."""

    domain: str
    """Where it is going to; empty where that is none."""
    binds: bool
    counted: bool


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
        """Pods that wait for several spreads and all come."""
        return next((group for group in self._crossed_groups(waiting) if self._never_stuck(group)), set())

    def _crossed_groups(self, waiting: _Waiting) -> Iterator[set[PodKey]]:
        """Pods under the same spreads, then all that have to do with each other."""
        alike: defaultdict[tuple[tuple[int, ...], tuple[bool, ...]], set[PodKey]] = defaultdict(set)
        for key, rules in waiting.items():
            spreads = tuple(rule for rule in rules if isinstance(self._ledger.rules[rule], SpreadRule))
            if all(key in self._kept[rule] for rule in rules if rule not in spreads):
                alike[spreads, tuple(key in self._ledger.selected[rule] for rule in spreads)].add(key)
        yield from alike.values()
        yield from self._related(alike.values())

    def _related(self, groups: Iterable[set[PodKey]]) -> Iterator[set[PodKey]]:
        """Those joined that are bound or counted by the same spreads."""
        joined: list[tuple[set[PodKey], set[int]]] = []
        several = [(group, set(self._unkept(group))) for group in groups]
        every = {rule for _, rules in several for rule in rules}
        for group, rules in several:
            mine = rules | {rule for rule in every if not group.isdisjoint(self._ledger.selected[rule])}
            near = [each for each in joined if not each[1].isdisjoint(mine)]
            joined = [each for each in joined if each[1].isdisjoint(mine)]
            joined.append((group.union(*(each for each, _ in near)), mine.union(*(each for _, each in near))))
        return (group for group, _ in joined)

    def _unkept(self, group: AbstractSet[PodKey]) -> Sequence[int]:
        """Rules that some of these, under spreads, may wait for."""
        owned = {rule for key in group for rule in self._ledger.rules_of[key]}
        return sorted(
            rule
            for rule in owned
            if isinstance(self._ledger.rules[rule], SpreadRule)
            and not all(key in self._kept[rule] for key in self._ledger.owners[rule] if key in group)
        )

    def _never_stuck(self, group: AbstractSet[PodKey]) -> bool:
        ledger = self._ledger
        rules = self._unkept(group)
        domains = [ledger.spread_domains(rule) for rule in self._spreads(rules)]
        places = Counter(
            tuple(self._place(key, rule, each) for rule, each in zip(rules, domains, strict=True)) for key in group
        )
        cells = sorted(places)
        if any(place.binds and not place.domain for cell in cells for place in cell):
            return False
        views = [self._view(rule, [cell[number] for cell in cells], group) for number, rule in enumerate(rules)]
        return never_stuck([places[cell] for cell in cells], views)

    def _place(self, key: PodKey, rule: int, domains: Domains) -> _Place:
        ledger = self._ledger
        return _Place(
            domains[ledger.site_of[key]] or "", binds=rule in ledger.rules_of[key], counted=key in ledger.selected[rule]
        )

    def _view(self, number: int, cells: Sequence[_Place], group: AbstractSet[PodKey]) -> SpreadView:
        (rule,) = self._spreads((number,))
        domains = self._ledger.spread_domains(rule)
        index = {name: place for place, name in enumerate(sorted({each for each in domains if each is not None}))}
        most, least = np.zeros(len(index), dtype=np.int64), np.zeros(len(index), dtype=np.int64)
        for site, member in self._ledger.members[number]:
            domain = domains[site]
            if domain is not None and member not in group:
                most[index[domain]] += 1
                least[index[domain]] += member is None or member in self._sure
        bound = Counter(domains[site] for site in self._ledger.bound[number])
        there = {domain for domain, site in zip(domains, self._ledger.sites, strict=True) if not site.is_new}
        return SpreadView(
            domain_of=tuple(index.get(each.domain, -1) for each in cells),
            binds=tuple(each.binds for each in cells),
            counted=tuple(each.counted for each in cells),
            most=most,
            least=least,
            bound=np.array([bound[each] for each in index], dtype=np.int64),
            standing=np.array([each in there for each in index], dtype=np.bool_),
            max_skew=rule.max_skew,
            enough_domains=len(index) >= rule.min_domains,
        )

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
