"""What rules can tell of a node before it has a name: its values of topology keys, and which filters it passes.

Nodes that agree in all of that are of one locality. There are few (zones × what else rules look at), so
rules are judged per locality, not per node.
"""

import itertools
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np

from nodewright.domain.scheduling.admission import bearable_rows, labelled_rows
from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.rules import NodeFilter, Rule, SpreadRule, is_host, topology_keys
from nodewright.domain.scheduling.shapes import Wish
from nodewright.domain.scheduling.tiers import Tier
from nodewright.domain.snapshot import Room
from nodewright.domain.taints import untolerated

Coordinates = tuple[int, ...]


class Localities:
    """All localities of a plan: those of rooms, and those that can be bought."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        several = tuple(rules)
        self.keys = tuple(sorted({key for rule in several for key in topology_keys(rule) if not is_host(key)}))
        filters = [rule.nodes for rule in several if isinstance(rule, SpreadRule) and not is_host(rule.key)]
        self.filters = tuple(dict.fromkeys(filters))
        self.values: dict[str, dict[str, int]] = {key: {} for key in self.keys}
        self._index: dict[Coordinates, int] = {}

    def of_room(self, room: Room) -> int:
        """Whose number may be new."""
        codes = [self._code(key, room.labels.get(key)) for key in self.keys]
        return self._number((*codes, *(int(_passes(room, each)) for each in self.filters)))

    def possible(self, room: Room) -> tuple[int, ...]:
        """Of a room whose labels aren't all known yet: each that it may be of. None where that doesn't matter."""
        keys = [key for key in self.keys if key in room.open_labels]
        several = [sorted(room.open_labels[key], key=str) for key in keys]
        found = (dict(zip(keys, values, strict=True)) for values in itertools.product(*several)) if keys else ()
        known = ({key: value for key, value in each.items() if value is not None} for each in found)
        return tuple(dict.fromkeys(self.of_room(replace(room, labels={**room.labels, **each})) for each in known))

    def known(self, room: Room) -> int | None:
        """The number of a room's locality, if there is any like it."""
        codes = [self.values[key].get(room.labels.get(key, ""), -1) if key in room.labels else -1 for key in self.keys]
        return self._index.get((*codes, *(int(_passes(room, each)) for each in self.filters)))

    def of_rows(self, place: Tier) -> Ints:
        """Of every offering of a tier."""
        columns = [self._column(place, key) for key in self.keys]
        columns += [passing(place, each).astype(np.int64) for each in self.filters]
        if not columns:
            return np.full(len(place.prices), self._number(()))
        found, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        numbers = np.array([self._number(tuple(row)) for row in found.tolist()], dtype=np.int64)
        return numbers[which.reshape(-1)]

    def __len__(self) -> int:
        return len(self._index)

    def codes(self, key: str) -> Ints:
        """The domain of each locality; -1 where it lacks the label."""
        column = self.keys.index(key)
        return np.array([coordinates[column] for coordinates in self._index], dtype=np.int64)

    def passes(self, counted: NodeFilter) -> Bools:
        """Localities that a filter counts."""
        column = len(self.keys) + self.filters.index(counted)
        return np.array([bool(coordinates[column]) for coordinates in self._index], dtype=np.bool_)

    def names(self, key: str) -> Sequence[str]:
        """The domains of a key, by their codes."""
        return tuple(self.values[key])

    @property
    def width(self) -> int:
        """How many things are told apart."""
        return len(self.keys) + len(self.filters)

    def columns(self, keys: AbstractSet[str], filters: Collection[NodeFilter]) -> tuple[int, ...]:
        """Which of those these are."""
        of_keys = (index for index, key in enumerate(self.keys) if key in keys)
        of_filters = (len(self.keys) + index for index, each in enumerate(self.filters) if each in filters)
        return (*of_keys, *of_filters)

    def alike(self, locality: int, columns: Sequence[int]) -> Bools:
        """Localities that don't differ from this one in any of these."""
        matrix = np.array(list(self._index), dtype=np.int64).reshape(len(self), self.width)[:, list(columns)]
        same: Bools = (matrix == matrix[locality]).all(axis=1)
        return same

    def _number(self, coordinates: Coordinates) -> int:
        return self._index.setdefault(coordinates, len(self._index))

    def _code(self, key: str, value: str | None) -> int:
        # A label that is there but empty is a domain for kube-scheduler; a missing one never is.
        known = self.values[key]
        return -1 if value is None else known.setdefault(value, len(known))

    def _column(self, place: Tier, key: str) -> Ints:
        parts = [np.zeros(0, dtype=np.int64)]
        for market in place.markets:
            column = market.columns.column(key)
            codes = np.array([self._code(key, value) for value in column.values], dtype=np.int64)
            parts.append(codes[column.codes])
        return np.concatenate(parts)


def counts(rule: SpreadRule, room: Room) -> bool:
    """Whether a spread counts a node at all."""
    return _passes(room, rule.nodes) and all(is_host(key) or key in room.labels for key in rule.keys)


def passing(place: Tier, counted: NodeFilter) -> Bools:
    """Offerings whose nodes a spread counts."""
    mask = np.ones(len(place.prices), dtype=np.bool_)
    if counted.alternatives is not None:
        mask &= labelled_rows(place, Wish(counted.alternatives, ()))
    if counted.tolerations is not None:
        mask &= bearable_rows(place, Wish((), counted.tolerations))
    return mask


def _passes(room: Room, counted: NodeFilter) -> bool:
    if counted.tolerations is not None and untolerated(counted.tolerations, room.taints):
        return False
    return counted.alternatives is None or any(each.admits(room.labels) for each in counted.alternatives)
