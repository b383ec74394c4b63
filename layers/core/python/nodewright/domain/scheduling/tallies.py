"""How many pods each rule counts where, and what that leaves open to further ones."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.localities import Localities
from nodewright.domain.scheduling.roles import Role
from nodewright.domain.scheduling.rules import RepulsionRule, Rule, SpreadRule, is_host
from nodewright.domain.scheduling.spread_tallies import SpreadTally
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


def _tally(rule: Rule, localities: Localities) -> SpreadTally | HostSpread | Repulsion | Affinity:
    if isinstance(rule, SpreadRule):
        return HostSpread(rule, localities) if is_host(rule.key) else SpreadTally(rule, localities)
    return Repulsion(rule, localities) if isinstance(rule, RepulsionRule) else Affinity(rule, localities)
