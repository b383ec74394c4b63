"""What entangled pods take of a node: resources, and volumes that each CSI driver has to attach."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from nodewright.domain.pods import Attachment
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.arrays import Ints
from nodewright.domain.scheduling.entangled import Kind
from nodewright.domain.scheduling.tiers import Tier
from nodewright.domain.snapshot import Room

EBS_DRIVER: Final = "ebs.csi.aws.com"
UNBOUNDED: Final = 2**50


class Demands:
    """Amounts as vectors: resources first, then drivers. A volume that two pods of a node share counts once."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        self.resources = tuple(sorted({name for kind in kinds for name in kind.requests}))
        self.drivers = tuple(sorted({each.driver for kind in kinds for each in kind.attachments}))
        self._holders: defaultdict[Attachment, set[int]] = defaultdict(set)

    def of(self, kind: Kind) -> Ints:
        """One pod's, where none of its volumes is attached yet."""
        volumes = [sum(each.driver == driver for each in kind.attachments) for driver in self.drivers]
        return np.array([*(kind.requests.get(name) for name in self.resources), *volumes], dtype=np.int64)

    def spared(self, kind: Kind) -> Mapping[int, Ints]:
        """What it needn't bring to nodes that have some of its volumes, by site."""
        spared: dict[int, Ints] = {}
        for attachment in kind.attachments:
            column = len(self.resources) + self.drivers.index(attachment.driver)
            for site in self._holders.get(attachment, ()):
                spared.setdefault(site, np.zeros(len(self.resources) + len(self.drivers), dtype=np.int64))[column] += 1
        return spared

    def attach(self, attachments: Iterable[Attachment], site: int) -> None:
        """These are attached there."""
        for attachment in attachments:
            self._holders[attachment].add(site)

    def of_room(self, room: Room) -> Ints:
        """What a node that is there has left."""
        attached = room.all_attached
        left = [
            room.attachable[driver] - sum(each.driver == driver for each in attached)
            if driver in room.attachable
            else UNBOUNDED
            for driver in self.drivers
        ]
        return np.array([*(room.available.get(name) for name in self.resources), *left], dtype=np.int64)

    def of_rows(self, place: Tier) -> Ints:
        """What a node of each of a tier's offerings will have."""
        columns = [place.room[:, place.resources.index(name)] for name in self.resources]
        columns += [_attachable(place, driver) for driver in self.drivers]
        return np.stack(columns, axis=1)

    def reduced(self, available: Resources, used: Ints) -> Resources:
        """What of a node's resources is left."""
        return available - self.amounts(used)

    def amounts(self, vector: Ints) -> Resources:
        """The resources of it."""
        return Resources(dict(zip(self.resources, vector[: len(self.resources)].tolist(), strict=True)))


def _attachable(place: Tier, driver: str) -> Ints:
    if driver != EBS_DRIVER:
        return np.full(len(place.prices), UNBOUNDED)
    parts = [np.zeros(0, dtype=np.int64)]
    for market in place.markets:
        shelf = market.shelf
        most = [UNBOUNDED if kind.volumes is None else kind.volumes for kind in shelf.types]
        parts.append(np.array(most, dtype=np.int64)[shelf.type_of])
    return np.concatenate(parts)
