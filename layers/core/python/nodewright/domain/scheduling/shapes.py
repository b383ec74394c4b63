"""Pods grouped by what a decision can see of them, so that work grows with shapes, not pods."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np

from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import CPU, MEMORY, Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling.arrays import Ints
from nodewright.domain.taints import Toleration


class Wish(NamedTuple):
    """Which nodes will do, whatever their size: the part of a shape that becomes a mask. Looked up by more than
    anything else, and a dataclass is slow to hash.
    """

    alternatives: tuple[Requirements, ...]
    """One of them must hold."""
    tolerations: tuple[Toleration, ...]

    @property
    def keys(self) -> frozenset[str]:
        """The label keys it reads."""
        return frozenset(key for alternative in self.alternatives for key in alternative)


@dataclass(frozen=True, slots=True)
class Shape:
    """Pods no decision can tell apart, in the order in which they are served."""

    requests: Resources
    wish: Wish
    problems: tuple[str, ...]
    pods: tuple[PodKey, ...]

    @property
    def size(self) -> tuple[int, int]:
        """Sorts large ones first: by cpu, then memory."""
        return size_of(self.requests)


def size_of(requests: Resources) -> tuple[int, int]:
    """Sorts large ones first: by cpu, then memory."""
    return (-requests.get(CPU), -requests.get(MEMORY))


def wish_of(pod: Pod) -> Wish:
    """What a pod and its volumes ask of a node."""
    return Wish(_reachable(pod), pod.tolerations)


def turn(pod: Pod) -> tuple[int, datetime, PodKey]:
    """Among pods alike the higher priority, then the older is served first."""
    return (-pod.priority, pod.created, pod.key)


def group(pods: Iterable[Pod]) -> tuple[Shape, ...]:
    """Shapes of these pods, large ones first: they are the hardest to place.

    Within a shape the higher priority, then the older pod is served first.
    """
    found: dict[_Likeness, list[Pod]] = {}
    for pod in pods:
        found.setdefault((pod.requests, _reachable(pod), pod.tolerations, pod.problems), []).append(pod)
    return tuple(sorted((_shape(alike, members) for alike, members in found.items()), key=in_turn))


class Waiting:
    """The pods of shapes that have no place yet."""

    def __init__(self, shapes: Sequence[Shape]) -> None:
        self.shapes = tuple(shapes)
        self._pods = [list(reversed(shape.pods)) for shape in shapes]

    @property
    def left(self) -> Ints:
        """How many of each shape wait."""
        return np.array([len(pods) for pods in self._pods], dtype=np.int64)

    def pods(self, shape: int) -> tuple[PodKey, ...]:
        """Those of one shape, in order."""
        return tuple(reversed(self._pods[shape]))

    def take(self, shape: int, count: int) -> list[PodKey]:
        """The next `count` of a shape, or all there are; they no longer wait."""
        pods = self._pods[shape]
        cut = max(0, len(pods) - count)
        taken = pods[cut:][::-1]
        del pods[cut:]
        return taken

    def drop(self, placed: AbstractSet[PodKey]) -> None:
        """These no longer wait."""
        self._pods = [[pod for pod in pods if pod not in placed] for pods in self._pods]


_Likeness = tuple[Resources, tuple[Requirements, ...], tuple[Toleration, ...], tuple[str, ...]]


def _shape(alike: _Likeness, pods: list[Pod]) -> Shape:
    requests, alternatives, tolerations, problems = alike
    pods.sort(key=turn)
    return Shape(requests, Wish(alternatives, tolerations), problems, tuple(pod.key for pod in pods))


def _reachable(pod: Pod) -> tuple[Requirements, ...]:
    """Its alternatives, each with each of its volumes'."""
    if pod.volume_nodes == _ANYWHERE:
        return pod.alternatives
    both = (mine.intersect(volumes) for mine in pod.alternatives for volumes in pod.volume_nodes)
    return tuple(dict.fromkeys(both))


_ANYWHERE: Final = (Requirements(),)


def in_turn(shape: Shape) -> tuple[tuple[int, int], tuple[tuple[str, int], ...], PodKey]:
    """A total order: no two shapes share a pod."""
    return (shape.size, tuple(shape.requests.items()), min(shape.pods))
