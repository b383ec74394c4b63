"""Does a plan keep every rule between pods, in whatever order kube-scheduler binds them?

Written apart from the placement and plainly: it looks at the final state and works out who surely comes.
A pod surely comes when, whoever of the others is there by then, its rules let it; a group under one spread when
not all that are left of it can be stuck (waiting_order.py has the argument). Who is left may be stuck for ever.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from nodewright.domain.host_ports import conflicts
from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.exploring import SpreadView, never_stuck
from nodewright.domain.scheduling.final_state import Site, final_state
from nodewright.domain.scheduling.rules import AffinityRule, NodeFilter, RepulsionRule, Rule, SpreadRule, rules_of
from nodewright.domain.scheduling.selections import Selections
from nodewright.domain.snapshot import Snapshot
from nodewright.domain.taints import untolerated


def unkept(snapshot: Snapshot, plan: Plan) -> Mapping[PodKey, str]:
    """Planned pods that may not come to their nodes → what may keep them out.

    First those that nothing can help; only where there are none of them, those that may wait for ever.
    """
    state = _State(final_state(snapshot, plan), snapshot)
    return dict(state.refused()) or state.stuck()


_Member = tuple[int, PodKey | None]
"""Where a pod is that a rule counts; no key: it is there already, or comes whatever else does."""
_Domains = tuple[str | None, ...]
"""Of each site; None where it is in none."""


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


class _State:
    def __init__(self, sites: Sequence[Site], snapshot: Snapshot) -> None:
        self._sites = sites
        self._site_of = {pod.key: number for number, site in enumerate(sites) for pod in site.planned}
        self._rules = {pod.key: tuple(rules_of(pod)) for site in sites for pod in site.planned}
        found = dict.fromkeys(rule for rules in self._rules.values() for rule in rules)
        bound = (term for site in sites for pod in site.bound for term in pod.anti_affinity)
        self._all: tuple[Rule, ...] = tuple(found | dict.fromkeys(map(RepulsionRule, bound)))
        self._known: dict[tuple[object, ...], _Domains] = {}
        self._members = self._counted(Selections(self._all, snapshot.namespaces))

    def refused(self) -> Iterator[tuple[PodKey, str]]:
        """Pods that no order of binding lets in."""
        for rule in self._all:
            if isinstance(rule, RepulsionRule):
                yield from self._repelled(rule)
        for site in self._sites:
            yield from _clashing(site)
            yield from _unattached(site)

    def stuck(self) -> Mapping[PodKey, str]:
        """Pods that may wait for ever."""
        sure = {key for key, rules in self._rules.items() if all(isinstance(each, RepulsionRule) for each in rules)}
        waiting = {key: list(self._waits(key)) for key in self._rules.keys() - sure}
        while True:
            kept = {rule: self._kept(rule, sure) for rule in {rule for rules in waiting.values() for rule in rules}}
            come = {key for key, rules in waiting.items() if all(key in kept[rule] for rule in rules)}
            come = come or self._some_group(waiting, kept, sure) or self._some_crossed(waiting, kept, sure)
            if not come:
                return {key: _named(next(r for r in rules if key not in kept[r])) for key, rules in waiting.items()}
            sure |= come
            waiting = {key: rules for key, rules in waiting.items() if key not in come}

    def _waits(self, key: PodKey) -> Iterator[Rule]:
        return (rule for rule in self._rules[key] if not isinstance(rule, RepulsionRule))

    def _some_group(
        self,
        waiting: Mapping[PodKey, Sequence[Rule]],
        kept: Mapping[Rule, AbstractSet[PodKey]],
        sure: AbstractSet[PodKey],
    ) -> set[PodKey]:
        """Pods of which a single spread is all they wait for, and which can't all be stuck under it."""
        groups: defaultdict[Rule, set[PodKey]] = defaultdict(set)
        for key, rules in waiting.items():
            open_rules = {rule for rule in rules if key not in kept[rule]}
            if len(open_rules) == 1:
                groups[open_rules.pop()].add(key)
        come: set[PodKey] = set()
        for rule, group in groups.items():
            if isinstance(rule, SpreadRule):
                come |= self._never_all_stuck(rule, group, sure)
        return come

    def _never_all_stuck(self, rule: SpreadRule, group: set[PodKey], sure: AbstractSet[PodKey]) -> set[PodKey]:
        """As many of the group as can count on each other."""
        stays = group & self._kept(rule, sure | group)
        return stays if stays == group else self._never_all_stuck(rule, stays, sure)

    def _some_crossed(
        self,
        waiting: Mapping[PodKey, Sequence[Rule]],
        kept: Mapping[Rule, AbstractSet[PodKey]],
        sure: AbstractSet[PodKey],
    ) -> set[PodKey]:
        """Pods that wait for several spreads at once, the same and counted by the same, and all come."""
        groups: defaultdict[tuple[tuple[SpreadRule, ...], tuple[bool, ...]], set[PodKey]] = defaultdict(set)
        for key, rules in waiting.items():
            spreads = tuple(rule for rule in rules if isinstance(rule, SpreadRule) and key not in kept[rule])
            if len(spreads) == sum(key not in kept[rule] for rule in rules):
                counted = tuple(any(member == key for _, member in self._members[rule]) for rule in spreads)
                groups[spreads, counted].add(key)
        for (spreads, counted), group in groups.items():
            if self._never_stuck(spreads, counted, group, sure):
                return group
        return set()

    def _never_stuck(
        self,
        spreads: Sequence[SpreadRule],
        counted: Sequence[bool],
        group: AbstractSet[PodKey],
        sure: AbstractSet[PodKey],
    ) -> bool:
        domains = [self._spread_domains(rule) for rule in spreads]
        places = Counter(tuple(each[self._site_of[key]] or "" for each in domains) for key in group)
        cells = sorted(places)
        views = [
            self._view(rule, itself, tuple(cell[number] for cell in cells), group, sure)
            for number, (rule, itself) in enumerate(zip(spreads, counted, strict=True))
        ]
        return all("" not in cell for cell in cells) and never_stuck([places[cell] for cell in cells], views)

    def _view(
        self,
        rule: SpreadRule,
        itself: bool,
        domain_of: tuple[str, ...],
        group: AbstractSet[PodKey],
        sure: AbstractSet[PodKey],
    ) -> SpreadView:
        domains = self._spread_domains(rule)
        least = Counter({domain: 0 for domain in domains if domain is not None})
        most: Counter[str] = Counter()
        for site, member in self._members[rule]:
            domain = domains[site]
            if domain is not None and member not in group:
                most[domain] += 1
                least[domain] += member is None or member in sure
        return SpreadView(domain_of, itself, most, least, rule.max_skew, len(least) >= rule.min_domains)

    def _kept(self, rule: Rule, sure: AbstractSet[PodKey]) -> AbstractSet[PodKey]:
        """Pods with a rule that it lets in, whoever is there besides these."""
        owners = [key for key, rules in self._rules.items() if rule in rules]
        if isinstance(rule, SpreadRule):
            return self._spread(rule, owners, sure)
        if isinstance(rule, AffinityRule):
            return self._attracted(rule, owners, sure)
        return frozenset(owners)

    def _spread(self, rule: SpreadRule, owners: Sequence[PodKey], sure: AbstractSet[PodKey]) -> AbstractSet[PodKey]:
        domains = self._spread_domains(rule)
        most: Counter[str] = Counter()
        least: Counter[str] = Counter()
        for site, member in self._members[rule]:
            domain = domains[site]
            if domain is not None:
                most[domain] += 1
                least[domain] += member is None or member in sure
        numbers = _Numbers(most, least, len({domain for domain in domains if domain is not None}))
        mine = {key: domains[self._site_of[key]] for key in owners}
        fine = {domain: numbers.holds(domain, rule) for domain in set(mine.values()) if domain is not None}
        return {key for key, domain in mine.items() if domain is not None and fine[domain]}

    def _attracted(
        self, rule: AffinityRule, owners: Sequence[PodKey], sure: AbstractSet[PodKey]
    ) -> AbstractSet[PodKey]:
        """Those with a selected pod in each term's domain; or all selected ones are there, and any may begin."""
        terms = [self._domains(term.topology_key, frozenset(), None) for term in rule.terms]
        members = self._members[rule]
        itself = {member for _, member in members}
        there = [{domains[site] for site, member in members if member is None or member in sure} for domains in terms]
        anywhere = {tuple(domains[site] for domains in terms) for site, _ in members}
        anywhere = {place for place in anywhere if any(domain is not None for domain in place)}
        places = {key: tuple(domains[self._site_of[key]] for domains in terms) for key in owners}
        return {
            key
            for key, place in places.items()
            if None not in place
            and (
                all(domain in some for domain, some in zip(place, there, strict=True))
                or (key in itself and anywhere == {place})
            )
        }

    def _repelled(self, rule: RepulsionRule) -> Iterator[tuple[PodKey, str]]:
        domains = self._domains(rule.term.topology_key, frozenset(), None)
        owners: defaultdict[str, list[PodKey]] = defaultdict(list)
        for number, site in enumerate(self._sites):
            domain = domains[number]
            if domain is not None:
                owners[domain] += [p.key for p in (*site.bound, *site.planned) if rule.term in p.anti_affinity]
        for number, member in self._members[rule]:
            for owner in owners.get(domains[number] or "", ()):
                if owner != member:
                    yield from ((k, _named(rule)) for k in (owner, member) if k is not None and k in self._site_of)

    def _counted(self, selections: Selections) -> Mapping[Rule, Sequence[_Member]]:
        found: defaultdict[Rule, list[_Member]] = defaultdict(list)
        for number, site in enumerate(self._sites):
            for daemon_set in site.daemons:
                for index in selections.of(daemon_set.key.namespace, daemon_set.labels):
                    found[self._all[index]].append((number, None))
            for pod in (*site.bound, *site.planned):
                for index in selections.of(pod.key.namespace, pod.labels):
                    if not (pod.terminating and isinstance(self._all[index], SpreadRule)):
                        found[self._all[index]].append((number, pod.key if pod.key in self._site_of else None))
        return found

    def _spread_domains(self, rule: SpreadRule) -> _Domains:
        return self._domains(rule.key, rule.keys, rule.nodes)

    def _domains(self, key: str, keys: frozenset[str], counted: NodeFilter | None) -> _Domains:
        """Where each site is; of a spread only those it counts."""
        asked = (key, keys, counted)
        if asked not in self._known:
            self._known[asked] = tuple(
                site.label(key) if _is_counted(site, keys, counted) else None for site in self._sites
            )
        return self._known[asked]


