"""Pods that are still to come, where rules count them: told to the tallies before anything is placed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from nodewright.domain.pods import DaemonSet, Pod, PodKey
from nodewright.domain.scheduling.arrays import Ints
from nodewright.domain.scheduling.entangled import Tangle
from nodewright.domain.scheduling.localities import passing
from nodewright.domain.scheduling.new_daemons import NewDaemons
from nodewright.domain.scheduling.opened import Opened
from nodewright.domain.scheduling.residents import daemons_to_come
from nodewright.domain.scheduling.roles import bound_roles
from nodewright.domain.scheduling.rules import topology_keys
from nodewright.domain.scheduling.tallies import Tallies
from nodewright.domain.scheduling.waiting_order import rank
from nodewright.domain.snapshot import Room


def expect_daemons(
    tallies: Tallies, tangle: Tangle, daemon_sets: Iterable[DaemonSet], room: Room, locality: int, site: int
) -> None:
    """DaemonSets' pods that come to a node, unless a bound pod keeps them off."""
    for daemon_set in daemons_to_come(room, daemon_sets):
        daemon = bound_roles(tangle.selections.of(daemon_set.key.namespace, daemon_set.labels))
        where = tallies.unrepelled(daemon)
        if where.localities[locality] and site not in where.never:
            tallies.add(daemon, locality, site)


def expect_on_hosts(tallies: Tallies, opened: Sequence[Opened], daemons: Sequence[NewDaemons]) -> None:
    """What spreads over nodes count on every new one."""
    for rule, spread in tallies.host_spreads.items():
        least: list[int] = []
        for some, theirs in zip(opened, daemons, strict=True):
            rows = some.place.on_sale & some.affordable & passing(some.place, spread.rule.nodes)
            if rows.any():
                least.append(int(theirs.counted(rule)[rows].min()))
        spread.expect(min(least, default=0))


def never_full(tallies: Tallies, tangle: Tangle, daemons: Sequence[NewDaemons]) -> frozenset[int]:
    """Spreads that keep nobody out: all that they will ever count may be in one domain."""
    coming: Counter[int] = Counter()
    for kind in tangle.kinds:
        coming.update(dict.fromkeys(kind.selected, len(kind.pods)))
    unbounded = {rule for each in daemons for rule in each.rules}
    return frozenset(
        rule
        for rule, spread in tallies.spreads_by_rule.items()
        if rule not in unbounded and spread.counts.sum() + coming[rule] <= spread.rule.max_skew
    )


def find_homes(tallies: Tallies, tangle: Tangle, waiting: Sequence[Mapping[PodKey, Pod]], ranks: Sequence[int]) -> None:
    """For spreads that count pods that aren't under them."""
    mixed = {rule for kind in tangle.kinds for rule in set(kind.selected) - set(kind.owns)}
    expected: Counter[int] = Counter()
    for kind, pods in zip(tangle.kinds, waiting, strict=True):
        if rank(kind, ranks):
            expected.update(dict.fromkeys(kind.selected, len(pods)))
    homes: dict[str, Ints] = {}
    for rule, spread in tallies.spreads_by_rule.items():
        if rule in mixed:
            key = topology_keys(tangle.rules[rule])[0]
            others = homes.setdefault(key, np.zeros(len(spread.counts), dtype=np.int64))
            spread.begin_at_home(others, expected[rule])
