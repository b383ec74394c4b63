"""Where the pods of affinity and anti-affinity terms are, by domain of many nodes or by node."""

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.localities import Localities
from nodewright.domain.scheduling.roles import Role
from nodewright.domain.scheduling.rules import AffinityRule, RepulsionRule, SpreadRule, is_host


@dataclass(slots=True)
class Ruling:
    """Which nodes a rule leaves: by locality, and by name."""

    localities: Bools
    only: frozenset[int] | None = None
    """Of the nodes there are only these; None: it doesn't matter which."""
    never: frozenset[int] = frozenset()
    opens: bool = True
    """A node that is opened for it will do, too."""

    def both(self, other: "Ruling") -> "Ruling":
        """What this and another leave."""
        only = self.only if other.only is None else other.only if self.only is None else self.only & other.only
        return Ruling(self.localities & other.localities, only, self.never | other.never, self.opens and other.opens)

    def sites(self, count: int) -> Bools:
        """Of the nodes there are, those it leaves by name. Below 0 are nodes that no pod can go to."""
        mask = np.full(count, self.only is None)
        for sites, fine in ((self.only or (), True), (self.never, False)):
            if sites:
                numbers = np.fromiter(sites, np.int64, len(sites))
                mask[numbers[numbers >= 0]] = fine
        return mask


class _Domains:
    """Numbers of pods by domain of one key."""

    def __init__(self, key: str, localities: Localities) -> None:
        self.host = is_host(key)
        self._codes = np.zeros(len(localities), dtype=np.int64) if self.host else localities.codes(key)
        self.by_domain = np.zeros(1 if self.host else max(1, len(localities.names(key))), dtype=np.int64)
        self._by_site: defaultdict[int, int] = defaultdict(int)
        self._present: set[int] = set()
        """Sites that have some."""

    def add(self, locality: int, site: int, number: int) -> bool:
        """Whether it counts: a node without the label is in no domain."""
        if self.host:
            self._by_site[site] += number
            (self._present.add if self._by_site[site] > 0 else self._present.discard)(site)
            return True
        domain = self._codes[locality]
        if domain >= 0:
            self.by_domain[domain] += number
        return bool(domain >= 0)

    def none(self) -> Ruling:
        """Where none is."""
        if self.host:
            return Ruling(self._everywhere(), never=self._sites())
        return Ruling((self._codes < 0) | (self.by_domain[self._codes] == 0))

    def some(self) -> Ruling:
        """Where some is."""
        if self.host:
            return Ruling(self._everywhere(), only=self._sites(), opens=False)
        return Ruling((self._codes >= 0) & (self.by_domain[self._codes] > 0))

    def present(self) -> Ruling:
        """Where there is a domain at all."""
        return Ruling(self._everywhere() if self.host else self._codes >= 0)

    def same(self, locality: int, site: int) -> Ruling:
        """In the domain of this node."""
        if self.host:
            return Ruling(self._everywhere(), only=frozenset({site}), opens=False)
        return Ruling(self._codes == self._codes[locality])

    @property
    def codes(self) -> Ints:
        """Of localities."""
        return self._codes

    def _everywhere(self) -> Bools:
        return np.ones(len(self._codes), dtype=np.bool_)

    def _sites(self) -> frozenset[int]:
        return frozenset(self._present)


class HostSpread:
    """A spread over single nodes.

    A node more can always be made, and nobody is on it then but pods of DaemonSets: so the least is taken to be
    what they come to. Only where none can be had for its pods any more the nodes there are count.
    """

    def __init__(self, rule: SpreadRule, localities: Localities) -> None:
        self.rule = rule
        self._everywhere = np.ones(len(localities), dtype=np.bool_)
        self.counts: defaultdict[int, int] = defaultdict(int)
        """Site → how many it counts there."""
        self.relied_on: defaultdict[int, int] = defaultdict(int)
        """The same, of every site that is a domain: those that surely come."""
        self._owners: set[int] = set()
        self._above: dict[int, set[int]] = {}
        """Number → sites that count more."""
        self.growing = True
        """Whether nodes can still be had for its pods."""
        self._floor = 0
        self.bound: Mapping[int, int] = {}
        """Site → how many it counted before anything was planned."""
        self.standing: AbstractSet[int] = frozenset()
        """Sites that were there by then."""

    def begin(self) -> None:
        """From now on things are planned."""
        self.bound = dict(self.counts)
        self.standing = frozenset(self.relied_on)

    def there(self, site: int) -> None:
        """There is a node that it counts."""
        self.relied_on[site] += 0

    def add(self, role: Role, locality: int, site: int, more: int = 1) -> None:  # noqa: ARG002
        """One such pod more, or less."""
        if role.selected:
            self.counts[site] += more
            for number, sites in self._above.items():
                (sites.add if self.counts[site] > number else sites.discard)(site)
        self.relied_on[site] += more * (role.selected and role.counted_on)
        if role.owner:
            self._owners.add(site)

    def rulings(self, role: Role) -> Sequence[Ruling]:
        """Where one more such pod may go."""
        most = self.rule.max_skew - role.selected
        full = self._over(most + self._anywhere()) if self.growing else self._over_others(most)
        return (Ruling(self._everywhere, never=full if role.owner else full & self._owners, opens=most >= 0),)

    def bears(self, role: Role | None, more: Ints, localities: Ints) -> Bools:  # noqa: ARG002
        """Where a new node with so many more of the pods it counts may be opened for such a pod."""
        if role is None or not role.owner:
            return np.ones(len(more), dtype=np.bool_)
        fine: Bools = (more == 0) | (more + role.selected - self._anywhere() <= self.rule.max_skew)
        return fine

    def expect(self, on_new_nodes: int) -> None:
        """Every node that may come has so many, whatever is planned."""
        self._floor = min([on_new_nodes, *self.relied_on.values()])

    def _over(self, number: int) -> frozenset[int]:
        """Sites that count more."""
        if number not in self._above:
            self._above[number] = {site for site, count in self.counts.items() if count > number}
        return frozenset(self._above[number])

    def _over_others(self, number: int) -> frozenset[int]:
        """Sites that count so many more than any other."""
        elsewhere = self._least_elsewhere()
        floor = self._anywhere()
        return frozenset(site for site, count in self.counts.items() if count - elsewhere.get(site, floor) > number)

    def _anywhere(self) -> int:
        """What every node has, those to come included."""
        return self._floor if max(1, len(self.relied_on)) >= self.rule.min_domains else 0

    def _least_elsewhere(self) -> Mapping[int, int]:
        """For each node the least count that can be relied on of any other."""
        if not self.relied_on or len(self.relied_on) < self.rule.min_domains:
            return {}
        numbers = heapq.nsmallest(2, ((number, site) for site, number in self.relied_on.items()))
        least, first = numbers[0]
        # The only one there is is compared with itself.
        second = numbers[1][0] if len(numbers) > 1 else self.counts[first]
        return {site: second if site == first else least for site in self.relied_on}


