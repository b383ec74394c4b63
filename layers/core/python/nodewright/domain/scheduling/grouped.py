"""A plan in which pods under rules are packed by shape with all others, as far as their rules are simple.

What packs (requests, domain, numbers per node) is kept apart from what counts (labels and selectors): first a domain
for every pod that needs one (apportioning.py), then packings that keep numbers per node (caps.py), then who takes
which place (seating.py). What is left is planned carefully around that.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

import numpy as np

from nodewright.domain.plans import Launch, Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.scheduling.allotments import Portion
from nodewright.domain.scheduling.apportioning import Apportioning
from nodewright.domain.scheduling.as_planned import AsPlanned
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.buying import buy, relaxed_bound
from nodewright.domain.scheduling.caps import Caps, caps
from nodewright.domain.scheduling.entangled import Tangle
from nodewright.domain.scheduling.gathering import Gathering, Sort, gatherings
from nodewright.domain.scheduling.prospects import Prospects
from nodewright.domain.scheduling.proving import proven
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.seating import INDIFFERENT, Manners, Seating
from nodewright.domain.scheduling.shapes import Shape, Waiting, Wish, in_turn
from nodewright.domain.scheduling.succession import completed
from nodewright.domain.scheduling.tolls import tolled
from nodewright.domain.snapshot import Snapshot

Planner = Callable[[Snapshot], Plan]


def grouped(
    snapshot: Snapshot,
    scene: Scene,
    free: Sequence[Shape],
    meter: Meter,
    careful: Planner,
    like: Plan | None = None,
) -> Plan | None:
    """None where no pod under rules is simple. For snapshots without rooms; `careful` plans what is left.

    `like`: a plan whose pods are to be in the domains where they are there.
    """
    scene.look_round()
    prospects = Prospects(scene)
    given = AsPlanned(snapshot, scene.tangle, like) if like else Apportioning(scene, prospects)
    portions = [(each, given.portions(each)) for each in gatherings(scene, prospects)]
    allotted = [(each, found) for each, found in portions if found is not None]
    return _Grouping(snapshot, scene.tangle, allotted, free, meter).plan(careful) if allotted else None


class _Grouping:
    def __init__(
        self,
        snapshot: Snapshot,
        tangle: Tangle,
        allotted: Sequence[tuple[Gathering, Sequence[Portion]]],
        free: Sequence[Shape],
        meter: Meter,
    ) -> None:
        gathered = [gathering for gathering, _ in allotted]
        self._snapshot = snapshot
        self._tangle = tangle
        self._meter = meter
        self._caps = caps(tangle, gathered)
        portions = [each for _, some in allotted for each in some]
        self._shapes = _shapes(tangle, self._caps, portions, free)
        self._where = {pod.key: each.where for each, some in _members(tangle, portions) for pod in some}
        self._free = free
        self._pools = [options for options in snapshot.pools if not options.pool.terminating]
        self._apart = {
            rule: tangle.rules[rule] for each in gathered for rule, sort in each.rules.items() if sort is Sort.APART
        }
        self._manners = dict(_manners(tangle, gathered, self._apart.keys()))

    def plan(self, careful: Planner) -> Plan | None:
        """All of it; None where some pods have to be planned around nodes whose lists can't be cut for that."""
        plans = (self._around(each, careful) for each in self._purchases())
        return min(
            (plan for plan in plans if plan is not None),
            key=lambda plan: (len(plan.unschedulable), plan.cost),
            default=None,
        )

    def _purchases(self) -> Iterator[tuple[Launch, ...]]:
        """Nodes bought for all, but for those who find no seat there: for these then as well, where limits allow.

        What is packed best for all isn't always what seats most; so where more than a few found none, what could
        be had at once is tried, too.
        """
        launches = self._bought(self._shapes, self._meter)
        left = _without(self._shapes, _placed(launches))
        limited = any(options.remaining is not None for options in self._pools)
        if self._meter.finishing or limited or not left:
            yield launches
        if left and not limited:
            yield (*launches, *self._bought(left, self._meter))
            unseated = sum(len(shape.pods) for shape in left)
            if self._meter.finishing and unseated * _FEW > len(self._snapshot.pods):
                at_once = self._meter.at_once()
                launches = self._bought(self._shapes, at_once)
                yield (*launches, *self._bought(_without(self._shapes, _placed(launches)), at_once))

    def _around(self, launches: tuple[Launch, ...], careful: Planner) -> Plan | None:
        """The rest planned around these."""
        placed = _placed(launches)
        left = [self._bound_to_domain(pod) for pod in self._snapshot.pods if pod.key not in placed]
        cost = sum(launch.price * len(launch.nodes) for launch in launches)
        plan = Plan(launches=launches, cost=cost, truncated=self._meter.stopped)
        whole = completed(self._snapshot, plan, left, self._tangle.rules, careful)
        return None if whole is None else replace(whole, bound=self._bound(whole.launches))

    def _bought(self, shapes: Sequence[Shape], meter: Meter) -> tuple[Launch, ...]:
        """New nodes for these, less those who found no seat."""
        daemon_sets, waiting = self._snapshot.daemon_sets, Waiting(shapes)
        toll = meter.toll
        purchase = buy(self._pools, daemon_sets, waiting, meter, lambda each: tolled(each, toll), self._caps.every)
        return tuple(self._seated(purchase.launches))

    def _bound_to_domain(self, pod: Pod) -> Pod:
        """Others count on it to come there."""
        where = self._where.get(pod.key)
        return pod if where is None else replace(pod, alternatives=_narrowed(pod.alternatives, where))

    def _seated(self, launches: Sequence[Launch]) -> Iterator[Launch]:
        """The launches with pods of equal shape where they may be."""
        shape_of = {key: number for number, shape in enumerate(self._shapes) for key in shape.pods}
        nodes = [keys for launch in launches for keys in launch.nodes]
        pods: defaultdict[int, list[tuple[PodKey, Manners]]] = defaultdict(list)
        for keys in nodes:
            for key in keys:
                pods[shape_of[key]].append((key, self._manners.get(key, INDIFFERENT)))
        seats = Seating(self._apart, [Counter(shape_of[key] for key in keys) for keys in nodes]).seat(pods)
        turn = iter(seats)
        for launch in launches:
            filled = tuple(tuple(keys) for keys in (next(turn) for _ in launch.nodes) if keys)
            if filled:
                yield replace(launch, nodes=filled)

    def _bound(self, launches: Sequence[Launch]) -> int:
        """Whatever the rules, but for numbers per node."""
        if any(options.remaining is not None for options in self._pools):
            # Where no further nodes can be had a spread over nodes is no number per node.
            return proven(self._snapshot, launches)
        placed = _placed(launches)
        whole = [Portion(number, len(kind.pods), None) for number, kind in enumerate(self._tangle.kinds)]
        shapes = _shapes(self._tangle, self._caps, whole, self._free, proven=True)
        counts = np.array([sum(key in placed for key in shape.pods) for shape in shapes], dtype=np.int64)
        return relaxed_bound(self._pools, self._snapshot.daemon_sets, shapes, counts, self._caps.proven)


