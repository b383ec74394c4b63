"""New nodes of a plan that are to stay what they are when their pods ask for more."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from nodewright.domain.nodes import ARCH_LABEL
from nodewright.domain.plans import Plan
from nodewright.domain.pods import PodKey
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling.arrays import Bools, Ints, every
from nodewright.domain.scheduling.budget import Contents
from nodewright.domain.scheduling.choosing import Stake
from nodewright.domain.scheduling.narrowing import Narrower, narrowed_shape
from nodewright.domain.scheduling.reach import Reach
from nodewright.domain.scheduling.shapes import Shape, wish_of
from nodewright.domain.snapshot import Snapshot


class PlannedNodes:
    """What could be bought for as much as each of them costs."""

    def __init__(self, snapshot: Snapshot, plan: Plan, preferred: Sequence[Requirements]) -> None:
        """`preferred`: what labels that pools leave open may be asked for."""
        planned = [(pods, launch.price) for launch in plan.launches for pods in launch.nodes]
        pods = {pod.key: pod for pod in snapshot.pods}
        self.contents: Contents = tuple(keys for keys, _ in planned)
        """Their pods."""
        self._prices = [price for _, price in planned]
        self._shapes = {
            key: Shape(pods[key].requests, wish_of(pods[key]), (), ()) for keys in self.contents for key in keys
        }
        self._reach = Reach(snapshot, list(dict.fromkeys(self._shapes.values())), preferred)
        self._request = cache(self._requested)
        self._asking = cache(self._asked)
        self._rows = cache(self._reach.rows)

    def values(self, number: int, key: str) -> Sequence[str]:
        """Of a label, that the node could have; those it has at the lowest price first."""
        return self._reach.values(self._rows_of(number, {}), key)

    def holding(self, asked: Narrower) -> Contents:
        """Contents of those that still do when these pods ask for more."""
        return tuple(keys for number, keys in enumerate(self.contents) if len(self._rows_of(number, asked)))

    def affordable(self, stakes: Mapping[PodKey, Sequence[Stake]]) -> Iterator[tuple[PodKey, Stake]]:
        """Preferences for nodes, heavy ones first, that a node can keep for what it costs."""
        for number, keys in enumerate(self.contents):
            wished = [(stake, pod) for pod in keys for stake in stakes.get(pod, ())]
            kept: dict[PodKey, Requirements] = {}
            for stake, pod in sorted(wished, key=lambda each: (-each[0].weight, each[1])):
                if stake.nodes is not None:
                    both = kept.get(pod, Requirements()).intersect(stake.nodes.requirements)
                    if len(self._rows_of(number, {**kept, pod: both})):
                        kept[pod] = both
                        yield pod, stake

    def _rows_of(self, number: int, asked: Narrower) -> Ints:
        """Offerings that hold its pods, of whom these ask for more, and cost no more than it does; cheapest first."""
        keys = self.contents[number]
        mask = self._reach.all_prices <= self._prices[number]
        for shape, requirements in {(self._shapes[key], asked.get(key)) for key in keys}:
            mask = mask & self._asking(shape, requirements)
        found = np.flatnonzero(mask)
        total = sum((self._request(key) for key in keys), np.zeros(self._reach.all_room.shape[1], dtype=np.int64))
        found = found[every(self._reach.all_room[found] >= total)]
        return found[np.argsort(self._reach.all_prices[found], kind="stable")]

    def _asked(self, shape: Shape, requirements: Requirements | None) -> Bools:
        rows = self._rows(shape)
        if requirements is None:
            return rows
        # What is kept back from a pod stays so while there is anything else for it, and it minds no architecture.
        fewer = rows & self._reach.labelled(requirements)
        if fewer.any() and ARCH_LABEL not in requirements:
            return fewer
        return self._rows(narrowed_shape(shape, requirements))

    def _requested(self, pod: PodKey) -> Ints:
        return self._reach.request(self._shapes[pod].requests)
