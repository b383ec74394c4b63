"""How many pods a spread over domains of many nodes counts where, and what that leaves open to further ones."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.localities import Localities
from nodewright.domain.scheduling.roles import Role
from nodewright.domain.scheduling.rules import SpreadRule
from nodewright.domain.scheduling.terms import Ruling

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
