"""Nodes of a launch as rooms: whatever of its list comes, they will have at least this."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce

from nodewright.domain.limits import Limits
from nodewright.domain.plans import Launch, LaunchOffering
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.scheduling.demands import EBS_DRIVER
from nodewright.domain.scheduling.final_state import offered_labels
from nodewright.domain.scheduling.residents import daemons_to_come
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from nodewright.domain.usage import node_usage


def planned_name(launch: str, number: int) -> str:
    """Of a node of a launch."""
    return f"{launch}.{number}"


def planned_rooms(snapshot: Snapshot, launch: Launch, pods: Mapping[PodKey, Pod], name: str) -> Iterator[Room]:
    """One for each of its nodes, with the pods that are planned there."""
    options = next(each for each in snapshot.pools if each.pool.name == launch.pool)
    kinds = [_bare(snapshot, options, launch, offering) for offering in launch.offerings]
    first = kinds[0]
    volumes = [each.attachable[EBS_DRIVER] for each in kinds if EBS_DRIVER in each.attachable]
    labels = {key: value for key, value in first.labels.items() if all(_has(each, key, value) for each in kinds)}
    open_keys = {key for each in kinds for key in each.labels} - labels.keys()
    open_labels = {key: frozenset(each.labels.get(key) for each in kinds) for key in open_keys}
    least = reduce(_least, dict.fromkeys(each.available for each in kinds))
    ports = tuple({port for each in kinds for port in each.host_ports})
    for number, node in enumerate(launch.nodes):
        there = tuple(pods[key] for key in node)
        yield Room(
            name=planned_name(name, number),
            labels=labels,
            taints=first.taints,
            available=least - total(there),
            initialized=False,
            pool=launch.pool,
            pods=there,
            coming=frozenset(node),
            host_ports=(*ports, *(port for pod in there for port in pod.host_ports)),
            attachable={EBS_DRIVER: min(volumes)} if volumes else {},
            open_labels=open_labels,
        )


def total(pods: Iterable[Pod]) -> Resources:
    """What these request together."""
    return sum((requests.times(many) for requests, many in Counter(pod.requests for pod in pods).items()), Resources())


def filled(room: Room, pods: tuple[Pod, ...]) -> Room:
    """The room with more pods."""
    return replace(
        room,
        available=room.available - total(pods),
        pods=(*room.pods, *pods),
        coming=room.coming.union(pod.key for pod in pods),
        host_ports=(*room.host_ports, *(port for pod in pods for port in pod.host_ports)),
    )


def paid(options: PoolOptions, launch: Launch) -> PoolOptions:
    """The pool with what a launch may take of its limits: for each node the largest of its list."""
    if options.remaining is None or launch.pool != options.pool.name:
        return options
    each = [
        node_usage(options.instance_type(offering.instance_type).capacity, offering.price)
        for offering in launch.offerings
    ]
    most = reduce(Resources.maximum, each).times(len(launch.nodes))
    left = Limits({name: amount - most.get(name) for name, amount in options.remaining.items()})
    return PoolOptions(options.pool, options.instance_types, left)


def _bare(snapshot: Snapshot, options: PoolOptions, launch: Launch, offering: LaunchOffering) -> Room:
    """A node of one offering, without pods."""
    kind = options.instance_type(offering.instance_type)
    labels = offered_labels(options, launch, offering)
    empty = Room("", labels, options.pool.taints, kind.allocatable, initialized=False)
    daemons = tuple(daemons_to_come(empty, snapshot.daemon_sets))
    return Room(
        name="",
        labels=labels,
        taints=empty.taints,
        available=kind.allocatable - sum((each.requests for each in daemons), Resources()),
        initialized=False,
        host_ports=tuple(port for each in daemons for port in each.host_ports),
        attachable={} if kind.volumes is None else {EBS_DRIVER: kind.volumes},
    )


def _least(one: Resources, other: Resources) -> Resources:
    return Resources({name: min(one.get(name), other.get(name)) for name in {*one, *other}})


def _has(room: Room, key: str, value: str) -> bool:
    return room.labels.get(key) == value
