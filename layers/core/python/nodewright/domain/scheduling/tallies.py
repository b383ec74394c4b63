"""How many pods each rule counts where, and what that leaves open to further ones."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.localities import Localities
from nodewright.domain.scheduling.roles import Role
from nodewright.domain.scheduling.rules import RepulsionRule, Rule, SpreadRule, is_host
from nodewright.domain.scheduling.terms import Affinity, HostSpread, Repulsion, Ruling


class Tallies:
    """Those of all rules."""

    def __init__(self, rules: Sequence[Rule], localities: Localities) -> None:
        self._of = [_tally(rule, localities) for rule in rules]
        self._size = len(localities)
        self._seen: Counter[int] = Counter()
        self.spreads_by_rule = {index: each for index, each in enumerate(self._of) if isinstance(each, SpreadTally)}
        """Spreads over domains of many nodes."""
        self.host_spreads = {index: each for index, each in enumerate(self._of) if isinstance(each, HostSpread)}
        self.repulsions = {index: each for index, each in enumerate(self._of) if isinstance(each, Repulsion)}
        self._wary: dict[int, SpreadTally] = {}

    def affinity(self, rule: int) -> Affinity | None:
        """The tally of a rule, if it is an affinity."""
        found = self._of[rule]
        return found if isinstance(found, Affinity) else None

    def supported(self) -> frozenset[int]:
        """Affinities that count somebody."""
        affinities = ((index, each) for index, each in enumerate(self._of) if isinstance(each, Affinity))
        return frozenset(index for index, each in affinities if not each.is_open)

    def begin(self) -> None:
        """From now on things are planned."""
        for spread in self.spreads_by_rule.values():
            spread.begin()
        for host_spread in self.host_spreads.values():
            host_spread.begin()

    def there(self, locality: int) -> None:
        """There is a node of it."""
        self._seen[locality] += 1
        if self._seen[locality] == 1:
            for spread in self.spreads_by_rule.values():
                spread.there(locality)
        for spread in self.spreads_by_rule.values():
            spread.count_node(locality, 1)

    def gone(self, locality: int) -> None:
        """One of its nodes isn't."""
        self._seen[locality] -= 1
        for spread in self.spreads_by_rule.values():
            spread.count_node(locality, -1)
        if not self._seen[locality]:
            left = [each for each, many in self._seen.items() if many]
            for spread in self.spreads_by_rule.values():
                spread.only(left)

    def watch(self, buyable: Bools) -> None:
        """Remember the spreads in whose way a node that is opened for others may be."""
        self._wary = {rule: each for rule, each in self.spreads_by_rule.items() if each.is_wary(buyable)}

    @property
    def is_wary(self) -> bool:
        """Whether there are any such spreads."""
        return bool(self._wary)

    def add(self, roles: Iterable[Role], locality: int, site: int, more: int = 1) -> None:
        """One pod of these roles more, or less."""
        for role in roles:
            self._of[role.rule].add(role, locality, site, more)

    def steering(self, roles: Iterable[Role]) -> Bools | None:
        """Localities where such pods had better go, if it matters."""
        mask: Bools | None = None
        for role in roles:
            spread = self.spreads_by_rule.get(role.rule)
            better = None if spread is None else spread.steers(role)
            if better is not None:
                mask = better if mask is None else mask & better
        return mask

    def ruling(self, roles: Iterable[Role]) -> Ruling:
        """Where one more pod of these roles may go."""
        found = Ruling(np.ones(self._size, dtype=np.bool_))
        for role in roles:
            for each in self._of[role.rule].rulings(role):
                found = found.both(each)
        return found

    def unrepelled(self, roles: Iterable[Role]) -> Ruling:
        """Where anti-affinity lets such a pod go, whatever the other rules say."""
        return self.ruling(role for role in roles if isinstance(self._of[role.rule], Repulsion))

    def are_spreads_kept(self) -> bool:
        """Whether every spread lets its pods be where they are, whoever of those it counts on is there."""
        return all(spread.is_kept() for spread in self.spreads_by_rule.values())

    def openings(self, roles: Iterable[Role] = ()) -> Bools:
        """Localities in which a node may be opened, for such a pod, without keeping out pods that are placed."""
        mask = np.ones(self._size, dtype=np.bool_)
        sure = {role.rule for role in roles if role.selected and role.counted_on} if self._wary else ()
        for rule, spread in self._wary.items():
            mask &= spread.opens(with_one=rule in sure)
        return mask

    def are_surprised(self, localities: Ints) -> bool:
        """Whether a node in one of these may be in the way of pods that are placed."""
        return not all(each.opens(with_one=False)[localities].all() for each in self.spreads_by_rule.values())

    def bears(self, rule: int, roles: Iterable[Role], more: Ints, localities: Ints) -> Bools:
        """Where a rule lets a new node be opened that has so many more of the pods it counts, for a pod of these roles.

        `more` and `localities` are of offerings.
        """
        tally = self._of[rule]
        if isinstance(tally, Affinity):
            return np.ones(len(more), dtype=np.bool_)
        return tally.bears(next((role for role in roles if role.rule == rule), None), more, localities)

    def there_by_name(self, site: int, counts: Callable[[SpreadRule], bool]) -> None:
        """There is a node that some spreads over nodes count."""
        for each in self.host_spreads.values():
            if counts(each.rule):
                each.there(site)

    def crowds(self, roles: Iterable[Role]) -> Ints:
        """How many pods the spreads among these count in each locality; the fewer the better."""
        total = np.zeros(self._size, dtype=np.int64)
        for role in roles:
            spread = self.spreads_by_rule.get(role.rule)
            if spread is not None:
                total += spread.of_localities()
        return total

    def nodes(self, roles: Iterable[Role]) -> Ints:
        """How many nodes there are where a locality is, by the spreads that such pods have."""
        total = np.zeros(self._size, dtype=np.int64)
        for role in roles:
            spread = self.spreads_by_rule.get(role.rule) if role.owner else None
            if spread is not None:
                total += spread.nodes()
        return total


