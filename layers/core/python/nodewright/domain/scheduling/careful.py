"""Placing entangled pods one by one: on nodes that are there, then on nodes opened for them.

What waits for others comes after them (waiting_order.py), what needs nodes of its own before what can share.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from nodewright.domain.scheduling import vacancies
from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.budget import Meter
from nodewright.domain.scheduling.crossing import Crossings, Target, even_targets
from nodewright.domain.scheduling.entangled import Kind, min_key
from nodewright.domain.scheduling.giving_way import Tries, given_way
from nodewright.domain.scheduling.homes import Member, homes
from nodewright.domain.scheduling.nominated import keep_nominated
from nodewright.domain.scheduling.rules import RepulsionRule, is_host, topology_keys
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.steps import Need, Step
from nodewright.domain.scheduling.terms import Affinity, Ruling
from nodewright.domain.scheduling.waiting_order import rank


def placed(scene: Scene, anew: Callable[[], Scene], meter: Meter) -> Scene:
    """The scene with as many as possible of its pods somewhere; or another one like it, where that has more.

    Pods under several spreads at once come one by one at first, which costs least, and where some of them are left
    then as evenly as they are proven to come.
    """
    place(scene, meter)
    targets = even_targets(scene)
    if not targets:
        return scene
    again = anew()
    place(again, meter, targets)
    fewer = sum(map(len, again.waiting)) < sum(map(len, scene.waiting))
    return again if fewer and all(target.is_reached(again) for target in targets) else scene


def place(scene: Scene, meter: Meter, targets: Sequence[Target] = ()) -> None:
    """Put as many as possible of the scene's pods somewhere."""
    placing = _Placing(scene, meter, targets)
    scene.look_round()
    keep_nominated(scene, placing.order)
    for loose in (False, True):
        while placing.round(loose=loose):
            pass
    placing.give_way()
    placing.fill()
    placing.cross()
    # What other rules keep these pods from is no domain either, as long as nobody opens it.
    while placing.round(loose=True, reaching=False):
        pass
    placing.cross()


@dataclass(frozen=True, slots=True)
class _Spot:
    """A room (tier is None), or a step in a tier."""

    site: int
    tier: int | None = None
    step: Step | None = None
    need: Need | None = None


