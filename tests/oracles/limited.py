"""What limits permit at best, found by trying everything: for worlds of a few pods and types, without nodes."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations

from nodewright.domain.limits import NODES
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod
from nodewright.domain.snapshot import PoolOptions, Snapshot

ZONE = "topology.kubernetes.io/zone"
POOL = "karpenter.sh/nodepool"

Best = tuple[tuple[int, ...], int]
"""Pods left of each priority, the highest first; nanodollars per hour."""


def best(world: Snapshot) -> Best:
    """Of all plans; weights of pools are no matter."""
    pods = tuple(world.pods)
    ranks = sorted({pod.priority for pod in pods}, reverse=True)
    alone = [tuple(int(pod.priority == rank) for rank in ranks) for pod in pods]
    purses = tuple(tuple(sorted((each.remaining or {}).items())) for each in world.pools)
    contents = _contents(world, pods)

    @cache
    def cheapest(first: int, taken: frozenset[int], left: tuple[tuple[tuple[str, int], ...], ...]) -> Best:
        while first in taken:
            first += 1
        if first >= len(pods):
            return (0,) * len(ranks), 0
        out, cost = cheapest(first + 1, taken, left)
        found = (tuple(map(sum, zip(out, alone[first], strict=True))), cost)
        for content, pool, used, price in contents[first]:
            if taken.isdisjoint(content):
                rest = tuple((name, amount - used.get(name, 0)) for name, amount in left[pool])
                if all(amount >= 0 for _, amount in rest):
                    paid = (*left[:pool], rest, *left[pool + 1 :])
                    out, cost = cheapest(first + 1, taken | content, paid)
                    found = min(found, (out, cost + price))
        return found

    return cheapest(0, frozenset(), purses)


def came_to(world: Snapshot, plan: Plan) -> Best:
    """The same of a plan."""
    priorities = {pod.key: pod.priority for pod in world.pods}
    left = [priorities[each.pod] for each in plan.unschedulable]
    return tuple(left.count(rank) for rank in sorted(set(priorities.values()), reverse=True)), plan.cost


Content = tuple[frozenset[int], int, dict[str, int], int]
"""Pods, the pool, what it takes of limits, its price."""


def _contents(world: Snapshot, pods: Sequence[Pod]) -> dict[int, list[Content]]:
    """By the first of their pods."""
    found: dict[int, list[Content]] = {number: [] for number in range(len(pods))}
    for size in range(1, len(pods) + 1):
        for some in combinations(range(len(pods)), size):
            for number, options in enumerate(world.pools):
                found[some[0]] += _nodes([pods[each] for each in some], frozenset(some), number, options)
    return found


def _nodes(some: Sequence[Pod], numbers: frozenset[int], pool: int, options: PoolOptions) -> Iterator[Content]:
    """The cheapest node of each type that holds these."""
    if sum(bool(pod.anti_affinity) for pod in some) > 1:
        return
    for kind in options.instance_types:
        labels = {**kind.labels, POOL: options.pool.name}
        prices = [
            each.price
            for each in kind.offerings
            if all(one.admits({**labels, ZONE: each.zone}) for pod in some for one in pod.alternatives)
        ]
        asked = {name: sum(pod.requests.get(name) for pod in some) for name in kind.allocatable}
        if prices and all(kind.allocatable.get(name) >= amount for name, amount in asked.items()):
            yield numbers, pool, {**kind.capacity, NODES: 1}, min(prices)
