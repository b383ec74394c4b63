"""`nodewright.dev/max-pods-at-risk` as one more resource: a place on a node for a pod of its owner.

Each owner's pods ask for one place of theirs, a node of the pool has as many as the setting allows, less those that
are taken; other pools' nodes have any number. So whatever plans by resources keeps it: on nodes that are there, are
coming or are bought, packed by shape or one by one, and what is proven counts it, too.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from nodewright.domain.catalogue import InstanceType
from nodewright.domain.owners import OwnerKey, owner_of
from nodewright.domain.plans import Launch, Plan, Unschedulable
from nodewright.domain.pods import Pod
from nodewright.domain.pods_at_risk import MAX_PODS_AT_RISK, most_on_a_node
from nodewright.domain.quantities import Resources
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot

_ANY: Final = 2**31
"""Places where nothing is capped."""
_PREFIX: Final = "places by max-pods-at-risk for pods of "


def within_caps(snapshot: Snapshot, planner: Callable[[Snapshot], Plan]) -> Plan:
    """A plan that keeps them; of places nobody else hears."""
    caps = dict(_caps(snapshot))
    if not caps:
        return planner(snapshot)
    plan, pods = planner(capped(snapshot)), {pod.key: pod for pod in snapshot.pods}
    told = (_told(each, caps.get(owner_of(pods[each.pod]), {})) for each in plan.unschedulable)
    return replace(plan, launches=tuple(map(_bare, plan.launches)), unschedulable=tuple(told))


def capped(snapshot: Snapshot) -> Snapshot:
    """The snapshot with places; as it is where no pool caps a workload that has pods waiting."""
    caps = dict(_caps(snapshot))
    if not caps:
        return snapshot
    return replace(
        snapshot,
        pods=_placed(snapshot.pods, caps),
        expected=_placed(snapshot.expected, caps),
        rooms=tuple(_room(room, caps) for room in snapshot.rooms),
        pools=tuple(_options(options, caps) for options in snapshot.pools),
    )


def real(resources: Resources) -> Resources:
    """What of these there is outside of a plan."""
    return Resources({name: amount for name, amount in resources.items() if not name.startswith(_PREFIX)})


def _told(each: Unschedulable, caps: Mapping[str, int]) -> Unschedulable:
    """A rule or a limit may keep a pod waiting only because nodes may have no more of its owner's."""
    if not caps or each.reason not in _BY_COMPANY:
        return each
    allowed = ", ".join(f"{most} on a node of pool {pool}" for pool, most in sorted(caps.items()))
    return replace(each, message=f"{each.message}; {MAX_PODS_AT_RISK} allows its owner's pods {allowed}")


_BY_COMPANY: Final = frozenset({"PodAffinity", "PodAntiAffinity", "TopologySpread", "LimitReached"})


def _bare(launch: Launch) -> Launch:
    bare = real(launch.requests)
    return launch if bare == launch.requests else replace(launch, requests=bare)


_Caps = Mapping[OwnerKey, Mapping[str, int]]
"""Owner → pool → pods on one node of it."""


def _caps(snapshot: Snapshot) -> Iterator[tuple[OwnerKey, Mapping[str, int]]]:
    """Of owners with pods that wait, and that some node could have too many of."""
    pools = [options.pool for options in snapshot.pools if MAX_PODS_AT_RISK in options.pool.settings]
    waiting = {owner_of(pod) for pod in (*snapshot.pods, *snapshot.expected)} if pools else set()
    for owner, replicas in Counter(_owners(snapshot)).items():
        most = {pool.name: most_on_a_node(pool, replicas) for pool in pools}
        capping = {name: cap for name, cap in most.items() if cap is not None and cap < replicas}
        if owner in waiting and capping:
            yield owner, capping


def _owners(snapshot: Snapshot) -> Iterator[OwnerKey]:
    """Of every pod there is or is to be."""
    bound = (pod for room in (*snapshot.rooms, *snapshot.bystanders) for pod in room.pods if not pod.is_daemon)
    yield from (owner_of(pod) for pod in (*snapshot.pods, *snapshot.expected, *bound))


def _placed(pods: Iterable[Pod], caps: _Caps) -> tuple[Pod, ...]:
    asked = {owner: Resources({_place(owner): 1}) for owner in caps}
    return tuple(replace(p, requests=p.requests + asked[owner_of(p)]) if owner_of(p) in caps else p for p in pods)


def _place(owner: OwnerKey) -> str:
    return f"{_PREFIX}{owner}"


def _room(room: Room, caps: _Caps) -> Room:
    there = Counter(owner_of(pod) for pod in room.pods)
    left = {_place(owner): max(0, of.get(room.pool, _ANY) - there[owner]) for owner, of in caps.items()}
    return replace(room, available=room.available + Resources(left))


def _options(options: PoolOptions, caps: _Caps) -> PoolOptions:
    places = Resources({_place(owner): of.get(options.pool.name, _ANY) for owner, of in caps.items()})
    return replace(options, instance_types=tuple(_kind(kind, places) for kind in options.instance_types))


def _kind(kind: InstanceType, places: Resources) -> InstanceType:
    return replace(kind, allocatable=kind.allocatable + places)