class Repulsion:
    """An anti-affinity term: selected pods and owners apart, whichever came first."""

    def __init__(self, rule: RepulsionRule, localities: Localities) -> None:
        key = rule.term.topology_key
        self._selected, self._owners = _Domains(key, localities), _Domains(key, localities)

    @property
    def guarded(self) -> Bools:
        """Domains of many nodes that have an owner."""
        return self._owners.by_domain > 0

    def add(self, role: Role, locality: int, site: int, more: int = 1) -> None:
        """One such pod more, or less."""
        if role.selected:
            self._selected.add(locality, site, more)
        if role.owner:
            self._owners.add(locality, site, more)

    def bears(self, role: Role | None, more: Ints, localities: Ints) -> Bools:  # noqa: ARG002
        """Where a new node with so many more of the pods it selects may be opened for others."""
        fine: Bools = (more == 0) | self._owners.none().localities[localities]
        return fine

    def rulings(self, role: Role) -> Sequence[Ruling]:
        """Where one more such pod may go."""
        mine = (self._selected.none(),) if role.owner else ()
        theirs = (self._owners.none(),) if role.selected else ()
        return (*mine, *theirs)


class Affinity:
    """All affinity terms of a pod: each term's domain must have a pod that all of them select."""

    def __init__(self, rule: AffinityRule, localities: Localities) -> None:
        self._terms = [_Domains(term.topology_key, localities) for term in rule.terms]
        self._sure = [_Domains(term.topology_key, localities) for term in rule.terms]
        self._counted = 0
        self.anchor: tuple[int, int] | None = None
        """Locality and site of the first of a group that nobody else supports; all selected pods go there."""
        self.home: Bools | None = None
        """Localities where such a group is to begin."""

    @property
    def single_node(self) -> bool:
        """Whether the group has to be on one node."""
        return any(term.host for term in self._terms)

    @property
    def is_open(self) -> bool:
        """Nobody it selects is anywhere: a pod that it selects itself may begin."""
        return not self._counted

    def add(self, role: Role, locality: int, site: int, more: int = 1) -> None:
        """One such pod more, or less; less only as long as nobody has the rule."""
        if not role.selected:
            return
        if role.owner and self.is_open:
            self.anchor = (locality, site)
        counted = [term.add(locality, site, more) for term in self._terms]
        self._counted += more * any(counted)
        if role.counted_on:
            for term in self._sure:
                term.add(locality, site, more)

    def rulings(self, role: Role) -> Sequence[Ruling]:
        """Where one more such pod may go."""
        if self.anchor is not None:
            return self._with(*self.anchor, owner=role.owner)
        if not role.owner:
            return ()
        if role.selected and self.is_open:
            present = tuple(term.present() for term in self._terms)
            return present if self.home is None else (*present, Ruling(self.home))
        return tuple(term.some() for term in self._sure)

    def _with(self, locality: int, site: int, *, owner: bool) -> Sequence[Ruling]:
        """In the same domain of each term; or, without the rule, where none of them has any."""
        same = tuple(term.same(locality, site) for term in self._terms)
        if owner or self.single_node:
            return same
        absent = np.logical_and.reduce([term.codes < 0 for term in self._terms])
        return (Ruling(absent | np.logical_and.reduce([each.localities for each in same])),)

    def counts(self) -> Sequence[Ints]:
        """How many selected pods are in each domain of each term."""
        return tuple(term.by_domain for term in self._terms)

    def domains(self) -> Ints:
        """Of localities, by the first term; what a group has to agree on."""
        return self._terms[0].codes