class _Placing:
    def __init__(self, scene: Scene, meter: Meter, targets: Sequence[Target]) -> None:
        self._scene = scene
        self._meter = meter
        self._tries = Tries()
        self._targets = {number: target for target in targets for number in target.kinds}
        kinds = scene.tangle.kinds
        self.order = sorted(range(len(kinds)), key=self._turn)

    def round(self, *, loose: bool, reaching: bool = True) -> bool:
        """Every kind in its turn; whether any pod found a place."""
        self._scene.look_round(reaching=reaching)
        placed = False
        for number in (each for each in self.order if each not in self._targets):
            while self._scene.waiting[number] and self._meter.spend(0):
                spot = self._find(number, loose=loose)
                if spot is None:
                    break
                self._take(number, spot)
                placed = True
        return placed

    def give_way(self) -> None:
        """Pods that find a place once a planned node is moved."""
        for number in (each for each in self.order if each not in self._targets and self._is_spread(each)):
            look = partial(self._look, number, None, loose=True)
            while self._scene.waiting[number] and self._meter.spend(0):
                spot = given_way(self._scene, look, self._tries)
                if spot is None:
                    break
                self._take(number, spot)

    def _is_spread(self, number: int) -> bool:
        """Whether it has a spread over domains of many nodes."""
        return any(rule in self._scene.tallies.spreads_by_rule for rule in self._scene.tangle.kinds[number].owns)

    def fill(self) -> None:
        """Pods that are to be spread evenly."""
        for number in (each for each in self.order if each in self._targets):
            target = self._targets[number]
            while self._scene.waiting[number] and self._meter.spend(0):
                spot = self._beside_spreads(number, target.rules, target.wanting(self._scene))
                if spot is None:
                    break
                self._take(number, spot)

    def cross(self) -> None:
        """Pods left that are under several spreads at once."""
        crossings = Crossings(self._scene)
        for number in self.order:
            while self._scene.waiting[number] and self._meter.spend(0):
                several = (self._beside_spreads(number, *found) for found in crossings.fine(number))
                spot = next((each for each in several if each is not None), None)
                if spot is None:
                    break
                self._take(number, spot)

    def _beside_spreads(self, number: int, spreads: Sequence[int], fine: Ruling) -> _Spot | None:
        """Where all but these rules allow one more pod, where these were found to allow it."""
        scene = self._scene
        ruling = scene.tallies.ruling([role for role in scene.roles[number] if role.rule not in spreads]).both(fine)
        return self._judge(number, ruling, None, loose=True) if ruling.localities.any() else None

    def _turn(self, number: int) -> tuple[object, ...]:
        scene = self._scene
        kind = scene.tangle.kinds[number]
        return (rank(kind, scene.ranks), not self._is_exclusive(kind), min_key(kind))

    def _is_exclusive(self, kind: Kind) -> bool:
        """Whether no two of its pods share a node: what such pods open others can fill."""
        rules = self._scene.tangle.rules
        alone = (index for index in kind.owns if index in kind.selected and isinstance(rules[index], RepulsionRule))
        return bool(kind.host_ports) or any(is_host(topology_keys(rules[index])[0]) for index in alone)

    def _find(self, number: int, *, loose: bool) -> _Spot | None:
        group = self._group(number)
        if group is None:
            return self._look(number, None, loose=loose)
        whole = self._whole(group) if group.single_node else None
        for home in self._homes(group, loose=loose):
            group.home = home
            for size in (whole, None) if whole is not None else (None,):
                spot = self._look(number, size, loose=loose)
                if spot is not None:
                    return spot
        group.home = None
        return None

    def _group(self, number: int) -> Affinity | None:
        """The group that this pod would be the first of."""
        kind = self._scene.tangle.kinds[number]
        for index in kind.owns:
            affinity = self._scene.tallies.affinity(index)
            if affinity is not None and index in kind.selected and affinity.is_open:
                return affinity
        return None

    def _members(self, group: Affinity) -> Iterator[int]:
        for number, kind in enumerate(self._scene.tangle.kinds):
            if self._scene.waiting[number] and any(self._scene.tallies.affinity(index) is group for index in kind.owns):
                yield number

    def _whole(self, group: Affinity) -> Ints:
        scene = self._scene
        amounts = [scene.wanted[number] * len(scene.waiting[number]) for number in self._members(group)]
        return np.array(sum(amounts[1:], amounts[0]), dtype=np.int64)

    def _homes(self, group: Affinity, *, loose: bool) -> Iterator[Bools]:
        scene = self._scene
        members = [
            Member(
                scene.tangle.kinds[each].wish,
                scene.wanted[each],
                [scene.mask(tier, each, loose=loose) for tier in range(len(scene.opened))],
                len(scene.waiting[each]),
            )
            for each in self._members(group)
        ]
        yield from homes(group.domains(), members, scene.standing, scene.opened)

    def _look(self, number: int, whole: Ints | None, *, loose: bool) -> _Spot | None:
        """The best place for one more pod of a kind; `whole` is what its node has to hold in the end."""
        ruling = self._scene.tallies.ruling(self._scene.roles[number])
        better = self._scene.tallies.steering(self._scene.roles[number])
        if better is not None and (ruling.localities & better).any():
            steered = replace(ruling, localities=ruling.localities & better)
            spot = self._judge(number, steered, whole, loose=loose)
            if spot is not None:
                return spot
        return self._judge(number, ruling, whole, loose=loose)

    def _judge(self, number: int, ruling: Ruling, whole: Ints | None, *, loose: bool) -> _Spot | None:
        scene = self._scene
        crowds = scene.tallies.crowds(scene.roles[number])
        rooms = np.flatnonzero(vacancies.rooms(scene, number, ruling, whole))
        if len(rooms):
            return _Spot(int(rooms[np.lexsort((rooms, crowds[scene.standing.locality[rooms]]))[0]]))
        if scene.tangle.kinds[number].held:
            return None
        sites = vacancies.sites(scene, number, ruling)
        for tier in range(len(scene.opened)):
            need = self._need(tier, number, ruling, crowds, whole, loose=loose)
            step = self._step(tier, need, sites, opens=ruling.opens)
            if step is not None:
                return _Spot(-1, tier, step, need)
        return self._in_company(number, crowds, loose=loose)

    def _in_company(self, number: int, crowds: Ints, *, loose: bool) -> _Spot | None:
        """On a new node whose DaemonSets are the company that its affinity asks for."""
        scene = self._scene
        others = [role for role in scene.roles[number] if scene.tallies.affinity(role.rule) is None or not role.owner]
        for tier in range(len(scene.opened)):
            rows = scene.company(tier, number)
            if rows is not None:
                ruling = scene.tallies.ruling(others)
                need = self._need(tier, number, ruling, crowds, None, loose=loose)
                need = replace(need, rows=rows if need.rows is None else rows & need.rows)
                step = scene.opened[tier].fresh(need) if ruling.opens else None
                if step is not None:
                    return _Spot(-1, tier, step, need)
        return None

    def _need(self, tier: int, number: int, ruling: Ruling, crowds: Ints, whole: Ints | None, *, loose: bool) -> Need:
        scene = self._scene
        alone = scene.wanted[number]
        return Need(
            mask=scene.mask_index(tier, number, loose=loose),
            wanted=scene.wanted_at(number, scene.opened[tier].site),
            whole=alone,
            group=alone if whole is None else whole,
            localities=ruling.localities,
            opening=scene.tallies.openings(scene.roles[number]),
            crowds=crowds,
            nodes=scene.tallies.nodes(scene.roles[number]),
            rows=scene.bearable(tier, number),
        )

    def _step(self, tier: int, need: Need, sites: Bools, *, opens: bool) -> Step | None:
        opened = self._scene.opened[tier]
        within = opened.within(need, sites)
        if within is not None:
            return within
        fresh = opened.fresh(need) if opens else None
        below = fresh.price if fresh else _ENDLESS
        grown = opened.grown(need, sites, below)
        moved = self._scene.moved(tier, need, sites, grown.price - 1 if grown else below, any_node=not (grown or fresh))
        return moved or grown or fresh

    def _take(self, number: int, spot: _Spot) -> None:
        scene = self._scene
        pod = next(iter(scene.waiting[number].values()))
        if spot.tier is None or spot.step is None or spot.need is None:
            scene.settle(number, spot.site, pod.key)
        else:
            scene.open_or_join(number, pod, spot.tier, spot.step, spot.need)


_ENDLESS: Final = 2**62
