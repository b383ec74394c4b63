"""Entangled pods that were planned for a room before stay there while that still holds (architecture §4, rule 7)."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling import vacancies
from nodewright.domain.scheduling.scene import Scene


def keep_nominated(scene: Scene, order: Sequence[int]) -> None:
    """Put them there, kind by kind in this order; again while that makes others hold."""
    wanted = _nominated(scene)
    while sum(_keep_some(scene, number, wanted[number]) for number in order if number in wanted):
        pass


def _nominated(scene: Scene) -> Mapping[int, dict[PodKey, int]]:
    """Kind → pods and the rooms they were planned for."""
    kind_of = {pod: number for number, pods in enumerate(scene.waiting) for pod in pods}
    found: defaultdict[int, dict[PodKey, int]] = defaultdict(dict)
    for site, room in enumerate(scene.standing.rooms):
        for pod in room.nominated:
            if pod in kind_of:
                found[kind_of[pod]].setdefault(pod, site)
    return found


def _keep_some(scene: Scene, number: int, wanted: dict[PodKey, int]) -> bool:
    """Of one kind, as long as one after the other holds; whether any did."""
    queues: defaultdict[int, list[PodKey]] = defaultdict(list)
    for pod in reversed(wanted):
        queues[int(scene.standing.locality[wanted[pod]])].append(pod)
    before = len(wanted)
    while queues and (kept := _next(scene, number, queues, wanted)) is not None:
        scene.settle(number, wanted.pop(kept), kept)
    return len(wanted) < before


def _next(scene: Scene, number: int, queues: dict[int, list[PodKey]], wanted: Mapping[PodKey, int]) -> PodKey | None:
    """The next that holds, where fewest of its kind's spreads are first; it leaves its queue."""
    roles = scene.roles[number]
    rooms = vacancies.rooms(scene, number, scene.tallies.ruling(roles))
    crowds = scene.tallies.crowds(roles)
    for locality in sorted(queues, key=lambda each: (crowds[each], each)):
        queue = queues[locality]
        for place in range(len(queue) - 1, -1, -1):
            if rooms[wanted[queue[place]]]:
                pod = queue.pop(place)
                if not queue:
                    del queues[locality]
                return pod
    return None
