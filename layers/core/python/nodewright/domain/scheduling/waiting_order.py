"""In which order rules may wait for each other, so that a plan holds in whatever order pods are bound.

A pod under a spread may have to wait until others are there, as may one with an affinity. Rules get ranks; a
pod's rank is the highest of the rules it waits for, 0 when it never waits. By induction all pods of lower
rank come to their places, so a rule may count on them, and on pods for which it is the last rule to wait for:

* spread: all selected pods count towards a domain's number, but only those it may count on towards the least.
  Were pods stuck, then in the domain that has least, not their own, some it may count on are missing (else
  nobody was stuck); they have this rule, and it never keeps anybody out of the domain that has least.
* affinity: some pod it may count on is in the domain; or all selected pods are in one domain and each has
  the rule and selects itself: the first to come may come, and the others then follow.

Rules that wait for each other in a circle are ranked all the same: what then can't be counted on isn't placed.
"""

import heapq
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet

from nodewright.domain.scheduling.entangled import Kind
from nodewright.domain.scheduling.rules import AffinityRule, Rule, SpreadRule, counts_nothing, is_host


def ranks(
    rules: Sequence[Rule], kinds: Sequence[Kind], harmless: AbstractSet[int], supported: AbstractSet[int] = frozenset()
) -> tuple[int, ...]:
    """Of each rule, from 1; 0 where nobody ever waits for it, as for the harmless ones.

    `supported`: affinities that count somebody who is there.
    """
    waits = {index for index, rule in enumerate(rules) if may_wait(rule) and not _stands_alone(index, rule, kinds)}
    waits -= harmless
    first = {index: number for number, kind in reversed(list(enumerate(kinds))) for index in kind.owns}
    before = _dependencies(waits, kinds)
    found = [0] * len(rules)

    def may_come_first(index: int, left: Collection[int]) -> bool:
        """An affinity needs only one pod that surely comes."""
        sure = (kind for kind in kinds if index in kind.selected and not any(rule in left for rule in kind.owns))
        return isinstance(rules[index], AffinityRule) and (index in supported or any(sure))

    order = sorted(waits, key=lambda each: (first.get(each, 0), each))
    for number, index in enumerate(_sorted(order, before, may_come_first)):
        found[index] = number + 1
    return tuple(found)


def may_wait(rule: Rule) -> bool:
    """Hostname spreads are kept by counts alone (any node may be empty), repulsions by nobody being there."""
    if isinstance(rule, SpreadRule):
        return not is_host(rule.key) and not counts_nothing(rule)
    return isinstance(rule, AffinityRule)


def rank(kind: Kind, of_rules: Sequence[int]) -> int:
    """Of a kind of pods."""
    return max((of_rules[index] for index in kind.owns), default=0)


def counted_on(index: int, kind: Kind, of_rules: Sequence[int]) -> bool:
    """Whether a rule may count on these pods to come."""
    own = rank(kind, of_rules)
    return own == 0 or own < of_rules[index] or (own == of_rules[index] and index in kind.owns)


def _stands_alone(index: int, rule: Rule, kinds: Sequence[Kind]) -> bool:
    """An affinity within a group: nobody outside of it counts, so it bootstraps or is where a bound pod is."""
    return isinstance(rule, AffinityRule) and all((index in k.owns) == (index in k.selected) for k in kinds)


def _dependencies(waits: AbstractSet[int], kinds: Sequence[Kind]) -> Mapping[int, AbstractSet[int]]:
    """Rule → rules that should be ranked before it: those of the pods it counts."""
    before: defaultdict[int, set[int]] = defaultdict(set)
    for kind in kinds:
        own = waits & frozenset(kind.owns)
        for index in waits & frozenset(kind.selected):
            before[index] |= own - {index}
    return before


def _sorted(
    order: Sequence[int], before: Mapping[int, AbstractSet[int]], may_come_first: Callable[[int, Collection[int]], bool]
) -> Sequence[int]:
    """Topologically, by `order` where that leaves a choice; a circle is broken at one that may, or at its first."""
    turn = {index: number for number, index in enumerate(order)}
    open_before = {index: len(before.get(index, ())) for index in order}
    after: defaultdict[int, list[int]] = defaultdict(list)
    for index in order:
        for other in before.get(index, ()):
            after[other].append(index)
    ready = [turn[index] for index in order if not open_before[index]]
    heapq.heapify(ready)
    left, found = dict.fromkeys(order), list[int]()
    while left:
        index = (
            order[heapq.heappop(ready)]
            if ready
            else next((i for i in left if may_come_first(i, left)), next(iter(left)))
        )
        if index not in left:
            continue
        del left[index]
        found.append(index)
        for other in sorted(after[index], key=turn.__getitem__):
            open_before[other] -= 1
            if not open_before[other] and other in left:
                heapq.heappush(ready, turn[other])
    return found
