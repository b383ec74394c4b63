"""A snapshot in a few lines, for whoever reads a failing example."""

from collections.abc import Iterator

from nodewright.domain.money import show_usd
from nodewright.domain.pods import Pod
from nodewright.domain.snapshot import PoolOptions, Room, Snapshot
from nodewright.domain.topology import NO_PREFERENCES


def shown(snapshot: Snapshot) -> str:
    """Types, pools, nodes, DaemonSets and pods, a line each; of equal pods the first, with their number."""
    lines = [*_types(snapshot), *map(_pool, snapshot.pools)]
    lines += [_room(room) for room in snapshot.rooms]
    lines += [f"takes no pods: {_room(room)}" for room in snapshot.bystanders]
    lines += [
        f"daemonset {each.key}: {each.requests}; {' or '.join(map(str, each.alternatives))};"
        f" tolerates {len(each.tolerations)}; {dict(each.labels)} {[str(port) for port in each.host_ports]}"
        for each in snapshot.daemon_sets
    ]
    lines += [f"pod {', '.join(names)}: {what}" for what, names in _alike(snapshot.pods).items()]
    lines += [f"set aside: {key}" for key in snapshot.set_aside]
    return "\n".join(lines)


def _types(snapshot: Snapshot) -> Iterator[str]:
    for each in snapshot.pools[0].instance_types:
        sold = [
            f"{o.zone} {o.capacity_type} {show_usd(o.price)}{'' if o.available else ' (not now)'}"
            for o in each.offerings
        ]
        yield f"type {each.name}: {each.allocatable}; volumes {each.volumes}; {', '.join(sold)}"


def _pool(options: PoolOptions) -> str:
    pool = options.pool
    return (
        f"pool {pool.name}: {pool.requirements}; labels {dict(pool.labels)}; taints {[str(t) for t in pool.taints]};"
        f" weight {pool.weight}; remaining {options.remaining}{'; being deleted' if pool.terminating else ''}"
    )


def _room(room: Room) -> str:
    return (
        f"node {room.name}: {dict(room.labels)}; taints {[str(t) for t in room.taints]}; free {room.available};"
        f" ports {[str(port) for port in room.host_ports]}; attachable {dict(room.attachable)};"
        f" pods {[f'{pod.key} {dict(pod.labels)} anti {len(pod.anti_affinity)}' for pod in room.pods]}"
    )


def _alike(pods: tuple[Pod, ...]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pod in pods:
        found.setdefault(_wishes(pod), []).append(str(pod.key))
    return found


def _wishes(pod: Pod) -> str:
    wishes = [
        f"{dict(pod.labels)} {pod.requests}",
        " or ".join(map(str, pod.alternatives)),
        *(f"spread {each}" for each in pod.spreads),
        *(f"with {each}" for each in pod.affinity),
        *(f"not with {each}" for each in pod.anti_affinity),
        *(f"port {each}" for each in pod.host_ports),
        *(f"volumes in {each}" for each in pod.volume_nodes if each),
        *(f"attaches {each.volume}" for each in pod.attachments),
        *(f"tolerates {each}" for each in pod.tolerations),
        *([f"prefers {pod.preferences}"] if pod.preferences != NO_PREFERENCES else []),
        *pod.problems,
    ]
    return "; ".join([*wishes, *([f"priority {pod.priority}"] if pod.priority else [])])
