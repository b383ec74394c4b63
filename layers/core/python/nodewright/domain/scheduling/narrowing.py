"""Pods that ask for more than they need, so that preferences hold: what is left of a preference is a place.

The narrower choice stands among what a pod's volumes ask: a spread counts the domains that the pod could have
come to without it (nodeAffinityPolicy).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from nodewright.domain.pods import PodKey
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.scheduling.choosing import Stake
from nodewright.domain.scheduling.crowds import Crowd, Crowds
from nodewright.domain.scheduling.reach import Reach
from nodewright.domain.scheduling.shapes import Shape, Wish
from nodewright.domain.snapshot import Snapshot

Narrower = Mapping[PodKey, Requirements]


def narrowed(snapshot: Snapshot, narrower: Narrower) -> Snapshot:
    """The same with these pods as they are to be planned."""
    meet = cache(_meet)
    return replace(
        snapshot,
        pods=tuple(
            replace(pod, volume_nodes=meet(pod.volume_nodes, narrower[pod.key])) if pod.key in narrower else pod
            for pod in snapshot.pods
        ),
    )


def narrowed_shape(shape: Shape, requirements: Requirements) -> Shape:
    """What pods of a shape become."""
    alternatives = tuple(each.intersect(requirements) for each in shape.wish.alternatives)
    return replace(shape, wish=Wish(alternatives, shape.wish.tolerations))


def preferred_nodes(crowds: Crowds, stakes: Iterable[Stake], reach: Reach) -> Iterator[tuple[PodKey, Requirement]]:
    """Of each crowd the heaviest preferences for nodes that can hold together."""
    kept: dict[int, Requirements] = {}
    for stake in sorted(stakes, key=lambda each: -each.weight):
        if stake.nodes is not None:
            both = kept.get(stake.crowd, Requirements()).intersect(stake.nodes.requirements)
            if is_reachable(crowds.crowds[stake.crowd], both, reach):
                kept[stake.crowd] = both
    for number, requirements in kept.items():
        for pod in crowds.crowds[number].shape.pods:
            yield from ((pod, requirement) for requirement in requirements.values())


def is_reachable(crowd: Crowd, requirements: Requirements, reach: Reach) -> bool:
    """Whether some node would do."""
    return reach.price(narrowed_shape(crowd.shape, requirements)) is not None


def together(requirements: Iterable[tuple[PodKey, Requirement]]) -> Narrower:
    """All that each pod is to ask for."""
    found: dict[PodKey, list[Requirement]] = {}
    for pod, requirement in requirements:
        found.setdefault(pod, []).append(requirement)
    made = cache(Requirements)
    return {pod: made(tuple(several)) for pod, several in found.items()}


def _meet(alternatives: tuple[Requirements, ...], requirements: Requirements) -> tuple[Requirements, ...]:
    return tuple(each.intersect(requirements) for each in alternatives)
