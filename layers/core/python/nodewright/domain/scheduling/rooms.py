"""Placing pods on nodes that exist or are on their way, before anything is bought."""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from nodewright.domain.plans import Nomination
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.columns import Columns
from nodewright.domain.scheduling.shapes import Waiting, Wish
from nodewright.domain.snapshot import Room
from nodewright.domain.taints import Taint, is_soft, untolerated


def place(rooms: Iterable[Room], waiting: Waiting) -> tuple[Nomination, ...]:
    """Nominate what fits: initialized nodes first, then by name; in each the large shapes first.

    A pod nominated earlier stays where it is while it still fits (architecture §4, rule 7): a plan that
    changes its mind with every run buys twice.
    """
    floor = Floor(in_order(rooms), waiting)
    floor.keep_nominated()
    floor.fill()
    return tuple(
        Nomination(room.name, tuple(pods)) for room, pods in zip(floor.rooms, floor.placed, strict=True) if pods
    )


def in_order(rooms: Iterable[Room]) -> tuple[Room, ...]:
    """As they are filled; a PreferNoSchedule taint ranks, whoever tolerates it."""
    return tuple(sorted(rooms, key=lambda room: (not room.initialized, any(map(is_soft, room.taints)), room.name)))


class Floor:
    """Rooms × resources that are still free, and what was placed."""

    def __init__(self, rooms: Sequence[Room], waiting: Waiting) -> None:
        self.rooms = rooms
        self._waiting = waiting
        self._resources = sorted({resource for shape in waiting.shapes for resource in shape.requests})
        self._free = _matrix([room.available for room in rooms], self._resources)
        self._requests = _matrix([shape.requests for shape in waiting.shapes], self._resources)
        self._admitted = _Admitted(rooms, waiting)
        self.placed: list[list[PodKey]] = [[] for _ in rooms]

    def keep_nominated(self) -> None:
        """Put pods where they were nominated, where that still holds."""
        if not any(room.nominated for room in self.rooms):
            return
        shape_of = {pod: number for number, shape in enumerate(self._waiting.shapes) for pod in shape.pods}
        for index, room in enumerate(self.rooms):
            for pod in room.nominated:
                shape = shape_of.get(pod)
                if shape is not None and self._takes(index, shape):
                    del shape_of[pod]
                    self._free[index] -= self._requests[shape]
                    self.placed[index].append(pod)
        self._waiting.drop({pod for pods in self.placed for pod in pods})

    def fill(self) -> None:
        """Shape by shape, as many as fit in each room in turn.

        Shapes come large ones first; of equal size those with less choice.
        """
        if not self.rooms or not self._waiting.shapes:
            return
        left = self._waiting.left
        choice = [int(self._admitted(shape).sum()) for shape in range(len(left))]
        sizes = [self._waiting.shapes[shape].size for shape in range(len(left))]
        for shape in sorted(range(len(left)), key=lambda each: (sizes[each], choice[each])):
            request = self._requests[shape]
            fits = np.where(self._admitted(shape), _times(self._free, request), 0)
            before = np.cumsum(fits) - fits
            taken = np.clip(left[shape] - before, 0, fits)
            self._free -= taken[:, None] * request
            for index in np.flatnonzero(taken).tolist():
                self.placed[index].extend(self._waiting.take(shape, int(taken[index])))

    def left(self, index: int, of: Resources) -> Resources:
        """What a room that had `of` has left."""
        taken = {name: of.get(name) - int(self._free[index][at]) for at, name in enumerate(self._resources)}
        return of - Resources(taken)

    def _takes(self, index: int, shape: int) -> bool:
        fits = _times(self._free[index : index + 1], self._requests[shape])[0] > 0
        return bool(fits and self._admitted(shape)[index])


class _Admitted:
    """Rooms that each shape may use by labels and taints, each wish judged once."""

    def __init__(self, rooms: Sequence[Room], waiting: Waiting) -> None:
        self._rooms = rooms
        self._columns = Columns.of([room.labels for room in rooms])
        taints: dict[tuple[Taint, ...], int] = {}
        self._taints_of = np.array([taints.setdefault(room.taints, len(taints)) for room in rooms])
        self._taints = tuple(taints)
        self._shapes = waiting.shapes
        self._known: dict[Wish, Bools] = {}

    def __call__(self, shape: int) -> Bools:
        wish = self._shapes[shape].wish
        if wish not in self._known:
            self._known[wish] = self._judge(wish)
        return self._known[wish]

    def _judge(self, wish: Wish) -> Bools:
        borne = np.array([not untolerated(wish.tolerations, taints) for taints in self._taints])
        mask: Bools = borne[self._taints_of] & labelled(self._rooms, self._columns, wish.alternatives)
        return mask


def labelled(rooms: Sequence[Room], columns: Columns, alternatives: Sequence[Requirements]) -> Bools:
    """Rooms whose labels satisfy one of these, whatever a planned one comes as; `columns`: the rooms' labels.

    NotIn is satisfied by a label that isn't there, not by one that isn't known yet.
    """
    mask = columns.admits_any(alternatives)
    keys = {key for each in alternatives for key in each}
    for index in np.flatnonzero(mask).tolist() if keys else ():
        if not keys.isdisjoint(rooms[index].open_labels):
            mask[index] = any(_is_sure(rooms[index], each) for each in alternatives)
    return mask


def _is_sure(room: Room, asked: Requirements) -> bool:
    return all(
        requirement.allows_absent if value is None else requirement.allows(value)
        for key, requirement in asked.items()
        for value in room.open_labels.get(key, (room.labels.get(key),))
    )


def _matrix(rows: Sequence[Resources], resources: Sequence[str]) -> Ints:
    matrix = [[row.get(resource) for resource in resources] for row in rows]
    return np.array(matrix, dtype=np.int64).reshape(len(rows), len(resources))


def _times(free: Ints, request: Ints) -> Ints:
    """How often each room holds the request; never less than nothing."""
    asked = request > 0
    times: Ints = (np.maximum(free[:, asked], 0) // request[asked]).min(axis=1, initial=_ENDLESS)
    return times


_ENDLESS: Final = 2**31
