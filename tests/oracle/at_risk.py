"""`nodewright.dev/max-pods-at-risk`: how many pods of one owner a node of the pool may have."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.snapshot import Snapshot

_SETTING = "nodewright.dev/max-pods-at-risk"


def at_risk_faults(snapshot: Snapshot, plan: Plan) -> Iterator[str]:
    """Sentences of nodes that get too many."""
    values = {each.pool.name: each.pool.settings.get(_SETTING, "") for each in snapshot.pools}
    if not any(values.values()):
        return
    pods = {pod.key: pod for pod in snapshot.pods}
    replicas = Counter(map(_owner, _everybody(snapshot)))
    rooms = {room.name: room for room in snapshot.rooms}
    for name in {each.node for each in plan.nominations}:
        room, keys = rooms[name], [key for each in plan.nominations if each.node == name for key in each.pods]
        before = Counter(map(_owner, room.pods))
        yield from _faults(name, values.get(room.pool, ""), replicas, _counted(keys, pods), before)
    for number, launch in enumerate(plan.launches):
        for content in launch.nodes:
            name = f"a node of launch {number}"
            yield from _faults(name, values[launch.pool], replicas, _counted(content, pods), Counter())


def _faults(
    node: str, value: str, replicas: Mapping[str, int], new: Mapping[str, int], before: Mapping[str, int]
) -> Iterator[str]:
    """Those that are there already may be too many; none may be added to them then."""
    for owner, many in new.items():
        most = _most(value, replicas[owner]) if value else None
        if most is not None and many + before.get(owner, 0) > most:
            allowed = f"{value} of {replicas[owner]} allow {most}"
            yield f"{node} gets {many} of {owner} beside {before.get(owner, 0)}; {allowed}"


def _most(value: str, replicas: int) -> int:
    if not value.endswith("%"):
        return int(value)
    # Thousandths of a percent are enough for any value that tests have.
    return max(1, int(round(float(value[:-1]) * 1000) * replicas // 100_000))


def _everybody(snapshot: Snapshot) -> Iterator[Pod]:
    yield from snapshot.pods
    for room in (*snapshot.rooms, *snapshot.bystanders):
        yield from room.pods


def _counted(keys: Sequence[PodKey], pods: Mapping[PodKey, Pod]) -> Mapping[str, int]:
    return Counter(_owner(pods[key]) for key in keys)


def _owner(pod: Pod) -> str:
    """A pod without one is its own."""
    name = f"{pod.owner.kind} {pod.owner.name}" if pod.owner else f"pod {pod.key.name}"
    return f"{pod.key.namespace}/{name}"
