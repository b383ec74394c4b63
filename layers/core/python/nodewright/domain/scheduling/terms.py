"""Where the pods of affinity and anti-affinity terms are, by domain of many nodes or by node."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.localities import Localities
from nodewright.domain.scheduling.roles import Role
from nodewright.domain.scheduling.rules import AffinityRule, RepulsionRule, SpreadRule, is_host

NOWHERE: Final = -1
"""Site of a node that no pod can go to."""


@dataclass(slots=True)
class Ruling:
    """Which nodes a rule leaves: by locality, and by name."""

    localities: Bools
    only: frozenset[int] | None = None
    """Of the nodes there are only these; None: it doesn't matter which."""
    never: frozenset[int] = frozenset()
    opens: bool = True
    """A node that is opened for it will do, too."""

    def sites(self, count: int) -> Bools:
        """Of the nodes there are, those it leaves by name."""
        mask = np.full(count, self.only is None)
        if self.only is not None:
            mask[[site for site in self.only if site != NOWHERE]] = True
        mask[[site for site in self.never if site != NOWHERE]] = False
        return mask


class _Domains:
    """Numbers of pods by domain of one key."""

    def __init__(self, key: str, localities: Localities) -> None:
        self.host = is_host(key)
        self._codes = np.zeros(len(localities), dtype=np.int64) if self.host else localities.codes(key)
        self._by_domain = np.zeros(1 if self.host else max(1, len(localities.names(key))), dtype=np.int64)
        self.by_site: defaultdict[int, int] = defaultdict(int)

    def add(self, locality: int, site: int, number: int) -> bool:
        """Whether it counts: a node without the label is in no domain."""
        if self.host:
            self.by_site[site] += number
            return True
        domain = self._codes[locality]
        if domain >= 0:
            self._by_domain[domain] += number
        return bool(domain >= 0)

    def none(self) -> Ruling:
        """Where none is."""
        if self.host:
            return Ruling(self._everywhere(), never=self._sites())
        return Ruling((self._codes < 0) | (self._by_domain[self._codes] == 0))

    def some(self) -> Ruling:
        """Where some is."""
        if self.host:
            return Ruling(self._everywhere(), only=self._sites(), opens=False)
        return Ruling((self._codes >= 0) & (self._by_domain[self._codes] > 0))

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
        return frozenset(site for site, number in self.by_site.items() if number > 0)


class HostSpread:
    """A spread over single nodes. Some node may always be empty, so the least is taken to be none."""

    def __init__(self, rule: SpreadRule, localities: Localities) -> None:
        self._max_skew = rule.max_skew
        self._everywhere = np.ones(len(localities), dtype=np.bool_)
        self._counts: defaultdict[int, int] = defaultdict(int)
        self._owners: set[int] = set()

    def add(self, role: Role, locality: int, site: int) -> None:  # noqa: ARG002
        """One such pod more."""
        self._counts[site] += role.selected
        if role.owner:
            self._owners.add(site)

    def rulings(self, role: Role) -> Sequence[Ruling]:
        """Where one more such pod may go."""
        most = self._max_skew - role.selected
        full = frozenset(site for site, number in self._counts.items() if number > most)
        return (Ruling(self._everywhere, never=full if role.owner else full & self._owners, opens=most >= 0),)


class Repulsion:
    """An anti-affinity term: selected pods and owners apart, whichever came first."""

    def __init__(self, rule: RepulsionRule, localities: Localities) -> None:
        key = rule.term.topology_key
        self._selected, self._owners = _Domains(key, localities), _Domains(key, localities)

    def add(self, role: Role, locality: int, site: int) -> None:
        """One such pod more."""
        if role.selected:
            self._selected.add(locality, site, 1)
        if role.owner:
            self._owners.add(locality, site, 1)

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
        self._any = False
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
        return not self._any

    def add(self, role: Role, locality: int, site: int) -> None:
        """One such pod more."""
        if not role.selected:
            return
        if role.owner and self.is_open:
            self.anchor = (locality, site)
        counted = [term.add(locality, site, 1) for term in self._terms]
        self._any |= any(counted)
        if role.counted_on:
            for term in self._sure:
                term.add(locality, site, 1)

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

    def domains(self) -> Ints:
        """Of localities, by the first term; what a group has to agree on."""
        return self._terms[0].codes
