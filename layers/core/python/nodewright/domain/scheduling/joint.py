"""A plan in which some pods are entangled: those first and carefully, the others around them by shape."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from nodewright.domain.limits import Limits
from nodewright.domain.plans import Launch, Nomination
from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling import careful
from nodewright.domain.scheduling.arrays import Floats
from nodewright.domain.scheduling.bought import topped_up
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.buying import Purchase, buy, relaxed_bound
from nodewright.domain.scheduling.entangled import Tangle
from nodewright.domain.scheduling.guarding import Guards
from nodewright.domain.scheduling.limits import limited
from nodewright.domain.scheduling.open_choices import choices
from nodewright.domain.scheduling.opened_launches import launches, openings
from nodewright.domain.scheduling.rooms import Floor, in_order
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.shapes import Shape, Waiting
from nodewright.domain.scheduling.surprises import surprises, unsurprising
from nodewright.domain.scheduling.tiers import Tier, tiers
from nodewright.domain.scheduling.tolls import tolled
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot


@dataclass(frozen=True, slots=True)
class Joint:
    """What came of it."""

    nominations: tuple[Nomination, ...]
    launches: tuple[Launch, ...]
    bound: int
    held: frozenset[PodKey]
    """Pods without rules for which nothing is bought now."""
    hindered: Mapping[PodKey, str]
    """Pods without rules whose nodes' DaemonSets would keep planned pods out → what to tell."""
    scene: Scene
    """As it is in the end, for reasons."""
    tiers: tuple[Tier, ...]
    surprises: tuple[Room, ...]
    """New nodes, as they will be, in domains that a spread counts and didn't expect (nodeAffinityPolicy,
    nodeTaintsPolicy Ignore): the plan has to be made anew, knowing of them."""


class JointPlan:
    """The steps of it, in order."""

    def __init__(
        self, snapshot: Snapshot, tangle: Tangle, waiting: Waiting, meter: Meter, expected: Sequence[Room] = ()
    ) -> None:
        self._snapshot = snapshot
        self._waiting = waiting
        self._meter = meter
        self._shape_of = {pod: shape for shape in waiting.shapes for pod in shape.pods}
        self._pools = [options for options in snapshot.pools if not options.pool.terminating]
        self._rooms = in_order(snapshot.rooms)
        self._kept = Floor(self._rooms, waiting)
        self._kept.keep_nominated()
        rooms = [
            replace(room, available=self._kept.left(site, room.available)) for site, room in enumerate(self._rooms)
        ]
        entangled = [Shape(k.requests, k.wish, (), tuple(pod.key for pod in k.pods)) for k in tangle.kinds]
        self._entangled = entangled
        shapes = [*entangled, *waiting.shapes]
        places = tiers(self._pools, shapes, snapshot.daemon_sets, choices(tangle.rules, self._pools))
        places = tuple(tolled(place, meter.toll) for place in places)
        others = (*snapshot.bystanders, *expected)
        self._new_scene = partial(Scene, tangle, rooms, others, places, snapshot.daemon_sets)
        self.scene = self._new_scene()

    def run(self) -> "Joint":
        """All of it; pods without rules that got no place still wait."""
        scene = self.scene = careful.placed(self.scene, self._new_scene, self._meter)
        nominations = self._fill_rooms()
        held = self._hold()
        fillers = self._fill_opened()
        pools = [self._after(options) for options in self._pools]
        guards, toll = Guards(scene), self._meter.toll
        purchase = buy(
            pools, self._snapshot.daemon_sets, self._waiting, self._meter, lambda each: tolled(guards.bar(each), toll)
        )
        bought = unsurprising(scene, self._pools, purchase.launches)
        purses = [self._purse(tier, purchase) for tier in range(len(scene.opened))]
        made = tuple(launches(scene, fillers, self._shape_of, purses))
        placed = topped_up(self._snapshot, (*made, *bought), self._waiting)
        left = tuple(
            replace(opened.place, remaining=np.floor(purse).astype(np.int64))
            for opened, purse in zip(scene.opened, purses, strict=True)
        )
        hindered = dict(guards.hinder(self._waiting, left))
        self._waiting.drop(hindered.keys())
        return Joint(
            nominations=nominations,
            launches=placed,
            bound=self._bound(made, purchase) if not guards else self._relaxed_bound((*made, *purchase.launches)),
            held=held,
            hindered=hindered,
            scene=scene,
            tiers=left,
            surprises=tuple(surprises(scene, self._pools, bought)),
        )

    def _hold(self) -> frozenset[PodKey]:
        """Pods that found no room and for which nothing is bought now; they no longer wait."""
        waiting = {pod for number in range(len(self._waiting.shapes)) for pod in self._waiting.pods(number)}
        held = frozenset(waiting & self._snapshot.set_aside.keys())
        self._waiting.drop(held)
        return held

    def _fill_rooms(self) -> tuple[Nomination, ...]:
        """With pods without rules what the others left."""
        left = [
            replace(room, available=self.scene.demands.reduced(room.available, self.scene.used(site)), nominated=())
            for site, room in enumerate(self.scene.standing.rooms)
        ]
        floor = Floor(left, self._waiting)
        floor.fill()
        placed = (
            (room.name, (*kept, *(pod.key for _, pod in entangled), *filled))
            for room, kept, entangled, filled in zip(
                self._rooms, self._kept.placed, self.scene.contents, floor.placed, strict=False
            )
        )
        return tuple(Nomination(name, pods) for name, pods in placed if pods)

    def _fill_opened(self) -> Mapping[int, Sequence[PodKey]]:
        keys = sorted({key for shape in self._waiting.shapes for key in shape.wish.keys})
        rooms = openings(self.scene, keys)
        floor = Floor([room for _, room in rooms], self._waiting)
        floor.fill()
        return {site: pods for (site, _), pods in zip(rooms, floor.placed, strict=True) if pods}

    def _after(self, options: PoolOptions) -> PoolOptions:
        """A pool with what opened nodes leave of its limits."""
        if options.remaining is None:
            return options
        opened = next(each for each in self.scene.opened if options in each.place.pools)
        row = opened.remaining[opened.place.pools.index(options)].tolist()
        left = dict(zip(opened.place.limited, row, strict=True))
        return replace(options, remaining=Limits({name: left[name] for name in limited(options)}))

    def _purse(self, tier: int, purchase: Purchase) -> Floats:
        """What is left of a tier's limits, pools × resources."""
        left = purchase.tiers[tier].remaining if purchase.tiers else self.scene.opened[tier].remaining
        return left.astype(np.float64)

    def _bound(self, made: Sequence[Launch], purchase: Purchase) -> int:
        """Whatever the rules: pods that share opened nodes are proven together with all others."""
        return self._relaxed_bound((*made, *purchase.launches)) if made else purchase.bound

    def _relaxed_bound(self, bought: Iterable[Launch]) -> int:
        shapes = [*self._entangled, *self._waiting.shapes]
        placed = {pod for launch in bought for node in launch.nodes for pod in node}
        counts = np.array([len(placed.intersection(shape.pods)) for shape in shapes], dtype=np.int64)
        return relaxed_bound(self._pools, self._snapshot.daemon_sets, shapes, counts)
