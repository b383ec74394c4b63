"""Which of a gathering's pods go to which domain, as far as that is settled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling.arrays import Floats
from nodewright.domain.scheduling.gathering import Gathering
from nodewright.domain.scheduling.prospects import Prospects
from nodewright.domain.scheduling.rules import topology_keys
from nodewright.domain.scheduling.scene import Scene

NOWHERE: Final = 2**40
"""A count that no domain has."""


@dataclass(frozen=True, slots=True)
class Portion:
    """So many pods of a kind that go to one domain, or wherever they like."""

    kind: int
    count: int
    where: Requirement | None


class Allotment:
    """Of one gathering. `loads`: what each domain has been given so far, by key; nodes are best shared evenly."""

    def __init__(self, scene: Scene, prospects: Prospects, loads: dict[str, list[float]], gathering: Gathering) -> None:
        self.scene = scene
        self.gathering = gathering
        self._prospects = prospects
        self._loads = loads
        self._given: dict[int, tuple[str, Sequence[int]]] = {}

    def count(self, kind: int) -> int:
        """How many pods it has."""
        return len(self.scene.tangle.kinds[kind].pods)

    def key(self, rule: int) -> str:
        """Of the domains of a rule over one."""
        return topology_keys(self.scene.tangle.rules[rule])[0]

    def owners(self, rule: int) -> Sequence[int]:
        """Kinds that have it."""
        return [kind for kind in self.gathering.kinds if rule in self.scene.tangle.kinds[kind].owns]

    def costs(self, kind: int, key: str) -> Floats:
        """Of one pod, by domain."""
        return self._prospects.costs(kind, key)

    def cost(self, kinds: Sequence[int], key: str) -> Floats:
        """Of all pods of these kinds, were they in one domain; endless where some can't be there."""
        zero = np.zeros(len(self.load(key)))
        return np.asarray(sum((self.costs(kind, key) * self.count(kind) for kind in kinds), zero))

    def load(self, key: str) -> Sequence[float]:
        """What each domain has been given."""
        return self._loads.setdefault(key, [0.0] * len(self.scene.localities.names(key)))

    def give(self, kind: int, key: str, pods: Sequence[int]) -> None:
        """So many pods of a kind to each domain."""
        self._given[kind] = (key, pods)
        costs = self.costs(kind, key).tolist()
        each = zip(self.load(key), pods, costs, strict=True)
        self._loads[key] = [before + many * cost if many else before for before, many, cost in each]

    def give_all(self, kind: int, key: str, domain: int) -> None:
        """All pods of a kind to one domain."""
        pods = [0] * len(self.load(key))
        pods[domain] = self.count(kind)
        self.give(kind, key, pods)

    def portions(self) -> Iterator[Portion]:
        """Of all kinds."""
        for kind in self.gathering.kinds:
            if kind in self._given:
                key, pods = self._given[kind]
                names = self.scene.localities.names(key)
                for domain, many in enumerate(pods):
                    if many:
                        yield Portion(kind, many, Requirement.of(key, "In", [names[domain]]))
            else:
                yield Portion(kind, self.count(kind), None)


def levelled(counts: Sequence[int], many: int, preference: Sequence[Sequence[float]] = ()) -> list[int]:
    """So many more, always where fewest are; of equal ones by preference, the last one first.

    Domains are few and this is asked for every kind of pods: lists are quicker than arrays.
    """
    order = sorted(range(len(counts)), key=lambda each: (counts[each], *_liking(each, preference), each))
    width, there = 1, counts[order[0]]
    while width < len(order) and counts[order[width]] * width - there < many:
        there += counts[order[width]]
        width += 1
    level, more = divmod(there + many, width)
    pods = [0] * len(counts)
    for each in order[:width]:
        pods[each] = level - counts[each]
    for each in sorted(order[:width], key=lambda each: _liking(each, preference))[:more]:
        pods[each] += 1
    return pods


def _liking(domain: int, preference: Sequence[Sequence[float]]) -> tuple[float, ...]:
    return tuple(each[domain] for each in reversed(preference))
