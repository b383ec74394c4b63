"""Nodes there are that still take one more pod of a kind."""

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.scheduling.terms import Ruling


def rooms(scene: Scene, number: int, ruling: Ruling, whole: Ints | None = None) -> Bools:
    """Rooms that do, under a ruling; `whole` is what they have to hold in the end, where that is more."""
    count = len(scene.standing.rooms)
    wanted = scene.wanted_at(number, np.arange(count)) if whole is None else whole
    mask = scene.standing.candidates(scene.tangle.kinds[number].wish, wanted, ruling.localities)
    return mask & sites(scene, number, ruling)[:count]


def sites(scene: Scene, number: int, ruling: Ruling) -> Bools:
    """Rooms and opened nodes that a ruling and host ports leave, whatever else there is."""
    mask = ruling.sites(scene.sites)
    ports = scene.tangle.kinds[number].host_ports
    if ports:
        mask[list(scene.ports.refuse(ports))] = False
    return mask
