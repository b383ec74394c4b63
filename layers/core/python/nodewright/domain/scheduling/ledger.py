"""The final state as its rules see it: whom each counts and binds, and where."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.final_state import Site
from nodewright.domain.scheduling.rules import NodeFilter, RepulsionRule, Rule, SpreadRule, rules_of, topology_keys
from nodewright.domain.scheduling.selections import Selections
from nodewright.domain.taints import untolerated
from nodewright.domain.topology import Namespaces

Member = tuple[int, PodKey | None]
"""Where a pod is; no key: it is there already, or comes whatever else does."""
Domains = tuple[str | None, ...]
"""Of each site; None where it is in none."""


class Ledger:
    """Rules are known by their number."""

    def __init__(self, sites: Sequence[Site], namespaces: Namespaces) -> None:
        self.sites = sites
        self.site_of = {pod.key: number for number, site in enumerate(sites) for pod in site.planned}
        bound = (term for site in sites for pod in site.bound for term in pod.anti_affinity)
        owned = {pod.key: tuple(rules_of(pod)) for site in sites for pod in site.planned}
        every = dict.fromkeys(rule for rules in owned.values() for rule in rules)
        self.rules: tuple[Rule, ...] = tuple(every | dict.fromkeys(map(RepulsionRule, bound)))
        self.number = {rule: index for index, rule in enumerate(self.rules)}
        self.rules_of = {key: tuple({self.number[rule]: None for rule in rules}) for key, rules in owned.items()}
        self.owners: list[list[PodKey]] = [[] for _ in self.rules]
        for key, numbers in self.rules_of.items():
            for rule in numbers:
                self.owners[rule].append(key)
        self.bound: list[list[int]] = [[] for _ in self.rules]
        """Sites of those that each rule counts by now."""
        self.members = self._members(Selections(self.rules, namespaces))
        """Whom each rule counts."""
        self.selected = [{key for _, key in members if key is not None} for members in self.members]
        self._counts: dict[int, int] = {}
        self._known: dict[tuple[object, ...], Domains] = {}

    def repelling(self) -> dict[int, list[Member]]:
        """Rule → whoever has it of anti-affinity, bound or planned."""
        found: defaultdict[int, list[Member]] = defaultdict(list)
        for number, site in enumerate(self.sites):
            for pod in (*site.bound, *site.planned):
                for term in pod.anti_affinity:
                    found[self.number[RepulsionRule(term)]].append((number, pod.key))
        return found

    def domains(self, key: str, keys: frozenset[str] = frozenset(), counted: NodeFilter | None = None) -> Domains:
        """Where each site is; of a spread, where it is counted."""
        asked = (key, keys, counted)
        if asked not in self._known:
            several = (site.label(key) if _is_counted(site, keys, counted) else None for site in self.sites)
            self._known[asked] = tuple(several)
        return self._known[asked]

    def domain_count(self, domains: Domains) -> int:
        """How many there are."""
        # The same tuple is asked about again and again; hashing it would take longer than counting.
        if id(domains) not in self._counts:
            self._counts[id(domains)] = len({domain for domain in domains if domain is not None})
        return self._counts[id(domains)]

    def spread_domains(self, rule: SpreadRule) -> Domains:
        """Of the sites that a spread counts."""
        return self.domains(rule.key, rule.keys, rule.nodes)

    def _members(self, selections: Selections) -> list[list[Member]]:
        found: list[list[Member]] = [[] for _ in self.rules]
        guarded = self._guarded()
        for number, site in enumerate(self.sites):
            for daemon_set in site.daemons:
                counting = selections.of(daemon_set.key.namespace, daemon_set.labels)
                domains = (site.label(topology_keys(self.rules[index])[0]) for index in counting)
                if guarded.isdisjoint(zip(counting, domains, strict=True)):
                    for index in counting:
                        found[index].append((number, None))
            for pod in (*site.bound, *site.planned):
                planned = pod.key if self.site_of.get(pod.key) == number else None
                for index in selections.of(pod.key.namespace, pod.labels):
                    if not (pod.terminating and isinstance(self.rules[index], SpreadRule)):
                        found[index].append((number, planned))
                        if planned is None:
                            self.bound[index].append(number)
        return found

    def _guarded(self) -> set[tuple[int, str | None]]:
        """Rules of anti-affinity of bound pods, and where they keep off whom they select: DaemonSets' pods, too."""
        return {
            (self.number[RepulsionRule(term)], domain)
            for site in self.sites
            for pod in site.bound
            for term in pod.anti_affinity
            if (domain := site.label(term.topology_key)) is not None
        }


def _is_counted(site: Site, keys: Iterable[str], counted: NodeFilter | None) -> bool:
    if any(site.label(key) is None for key in keys):
        return False
    if counted is None:
        return True
    if counted.tolerations is not None and untolerated(counted.tolerations, site.taints):
        return False
    return counted.alternatives is None or any(each.admits(site.labels) for each in counted.alternatives)
