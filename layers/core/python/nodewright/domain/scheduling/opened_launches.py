"""Launches of the nodes that were opened for entangled pods, with what else was put on them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nodewright.domain.plans import Launch
from nodewright.domain.pods import PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.admission import wished_rows
from nodewright.domain.scheduling.arrays import Bools, Floats, Ints, every
from nodewright.domain.scheduling.launch_lists import Load, launch_list, relaxed_min_values
from nodewright.domain.scheduling.rules import SpreadRule, is_host, topology_keys
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.shapes import Shape
from nodewright.domain.scheduling.spared import exotic, foreign
from nodewright.domain.snapshot import Room

Fillers = Mapping[int, Sequence[PodKey]]
"""Site → pods without rules that were put there."""


def openings(scene: Scene, keys: Collection[str]) -> tuple[tuple[int, Room], ...]:
    """Opened nodes as rooms that pods without rules may fill, with labels of these keys.

    None of a kind that is kept back from pods that don't ask for it (spared.py).
    """
    return tuple(
        (int(site), _room(scene, tier, node, keys))
        for tier, opened in enumerate(scene.opened)
        if len(opened.row)
        for spared in (opened.place.across(lambda market: exotic(market) | foreign(market)),)
        for node, site in enumerate(opened.site.tolist())
        if not spared[opened.row[node]]
    )


def launches(
    scene: Scene, fillers: Fillers, shapes: Mapping[PodKey, Shape], purses: Sequence[Floats]
) -> Iterator[Launch]:
    """Nodes of equal content as one; what a list takes beyond the planned offering comes from `purses`, by tier."""
    for tier in range(len(scene.opened)):
        yield from _Tier(scene, tier, fillers, shapes).launches(purses[tier])


def _room(scene: Scene, tier: int, node: int, keys: Collection[str]) -> Room:
    opened = scene.opened[tier]
    row = int(opened.row[node])
    number = int(opened.place.market_of[row])
    market = opened.place.markets[number]
    left = opened.room[row] - opened.load[node]
    return Room(
        name=str(opened.site[node]),
        labels=market.labels(row - opened.place.rows(number).start, keys),
        taints=market.pool.taints,
        available=scene.demands.amounts(left),
        initialized=False,
    )


@dataclass(slots=True)
class _Batch:
    """Nodes of equal content."""

    row: int
    mask: Bools
    amounts: Ints
    nodes: list[tuple[PodKey, ...]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)


class _Tier:
    def __init__(self, scene: Scene, tier: int, fillers: Fillers, shapes: Mapping[PodKey, Shape]) -> None:
        self._scene = scene
        self._opened = scene.opened[tier]
        self._place = self._opened.place
        self._fillers = fillers
        self._shapes = shapes
        self._wished: dict[Shape, Bools] = {}
        self._alike: dict[tuple[int, tuple[int, ...]], Bools] = {}

    def launches(self, purse: Floats) -> Iterator[Launch]:
        """One for each batch; none where its list doesn't come about."""
        place = self._place
        for batch in self._batches():
            load = Load(batch.row, batch.amounts, batch.mask, len(batch.nodes))
            mine = purse[place.purse_of[batch.row]]
            # What was set aside for its choice is its own again.
            mine += (self._opened.usage[batch.row] - place.usage[batch.row]) * load.times
            offerings = launch_list(place, load, mine)
            if offerings:
                market = place.markets[place.market_of[batch.row]]
                yield Launch(
                    pool=market.pool.name,
                    capacity_type=market.shelf.offerings[place.row_of[batch.row]].capacity_type,
                    offerings=offerings,
                    price=offerings[0].price,
                    requests=Resources(dict(zip(place.resources, batch.amounts.tolist(), strict=True))),
                    nodes=tuple(batch.nodes),
                    selected_labels=tuple(sorted(batch.keys)),
                    labels=market.lane,
                    relaxed_min_values=relaxed_min_values(place, batch.row, offerings),
                )
            else:
                mine += place.usage[batch.row] * load.times
                self._scene.lost.extend(key for node in batch.nodes for key in node)

    def _batches(self) -> Sequence[_Batch]:
        found: dict[tuple[int, bytes, bytes], _Batch] = {}
        for node, site in enumerate(self._opened.site.tolist()):
            row = int(self._opened.row[node])
            mask, amounts = self._mask(node, site), self._amounts(site)
            key = (row, np.packbits(mask).tobytes(), amounts.tobytes())
            batch = found.setdefault(key, _Batch(row, mask, amounts))
            batch.nodes.append((*(pod.key for _, pod in self._scene.contents[site]), *self._fillers.get(site, ())))
            batch.keys |= self._keys(site)
        return tuple(found.values())

    def _mask(self, node: int, site: int) -> Bools:
        opened = self._opened
        mask = opened.allowed(node) & every(opened.room >= opened.load[node])
        mask &= self._same_locality(int(opened.row[node]), site, mask)
        for shape in dict.fromkeys(self._shapes[pod] for pod in self._fillers.get(site, ())):
            if shape not in self._wished:
                self._wished[shape] = wished_rows(self._place, shape.wish)
            mask &= self._wished[shape]
        return mask

    def _amounts(self, site: int) -> Ints:
        kinds = self._scene.tangle.kinds
        requests = [kinds[kind].requests for kind, _ in self._scene.contents[site]]
        requests += [self._shapes[pod].requests for pod in self._fillers.get(site, ())]
        return np.array([sum(each.get(name) for each in requests) for name in self._place.resources], dtype=np.int64)

    def _same_locality(self, row: int, site: int, mask: Bools) -> Bools:
        """Offerings that are the same to the rules that have to do with what is on the node."""
        columns = self._columns(site, np.unique(self._opened.locality[mask]))
        locality = int(self._opened.locality[row])
        if (locality, columns) not in self._alike:
            alike = self._scene.localities.alike(locality, columns)
            self._alike[locality, columns] = alike[self._opened.locality]
        return self._alike[locality, columns]

    def _columns(self, site: int, within: Ints) -> tuple[int, ...]:
        localities = self._scene.localities
        if self._scene.tallies.is_wary or self._scene.tallies.are_surprised(within):
            return tuple(range(localities.width))
        touched = [self._scene.tangle.rules[rule] for rule in self._touched(site)]
        keys = {key for rule in touched for key in topology_keys(rule) if not is_host(key)}
        filters = [rule.nodes for rule in touched if isinstance(rule, SpreadRule) and not is_host(rule.key)]
        return localities.columns(keys, filters)

    def _touched(self, site: int) -> set[int]:
        kinds = self._scene.tangle.kinds
        on_it = {kind for kind, _ in self._scene.contents[site]}
        return {rule for kind in on_it for rule in (*kinds[kind].owns, *kinds[kind].selected)}

    def _keys(self, site: int) -> set[str]:
        kinds = self._scene.tangle.kinds
        wishes = {kinds[kind].wish for kind, _ in self._scene.contents[site]}
        wishes |= {self._shapes[pod].wish for pod in self._fillers.get(site, ())}
        rules = [self._scene.tangle.rules[rule] for rule in self._touched(site)]
        keys = {key for rule in rules for key in topology_keys(rule) if not is_host(key)}
        return keys.union(*(wish.keys for wish in wishes))