def _tally(rule: Rule, localities: Localities) -> "SpreadTally | HostSpread | Repulsion | Affinity":
    if isinstance(rule, SpreadRule):
        return HostSpread(rule, localities) if is_host(rule.key) else SpreadTally(rule, localities)
    return Repulsion(rule, localities) if isinstance(rule, RepulsionRule) else Affinity(rule, localities)


_MANY: Final = 2**40


class SpreadTally:
    """One spread over domains of many nodes (waiting_order.py says why it is kept like this)."""

    def __init__(self, rule: SpreadRule, localities: Localities) -> None:
        self.rule = rule
        size = max(1, len(localities.names(rule.key)))
        counted = localities.passes(rule.nodes)
        for key in rule.keys.intersection(localities.keys):
            counted = counted & (localities.codes(key) >= 0)
        self.domain = np.where(counted, localities.codes(rule.key), -1)
        """Of each locality; -1 where it isn't counted."""
        self._count = np.zeros(size, dtype=np.int64)
        self._least = np.zeros(size, dtype=np.int64)
        self._owners = np.zeros(size, dtype=np.int64)
        self._nodes = np.zeros(size, dtype=np.int64)
        self._home: tuple[int, int] | None = None
        self.bound: Mapping[int, int] = {}
        """Domain → how many it counted before anything was planned."""
        self.standing: AbstractSet[int] = frozenset()
        """Domains that had a node by then."""
        self.existing = np.zeros(size, dtype=np.bool_)
        self.reachable = np.zeros(size, dtype=np.bool_)

    @property
    def counts(self) -> Ints:
        """Of each domain."""
        return self._count

    @property
    def relied_on(self) -> Ints:
        """Of those the ones that surely come."""
        return self._least

    @property
    def domains(self) -> Bools:
        """Those there are or may come to be."""
        return self.existing | self.reachable

    def begin(self) -> None:
        """From now on things are planned."""
        self.bound = dict(enumerate(self._count.tolist()))
        self.standing = frozenset(np.flatnonzero(self.existing).tolist())

    def there(self, locality: int) -> None:
        """There is a node of it."""
        if self.domain[locality] >= 0:
            self.existing[self.domain[locality]] = True

    def count_node(self, locality: int, more: int) -> None:
        """One more of it, or one less."""
        if self.domain[locality] >= 0:
            self._nodes[self.domain[locality]] += more

    def nodes(self) -> Ints:
        """How many nodes there are where a locality is."""
        return np.where(self.domain < 0, 0, self._nodes[self.domain])

    def only(self, localities: Sequence[int]) -> None:
        """Nodes are in these alone."""
        self.existing[:] = False
        for locality in localities:
            self.there(locality)

    def reach(self, localities: Bools) -> None:
        """Nodes of these could be bought for its pods."""
        self.reachable[:] = False
        self.reachable[self.domain[localities & (self.domain >= 0)]] = True

    def is_wary(self, buyable: Bools) -> bool:
        """Whether some node that can be bought would be a domain that its own pods don't bring about."""
        found = self.domain[buyable & (self.domain >= 0)]
        return not bool(self.domains[found].all())

    def add(self, role: Role, locality: int, site: int, more: int = 1) -> None:  # noqa: ARG002
        """One such pod more, or less."""
        domain = self.domain[locality]
        if domain >= 0:
            self._count[domain] += more * role.selected
            self._least[domain] += more * (role.selected and role.counted_on)
            self._owners[domain] += more * role.owner

    def rulings(self, role: Role) -> Sequence[Ruling]:
        """Where one more such pod may go."""
        return (Ruling(self._admitted(role)),)

    def bears(self, role: Role | None, more: Ints, localities: Ints) -> Bools:
        """Where a new node with so many more of the pods it counts may be opened for such a pod."""
        owner, itself = (role.owner, role.selected) if role else (False, False)
        domain = self.domain[localities]
        after = self._count[domain] + more + int(itself) - self._least_elsewhere()[domain]
        fine: Bools = (more == 0) | (domain < 0) | (after <= self.rule.max_skew)
        return fine if owner else fine | (self._owners[domain] == 0)

    def _admitted(self, role: Role) -> Bools:
        fine = self._count + int(role.selected) - self._least_elsewhere() <= self.rule.max_skew
        if not role.owner:
            fine |= self._owners == 0
        return np.where(self.domain < 0, not role.owner, fine[self.domain])

    def is_kept(self) -> bool:
        """Whether it lets its pods be where they are."""
        over = self._count - self._least_elsewhere() > self.rule.max_skew
        return not bool((over & (self._owners > 0)).any())

    def opens(self, *, with_one: bool) -> Bools:
        """Localities in which a node may be opened: a domain that nobody expected has nothing in it.

        `with_one`: but a pod that surely comes to it, and is counted.
        """
        loaded = self._count[self._owners > 0]
        known = self.domains
        enough = int(known.sum()) >= self.rule.min_domains
        least = int(self._least[known].min(initial=1)) if with_one and enough else 0
        if (loaded <= self.rule.max_skew + least).all():
            return np.ones(len(self.domain), dtype=np.bool_)
        return (self.domain < 0) | self.domains[self.domain]

    def of_localities(self) -> Ints:
        """How many pods count where a locality is."""
        return np.where(self.domain < 0, 0, self._count[self.domain])

    def begin_at_home(self, others: Ints, needed: int) -> None:
        """Keep its own pods in one domain, and whom else it counts out of there.

        Where a spread counts pods that aren't under it, they mustn't crowd out its own, in whatever order they
        come (planning.md, "Zone spread"). `others`: homes of other spreads by domain; `needed`: so many of the
        others each other domain should have, for so many may come to be counted at home.
        """
        known = np.flatnonzero(self.domains)
        if self._home is None and len(known) > 1:
            home = known[np.lexsort((known, others[known], self._count[known]))[0]]
            self._home = (int(home), needed)
            others[home] += 1

    def steers(self, role: Role) -> Bools | None:
        """Localities where such a pod had better go."""
        if self._home is None:
            return None
        home, needed = self._home
        at_home: Bools = self.domain == home
        if role.owner:
            return at_home
        away = (self.domain >= 0) & ~at_home
        scarce = away & (self._count[self.domain] < needed)
        return np.where(scarce.any(), scarce, away)

    def _least_elsewhere(self) -> Ints:
        """For each domain the least count that can be relied on in any other."""
        known = self.domains
        if int(known.sum()) < self.rule.min_domains:
            return np.zeros(len(known), dtype=np.int64)
        least = np.where(known, self._least, _MANY)
        elsewhere = np.full(len(known), least.min())
        first = int(least.argmin())
        elsewhere[first] = np.delete(least, first).min(initial=_MANY)
        return elsewhere