def _is_counted(site: Site, keys: frozenset[str], counted: NodeFilter | None) -> bool:
    if any(site.label(key) is None for key in keys):
        return False
    if counted is None:
        return True
    if counted.tolerations is not None and untolerated(counted.tolerations, site.taints):
        return False
    return counted.alternatives is None or any(each.admits(site.labels) for each in counted.alternatives)


def _clashing(site: Site) -> Iterator[tuple[PodKey, str]]:
    taken = list(site.host_ports)
    for pod in site.planned:
        if any(conflicts(pod.host_ports, taken)):
            yield pod.key, "a host port"
        taken += pod.host_ports


def _unattached(site: Site) -> Iterator[tuple[PodKey, str]]:
    there = {each for pod in site.bound for each in pod.attachments}
    for pod in site.planned:
        there |= pod.attachments
        drivers = {each.driver for each in pod.attachments} & site.attachable.keys()
        if any(sum(each.driver == driver for each in there) > site.attachable[driver] for driver in drivers):
            yield pod.key, "the attach limit"


def _named(rule: Rule) -> str:
    if isinstance(rule, SpreadRule):
        return f"topology spread over {rule.key}"
    if isinstance(rule, AffinityRule):
        return f"pod affinity over {', '.join(term.topology_key for term in rule.terms)}"
    return f"pod anti-affinity over {rule.term.topology_key}"
