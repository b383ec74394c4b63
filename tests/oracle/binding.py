"""Whether planned pods get bound where they are planned, in whatever order kube-scheduler comes to them."""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.snapshot import Snapshot
from tests.oracle.cluster import Cluster, Site
from tests.oracle.filters import refusal, repulsion
from tests.oracle.futures import futures, planned_nodes, sites_there

Event = Callable[[Cluster], str | None]
"""Something that happens unless it says why it can't yet."""

_ORDERS = 6


def binding_faults(snapshot: Snapshot, plan: Plan, seed: int = 1) -> Iterator[str]:
    """Pods that stay pending, each told once with the first reason seen."""
    stuck: dict[PodKey, str] = {}
    for cluster, waiting in trials(snapshot, plan, seed):
        for pod, name in waiting:
            why = refusal(pod, cluster.sites[name], cluster) if name in cluster.sites else "its node can't come"
            stuck.setdefault(pod.key, f"{pod.key} stays pending: {why}")
    yield from (stuck[key] for key in sorted(stuck))


def trials(snapshot: Snapshot, plan: Plan, seed: int) -> Iterator[tuple[Cluster, list[tuple[Pod, str]]]]:
    """Clusters when nothing moves any more, with the pods that were not bound and where they belong."""
    rng = random.Random(seed)
    homes = homes_of(snapshot, plan)
    worlds = list(futures(planned_nodes(snapshot, plan), snapshot, rng))
    orders = _ORDERS if any(_has_rules(pod) for pod in snapshot.pods) or _guarded(snapshot) else 1
    for number in range(max(len(worlds), orders)):
        yield _bind_all(snapshot, worlds[number % len(worlds)], homes, rng, together=number % 2 == 0)


def homes_of(snapshot: Snapshot, plan: Plan) -> Sequence[tuple[Pod, str]]:
    """Each planned pod with the name of its node."""
    pods = {pod.key: pod for pod in snapshot.pods}
    rooms = {room.name for room in snapshot.rooms}
    planned = [(key, each.node) for each in plan.nominations if each.node in rooms for key in each.pods]
    planned += [(key, node.name) for node in planned_nodes(snapshot, plan) for key in node.pods]
    return [(pods[key], name) for key, name in planned if key in pods]


def final_state(snapshot: Snapshot, plan: Plan, new: Mapping[str, Site]) -> Cluster:
    """Everything there and everything bound, whatever the rules say."""
    cluster = Cluster(snapshot.namespaces)
    for site in (*sites_there(snapshot), *new.values()):
        cluster.join(site)
    for name in cluster.sites:
        _start_daemons(cluster, name)
    for pod, name in homes_of(snapshot, plan):
        if name in cluster.sites:
            cluster.bind(pod, name)
    return cluster


def _bind_all(
    snapshot: Snapshot, new: Mapping[str, Site], homes: Sequence[tuple[Pod, str]], rng: random.Random, *, together: bool
) -> tuple[Cluster, list[tuple[Pod, str]]]:
    cluster = Cluster(snapshot.namespaces)
    there = tuple(sites_there(snapshot))
    for site in (*there, *(new.values() if together else ())):
        cluster.join(site)
    left = dict(enumerate(homes))
    events = [_arrival(site) for site in new.values()] if not together else []
    events += [_daemons(site.name) for site in (*there, *new.values())]
    events += [_binding(number, left) for number in left]
    rng.shuffle(events)
    _run(cluster, events)
    return cluster, list(left.values())


def _run(cluster: Cluster, events: Iterable[Event]) -> None:
    """Again and again, until a whole turn brings nothing."""
    waiting, moved = list(events), True
    while moved:
        before = len(waiting)
        waiting = [event for event in waiting if event(cluster) is not None]
        moved = len(waiting) < before


def _arrival(site: Site) -> Event:
    def happen(cluster: Cluster) -> str | None:
        cluster.join(site)
        return None

    return happen


def _daemons(name: str) -> Event:
    def happen(cluster: Cluster) -> str | None:
        if name not in cluster.sites:
            return "the node isn't there"
        return _start_daemons(cluster, name)

    return happen


def _start_daemons(cluster: Cluster, name: str) -> str | None:
    """Those that nobody's anti-affinity keeps off."""
    site = cluster.sites[name]
    repelled = [repulsion(each, site, cluster) for each in site.daemons]
    cluster.start_daemons(name, tuple(each for each, why in zip(site.daemons, repelled, strict=True) if why is None))
    return next((why for why in repelled if why is not None), None)


def _binding(number: int, left: dict[int, tuple[Pod, str]]) -> Event:
    pod, name = left[number]

    def happen(cluster: Cluster) -> str | None:
        if name not in cluster.sites:
            return "the node isn't there"
        why = refusal(pod, cluster.sites[name], cluster)
        if why is None:
            cluster.bind(pod, name)
            del left[number]
        return why

    return happen


def _has_rules(pod: Pod) -> bool:
    return any(spread.hard for spread in pod.spreads) or bool(pod.affinity) or bool(pod.anti_affinity)


def _guarded(snapshot: Snapshot) -> bool:
    """Whether a pod that is there keeps others away."""
    return any(pod.anti_affinity for room in (*snapshot.rooms, *snapshot.bystanders) for pod in room.pods)