_FEW: Final = 100
"""One pod in so many without a seat hardly makes a plan dearer."""


def _placed(launches: Iterable[Launch]) -> AbstractSet[PodKey]:
    return {key for launch in launches for node in launch.nodes for key in node}


def _without(shapes: Iterable[Shape], pods: AbstractSet[PodKey]) -> Sequence[Shape]:
    """What is left of these shapes."""
    left = ((shape, tuple(key for key in shape.pods if key not in pods)) for shape in shapes)
    return [replace(shape, pods=some) for shape, some in left if some]


def _shapes(
    tangle: Tangle, capped: Caps, portions: Iterable[Portion], free: Iterable[Shape], *, proven: bool = False
) -> Sequence[Shape]:
    """What packs alike, large ones first. `proven`: with no numbers but those of rules."""
    found: defaultdict[tuple[Resources, Wish], list[PodKey]] = defaultdict(list)
    for portion, pods in _members(tangle, portions):
        kind = tangle.kinds[portion.kind]
        extra = capped.proven_of(kind) if proven else capped.of(kind)
        wish = Wish(_narrowed(kind.wish.alternatives, portion.where), kind.wish.tolerations)
        found[kind.requests + extra, wish] += [pod.key for pod in pods]
    for shape in free:
        found[shape.requests, shape.wish] += shape.pods
    shapes = [Shape(requests, wish, (), tuple(keys)) for (requests, wish), keys in found.items()]
    return sorted(shapes, key=in_turn)


def _members(tangle: Tangle, portions: Iterable[Portion]) -> Iterator[tuple[Portion, Sequence[Pod]]]:
    """Who each portion is: a kind's pods in the order in which they are served."""
    given: Counter[int] = Counter()
    for portion in portions:
        first = given[portion.kind]
        given[portion.kind] += portion.count
        yield portion, tangle.kinds[portion.kind].pods[first : first + portion.count]


def _narrowed(alternatives: tuple[Requirements, ...], where: Requirement | None) -> tuple[Requirements, ...]:
    return alternatives if where is None else tuple(each.intersect(Requirements((where,))) for each in alternatives)


def _manners(
    tangle: Tangle, gathered: Iterable[Gathering], apart: AbstractSet[int]
) -> Iterator[tuple[PodKey, Manners]]:
    """Of the pods that such rules have to do with."""
    for gathering in gathered:
        for number in gathering.kinds:
            kind = tangle.kinds[number]
            manners = Manners(_those(kind.owns, apart), _those(kind.selected, apart))
            if manners != INDIFFERENT:
                yield from ((pod.key, manners) for pod in kind.pods)


def _those(rules: Iterable[int], apart: AbstractSet[int]) -> tuple[int, ...]:
    return tuple(rule for rule in rules if rule in apart)
