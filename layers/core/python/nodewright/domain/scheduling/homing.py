"""Spreads that count pods which aren't under them: a home for their own, the other domains for the rest.

The others never wait. With at least as many of them in each other domain as may be at home, less the skew, no order
of binding keeps those at home out (planning.md, "Zone spread").
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from nodewright.domain.scheduling.allotments import NOWHERE, Allotment, levelled
from nodewright.domain.scheduling.arrays import Bools, Floats, Ints
from nodewright.domain.scheduling.gathering import OVER_DOMAINS
from nodewright.domain.scheduling.tallies import SpreadTally


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
        self._sure: dict[int, Ints] = {rule: self._tally(rule).relied_on.copy() for rule in rules}
        """Those it may count on, by domain."""
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
                costs = self._allotment.costs(kind, key).copy()
                costs[[self._home[rule] for rule in rules if self._matters(rule)]] = np.inf
                if not np.isfinite(costs).any():
                    return False
                pods = self._dealt(kind, rules, key, costs)
                self._allotment.give(kind, key, pods)
                for rule in rules:
                    self._sure[rule] += pods
        return True

    def holds(self) -> bool:
        """Whether every spread's own pods can come in any order."""
        return all(not self._matters(rule) or not (self._needs(rule) > 0).any() for rule in self._rules)

    def _tally(self, rule: int) -> SpreadTally:
        return self._allotment.scene.tallies.spreads_by_rule[rule]

    def _matters(self, rule: int) -> bool:
        """A spread over a single domain keeps nobody out."""
        return int(self._tally(rule).domains.sum()) > 1

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
        return int(np.lexsort((allotment.load(key), homes, cost, counts))[0])

    def _count_at_home(self) -> None:
        kinds = self._allotment.scene.tangle.kinds
        for rule in self._rules:
            self._at_home[rule] = int(self._tally(rule).counts[self._home[rule]])
        for other, home in self._home.items():
            for kind in self._allotment.owners(other):
                for rule in self._counting(kind):
                    if self._home[rule] == home:
                        self._at_home[rule] += len(kinds[kind].pods)

    def _needs(self, rule: int) -> Ints:
        """How many more that never wait each other domain should have."""
        spread, tally = self._tally(rule).rule, self._tally(rule)
        elsewhere: Bools = tally.domains & (np.arange(len(tally.domains)) != self._home[rule])
        short: Ints = np.where(elsewhere, self._at_home[rule] - spread.max_skew - self._sure[rule], 0)
        return np.maximum(short, 0)

    def _dealt(self, kind: int, rules: Sequence[int], key: str, costs: Floats) -> Ints:
        """What is needed first; the rest where it costs least, evenly."""
        allowed, many = np.isfinite(costs), self._allotment.count(kind)
        needs = np.where(allowed, np.max([self._needs(rule) for rule in rules], axis=0), 0)
        first = levelled(np.where(needs > 0, -needs, NOWHERE), min(many, int(needs.sum())))
        cheapest = costs == costs.min()
        load = self._allotment.load(key)
        return first + levelled(np.where(cheapest, 0, NOWHERE), many - int(first.sum()), [load])


def _elsewhere(costs: Floats) -> Floats:
    """By domain: the least that any other one costs."""
    best = np.sort(costs)[:2]
    second = best[1] if len(best) > 1 else best[0]
    found: Floats = (
        np.where(costs == best[0], second, best[0]) if (costs == best[0]).sum() == 1 else np.full(len(costs), best[0])
    )
    return found
