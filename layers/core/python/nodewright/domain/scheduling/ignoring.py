"""Pools whose owners want no preferences followed (`nodewright.dev/preferences: ignore`)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.preference_settings import respects_preferences
from nodewright.domain.scheduling.reach import Reach
from nodewright.domain.scheduling.shapes import group
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from nodewright.domain.taints import Taint, Toleration, is_soft
from nodewright.domain.topology import NO_PREFERENCES


def respected(snapshot: Snapshot) -> Snapshot:
    """With the preferences that count: a pod that could come to a pool which ignores them has none."""
    ignoring = {each.pool.name for each in snapshot.pools if not respects_preferences(each.pool)}
    if not ignoring:
        return snapshot
    without = frozenset(_coming(snapshot, ignoring))
    return replace(
        snapshot,
        pods=tuple(_without(pod) if pod.key in without else pod for pod in snapshot.pods),
        pools=tuple(_bare_pool(each) if each.pool.name in ignoring else each for each in snapshot.pools),
        rooms=tuple(_bare_room(room) if room.pool in ignoring else room for room in snapshot.rooms),
    )


def _coming(snapshot: Snapshot, pools: set[str]) -> Iterator[PodKey]:
    shapes = group(pod for pod in snapshot.pods if not pod.problems)
    reach = Reach(snapshot, shapes, ())
    for shape in shapes:
        if any(pool.name in pools for pool in reach.pools(shape)):
            yield from shape.pods


def _without(pod: Pod) -> Pod:
    return replace(
        pod,
        preferences=NO_PREFERENCES,
        spreads=tuple(spread for spread in pod.spreads if spread.hard),
        tolerations=(*pod.tolerations, _UNMINDING),
    )


_UNMINDING: Final = Toleration(operator="Exists", effect="PreferNoSchedule")


def _bare_pool(options: PoolOptions) -> PoolOptions:
    return replace(options, pool=replace(options.pool, taints=_hard(options.pool.taints)))


def _bare_room(room: Room) -> Room:
    return replace(room, taints=_hard(room.taints))


def _hard(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    return tuple(taint for taint in taints if not is_soft(taint))
