"""Which of a gathering's pods go to which domain, as far as that is settled."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nodewright.domain.requirements import Requirement
from nodewright.domain.scheduling.arrays import Floats, Ints
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

    def __init__(self, scene: Scene, prospects: Prospects, loads: dict[str, Floats], gathering: Gathering) -> None:
        self.scene = scene
        self.gathering = gathering
        self._prospects = prospects
        self._loads = loads
        self._given: dict[int, tuple[str, Ints]] = {}

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

    def load(self, key: str) -> Floats:
        """What each domain has been given."""
        return self._loads.setdefault(key, np.zeros(len(self.scene.localities.names(key))))

    def give(self, kind: int, key: str, pods: Ints) -> None:
        """So many pods of a kind to each domain."""
        self._given[kind] = (key, pods)
        there = pods > 0
        self.load(key)[there] += pods[there] * self.costs(kind, key)[there]

    def give_all(self, kind: int, key: str, domain: int) -> None:
        """All pods of a kind to one domain."""
        pods = np.zeros(len(self.load(key)), dtype=np.int64)
        pods[domain] = self.count(kind)
        self.give(kind, key, pods)

    def portions(self) -> Iterator[Portion]:
        """Of all kinds."""
        for kind in self.gathering.kinds:
            if kind in self._given:
                key, pods = self._given[kind]
                names = self.scene.localities.names(key)
                for domain in np.flatnonzero(pods).tolist():
                    yield Portion(kind, int(pods[domain]), Requirement.of(key, "In", [names[domain]]))
            else:
                yield Portion(kind, self.count(kind), None)


def levelled(counts: Ints, many: int, preference: Sequence[Floats | Ints] = ()) -> Ints:
    """So many more, always where fewest are; of equal ones by preference, the last one first."""
    order = np.lexsort((np.arange(len(counts)), *preference, counts))
    sorted_counts = counts[order]
    level = np.zeros(len(counts), dtype=np.int64)
    for width in range(1, len(counts) + 1):
        there = int(sorted_counts[:width].sum())
        if width == len(counts) or int(sorted_counts[width]) * width - there >= many:
            total = there + many
            level[:width] = total // width - sorted_counts[:width]
            first = np.lexsort((np.arange(width), *(each[order[:width]] for each in preference)))
            level[first[: total % width]] += 1
            break
    pods = np.zeros(len(counts), dtype=np.int64)
    pods[order] = level
    return pods
