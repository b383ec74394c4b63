"""Launches for pods without rules, where their nodes may come to be domains that a spread counts but didn't expect.

nodeTaintsPolicy Ignore, the default, counts nodes that the spread's own pods can't go to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nodewright.domain.plans import Launch
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.final_state import offered_labels
from nodewright.domain.scheduling.flexibility import POLICY
from nodewright.domain.scheduling.scene import Scene
from nodewright.domain.snapshot import PoolOptions, Room


def unsurprising(scene: Scene, pools: Sequence[PoolOptions], launches: Sequence[Launch]) -> tuple[Launch, ...]:
    """The launches without offerings that would surprise a spread, where others remain."""
    if not scene.tallies.is_wary:
        return tuple(launches)
    options = {each.pool.name: each for each in pools}
    return tuple(_narrowed(scene, options[launch.pool], launch) for launch in launches)


def surprises(scene: Scene, pools: Sequence[PoolOptions], launches: Sequence[Launch]) -> Iterator[Room]:
    """What the others come to, as rooms: the plan has to be made anew, knowing of them."""
    if scene.tallies.is_wary:
        options = {each.pool.name: each for each in pools}
        for launch in launches:
            rooms = (room for _, room in _rooms(options[launch.pool], launch))
            yield from (room for room in rooms if scene.is_surprising(room))


def _narrowed(scene: Scene, options: PoolOptions, launch: Launch) -> Launch:
    left = tuple(launch.offerings[place] for place, room in _rooms(options, launch) if not scene.is_surprising(room))
    if not left or len(left) == len(launch.offerings) or _needs_choice(options):
        return launch
    return replace(launch, offerings=left, price=left[0].price)


def _needs_choice(options: PoolOptions) -> bool:
    """Whether a shorter list might break its minValues."""
    strict = options.pool.settings.get(POLICY) != "BestEffort"
    return strict and any(each.min_values for each in options.pool.requirements.values())


def _rooms(options: PoolOptions, launch: Launch) -> Iterator[tuple[int, Room]]:
    for place, offering in enumerate(launch.offerings):
        labels = offered_labels(options, launch, offering)
        yield place, Room(f"new {launch.pool}", labels, options.pool.taints, Resources(), initialized=False)
