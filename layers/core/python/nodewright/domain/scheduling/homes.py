"""Where a group begins that has to be together and that nobody attracts (planning.md, "Zone affinity")."""

from collections.abc import Iterator, Sequence

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.opened import Opened
from nodewright.domain.scheduling.shapes import Wish
from nodewright.domain.scheduling.standing import Standing


class Member:
    """So many pods alike of a group."""

    def __init__(self, wish: Wish, wanted: Ints, masks: Sequence[Bools], count: int) -> None:
        self.wish = wish
        self.wanted = wanted
        self.masks = masks
        """Of each tier's offerings."""
        self.count = count


def homes(domains: Ints, members: Sequence[Member], standing: Standing, tiers: Sequence[Opened]) -> Iterator[Bools]:
    """Localities of one domain after the other: first where all of the group fits, then where it costs least."""
    found = [
        (_cost(domains == domain, members, standing, tiers), domain) for domain in np.unique(domains[domains >= 0])
    ]
    for _, domain in sorted(found):
        yield domains == domain


def _cost(home: Bools, members: Sequence[Member], standing: Standing, tiers: Sequence[Opened]) -> tuple[int, float]:
    """Pods that nothing there holds, and about what the others cost."""
    lost, cost = 0, 0.0
    for member in members:
        there = standing.candidates(member.wish, member.wanted, home)
        each = _unit(home, member, tiers)
        room = int(_times(standing.free[there], member.wanted).sum())
        rest = max(0, member.count - room)
        lost += rest if each is None else 0
        cost += rest * (each or 0.0)
    return lost, cost


def _unit(home: Bools, member: Member, tiers: Sequence[Opened]) -> float | None:
    """The share of a node's price that one takes, in the first tier that has any."""
    for opened, mask in zip(tiers, member.masks, strict=True):
        rows = np.flatnonzero(mask & home[opened.locality] & (opened.room >= member.wanted).all(axis=1))
        if len(rows):
            share = (member.wanted / np.maximum(opened.room[rows], 1)).max(axis=1)
            return float((opened.place.prices[rows] * share).min())
    return None


def _times(free: Ints, wanted: Ints) -> Ints:
    asked = wanted > 0
    times: Ints = (free[:, asked] // wanted[asked]).min(axis=1, initial=2**31)
    return times
