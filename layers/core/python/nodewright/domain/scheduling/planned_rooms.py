"""Nodes of a launch as rooms: whatever of its list comes, they will have at least this."""

from collections.abc import Iterator, Mapping
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


def planned_rooms(snapshot: Snapshot, launch: Launch, pods: Mapping[PodKey, Pod], name: str) -> Iterator[Room]:
    """One for each of its nodes, with the pods that are planned there."""
    options = next(each for each in snapshot.pools if each.pool.name == launch.pool)
    kinds = [_bare(snapshot, options, launch, offering) for offering in launch.offerings]
    first = kinds[0]
    volumes = [each.attachable[EBS_DRIVER] for each in kinds if EBS_DRIVER in each.attachable]
    for number, node in enumerate(launch.nodes):
        there = tuple(pods[key] for key in node)
        load = sum((pod.requests for pod in there), Resources())
        yield Room(
            name=f"{name}.{number}",
            labels={key: value for key, value in first.labels.items() if all(_has(k, key, value) for k in kinds)},
            taints=first.taints,
            available=reduce(_least, (each.available for each in kinds)) - load,
            initialized=False,
            pool=launch.pool,
            pods=there,
            coming=frozenset(node),
            host_ports=tuple({port for each in kinds for port in each.host_ports})
            + tuple(port for pod in there for port in pod.host_ports),
            attachable={EBS_DRIVER: min(volumes)} if volumes else {},
        )


def filled(room: Room, pods: tuple[Pod, ...]) -> Room:
    """The room with more pods."""
    return replace(
        room,
        available=room.available - sum((pod.requests for pod in pods), Resources()),
        pods=(*room.pods, *pods),
        coming=room.coming.union(pod.key for pod in pods),
        host_ports=(*room.host_ports, *(port for pod in pods for port in pod.host_ports)),
    )


def paid(options: PoolOptions, launch: Launch) -> PoolOptions:
    """The pool with what a launch may take of its limits: for each node the largest of its list."""
    if options.remaining is None or launch.pool != options.pool.name:
        return options
    kinds = {kind.name: kind for kind in options.instance_types}
    each = [node_usage(kinds[offering.instance_type].capacity, offering.price) for offering in launch.offerings]
    most = reduce(Resources.maximum, each).times(len(launch.nodes))
    left = Limits({name: amount - most.get(name) for name, amount in options.remaining.items()})
    return PoolOptions(options.pool, options.instance_types, left)


def _bare(snapshot: Snapshot, options: PoolOptions, launch: Launch, offering: LaunchOffering) -> Room:
    """A node of one offering, without pods."""
    kind = next(each for each in options.instance_types if each.name == offering.instance_type)
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
