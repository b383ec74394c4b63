"""Pods under several spreads at once, beyond what ranks allow (waiting_order.py): placed where exploring proves it."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.exploring import SpreadView, never_stuck
from nodewright.domain.scheduling.roles import Role
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.tallies import SpreadTally

Cell = tuple[int, ...]
"""A domain of each of the spreads."""


def crossed(scene: Scene, number: int) -> tuple[tuple[int, ...], Bools] | None:
    """The several spreads of a kind, and localities where one more pod can't get stuck for them.

    None where it has only one, or where they bind pods that don't have them all.
    """
    mine = _spreads(scene, number)
    group = [each for each in range(len(scene.tangle.kinds)) if set(_rules(scene, each)) & set(mine)]
    if len(mine) < 2 or any(_look(scene, each, mine) != _look(scene, number, mine) for each in group):
        return None
    tallies = [scene.tallies.spreads_by_rule[rule] for rule in mine]
    domains = np.array([tally.domain for tally in tallies])
    placed: Counter[Cell] = Counter()
    for each in group:
        for locality, many in scene.placed[each].items():
            placed[tuple(domains[:, locality].tolist())] += many
    fine = {cell: _proven(scene, number, mine, placed, cell) for cell in {tuple(c) for c in domains.T.tolist()}}
    return mine, np.array([fine[tuple(cell)] for cell in domains.T.tolist()], dtype=np.bool_)


def _proven(scene: Scene, number: int, mine: Sequence[int], placed: Counter[Cell], more: Cell) -> bool:
    if min(more) < 0:
        return False
    counts = placed + Counter({more: 1})
    cells = sorted(counts)
    roles = {role.rule: role for role in scene.roles[number]}
    views = [
        _view(scene.tallies.spreads_by_rule[rule], roles[rule], [cell[at] for cell in cells], placed, at)
        for at, rule in enumerate(mine)
    ]
    return never_stuck([counts[cell] for cell in cells], views)


def _view(tally: SpreadTally, role: Role, domain_of: Sequence[int], placed: Counter[Cell], at: int) -> SpreadView:
    """The spread without the group itself, over the domains there are or may be."""
    known = sorted({*np.flatnonzero(tally.domains).tolist(), *domain_of})
    index = {domain: place for place, domain in enumerate(known)}
    most, least = tally.counts[known].copy(), tally.relied_on[known].copy()
    for cell, many in placed.items():
        most[index[cell[at]]] -= many * role.selected
        least[index[cell[at]]] -= many * (role.selected and role.counted_on)
    return SpreadView(
        domain_of=tuple(index[domain] for domain in domain_of),
        counts_itself=role.selected,
        most=most,
        least=least,
        max_skew=tally.rule.max_skew,
        enough_domains=len(known) >= tally.rule.min_domains,
    )


def _spreads(scene: Scene, number: int) -> tuple[int, ...]:
    return tuple(sorted(_rules(scene, number)))


def _rules(scene: Scene, number: int) -> Iterator[int]:
    return (rule for rule in scene.tangle.kinds[number].owns if rule in scene.tallies.spreads_by_rule)


def _look(scene: Scene, number: int, mine: Sequence[int]) -> tuple[object, ...]:
    """What these spreads see of a kind."""
    return (_spreads(scene, number), [(role.rule, role.selected) for role in scene.roles[number] if role.rule in mine])
