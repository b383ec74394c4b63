"""Spreads that count pods which aren't under them: a home for their own, the other domains for the rest.

The others never wait. With at least as many of them in each other domain as may be at home, less the skew, no order
of binding keeps those at home out (planning.md, "Zone spread").
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from nodewright.domain.scheduling.allotments import NOWHERE, Allotment, levelled
from nodewright.domain.scheduling.arrays import Floats
from nodewright.domain.scheduling.gathering import OVER_DOMAINS
from nodewright.domain.scheduling.spread_tallies import SpreadTally


def bring_home(allotment: Allotment, rules: Sequence[int]) -> bool:
    """Whether the pods of these spreads, and those that they count, have domains in which they hold."""
    homing = _Homing(allotment, rules)
    return homing.homes() and homing.guests() and homing.holds()


class _Homing:
    def __init__(self, allotment: Allotment, rules: Sequence[int]) -> None:
        self._allotment = allotment
        self._rules = rules
        self._home: dict[int, int] = {}
        self._at_home: Counter[int] = Counter()
        """Pods that each spread counts in its home."""
        self._sure: dict[int, list[int]] = {rule: self._tally(rule).relied_on.tolist() for rule in rules}
        """Those it may count on, by domain."""
        self._domains: dict[int, list[bool]] = {rule: self._tally(rule).domains.tolist() for rule in rules}
        self._mattering = frozenset(rule for rule in rules if sum(self._domains[rule]) > 1)
        """A spread over a single domain keeps nobody out."""
        kinds = allotment.scene.tangle.kinds
        sorts = allotment.gathering.rules
        self._guests = [
            kind
            for kind in allotment.gathering.kinds
            if not any(sorts[own] in OVER_DOMAINS for own in kinds[kind].owns)
        ]
        """Kinds that have no such rule themselves."""

    def homes(self) -> bool:
        """Choose them, and send each spread's own pods there."""
        others: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for rule in self._rules:
            key = self._allotment.key(rule)
            home = self._best_home(rule, key, others[key])
            if home is None:
                return False
            self._home[rule] = home
            others[key][home] += 1
            for kind in self._allotment.owners(rule):
                self._allotment.give_all(kind, key, home)
        self._count_at_home()
        return True

    def guests(self) -> bool:
        """Send those it counts elsewhere."""
        for kind in self._guests:
            rules = self._counting(kind)
            if rules:
                key = self._allotment.key(rules[0])
                homes = {self._home[rule] for rule in rules if rule in self._mattering}
                costs = self._allotment.costs(kind, key).tolist()
                costs = [math.inf if domain in homes else cost for domain, cost in enumerate(costs)]
                if min(costs) == math.inf:
                    return False
                pods = self._dealt(kind, rules, key, costs)
                self._allotment.give(kind, key, pods)
                for rule in rules:
                    self._sure[rule] = [before + more for before, more in zip(self._sure[rule], pods, strict=True)]
        return True

    def holds(self) -> bool:
        """Whether every spread's own pods can come in any order."""
        return not any(any(self._needs(rule)) for rule in self._mattering)

    def _tally(self, rule: int) -> SpreadTally:
        return self._allotment.scene.tallies.spreads_by_rule[rule]

    def _counting(self, kind: int) -> list[int]:
        selected = self._allotment.scene.tangle.kinds[kind].selected
        return [rule for rule in self._rules if rule in selected]

    def _best_home(self, rule: int, key: str, others: Mapping[int, int]) -> int | None:
        """Where it counts fewest already; of equal ones where all pods cost least, then where fewest homes are."""
        allotment, tally = self._allotment, self._tally(rule)
        cost = allotment.cost(allotment.owners(rule), key)
        for kind in self._guests:
            if rule in allotment.scene.tangle.kinds[kind].selected:
                cost = cost + _elsewhere(allotment.costs(kind, key)) * allotment.count(kind)
        cost = np.where(tally.domains, cost, np.inf)
        if not np.isfinite(cost).any():
            return None
        counts = np.where(np.isfinite(cost), tally.counts, NOWHERE)
        homes = np.array([others[domain] for domain in range(len(cost))])
        return int(np.lexsort((np.array(allotment.load(key)), homes, cost, counts))[0])

    def _count_at_home(self) -> None:
        kinds = self._allotment.scene.tangle.kinds
        for rule in self._rules:
            self._at_home[rule] = int(self._tally(rule).counts[self._home[rule]])
        for other, home in self._home.items():
            for kind in self._allotment.owners(other):
                for rule in self._counting(kind):
                    if self._home[rule] == home:
                        self._at_home[rule] += len(kinds[kind].pods)

    def _needs(self, rule: int) -> list[int]:
        """How many more that never wait each other domain should have."""
        least, home = self._at_home[rule] - self._tally(rule).rule.max_skew, self._home[rule]
        domains = enumerate(zip(self._domains[rule], self._sure[rule], strict=True))
        return [max(0, least - sure) if there and domain != home else 0 for domain, (there, sure) in domains]

    def _dealt(self, kind: int, rules: Sequence[int], key: str, costs: Sequence[float]) -> list[int]:
        """What is needed first; the rest where it costs least, evenly."""
        many, best = self._allotment.count(kind), min(costs)
        most = map(max, zip(*(self._needs(rule) for rule in rules), strict=True))
        needs = [need if cost < math.inf else 0 for need, cost in zip(most, costs, strict=True)]
        first = levelled([-need if need else NOWHERE for need in needs], min(many, sum(needs)))
        counts = [0 if cost == best else NOWHERE for cost in costs]
        rest = levelled(counts, many - sum(first), [self._allotment.load(key)])
        return [one + other for one, other in zip(first, rest, strict=True)]


def _elsewhere(costs: Floats) -> Floats:
    """By domain: the least that any other one costs."""
    best = np.sort(costs)[:2]
    second = best[1] if len(best) > 1 else best[0]
    found: Floats = (
        np.where(costs == best[0], second, best[0]) if (costs == best[0]).sum() == 1 else np.full(len(costs), best[0])
    )
    return found
