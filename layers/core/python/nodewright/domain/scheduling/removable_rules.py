"""Rules that a workload or a pool could do without, each with the world as it would be without it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from nodewright.domain.nodes import HOSTNAME_LABEL, ZONE_LABEL
from nodewright.domain.owners import OwnerKey, owner_of
from nodewright.domain.pods import Pod
from nodewright.domain.pods_at_risk import MAX_PODS_AT_RISK
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import CPU, MEMORY
from nodewright.domain.requirements import Requirements
from nodewright.domain.snapshot import Room, Snapshot
from nodewright.domain.topology import NO_PREFERENCES


@dataclass(frozen=True, slots=True)
class RemovableRule:
    """One rule of one workload or pool."""

    subject: str
    """`Deployment default/web`, `NodePool/default`."""
    rule: str
    """In the field's words."""
    pods: int
    """Pending ones that have it; 0 of a pool."""
    size: tuple[int, int]
    """What those ask for: cpu, memory."""
    without: Callable[[Snapshot], Snapshot] = field(compare=False)


def removable_rules(snapshot: Snapshot) -> tuple[RemovableRule, ...]:
    """Those of pools first, then of the largest workloads."""
    of_pods = sorted(_of_owners(snapshot), key=lambda each: (-each.size[0], -each.size[1], each.subject))
    return (*_of_pools(snapshot), *of_pods)


def _group_of(pod: Pod) -> OwnerKey:
    """Its owner; pods without one belong together by their labels."""
    if pod.owner is None and pod.labels:
        told = ",".join(f"{key}={value}" for key, value in sorted(pod.labels.items()))
        return OwnerKey(pod.key.namespace, "Pods", told)
    return owner_of(pod)


def _groups(pods: Iterable[Pod]) -> Mapping[OwnerKey, Sequence[Pod]]:
    found: dict[OwnerKey, list[Pod]] = {}
    for pod in pods:
        found.setdefault(_group_of(pod), []).append(pod)
    return {group: found[group] for group in sorted(found)}


class _Sort(StrEnum):
    SPREAD = "spread"
    AFFINITY = "affinity"
    ANTI_AFFINITY = "anti-affinity"
    NODES = "nodes"
    VOLUMES = "where its volumes are"
    HOST_PORTS = "host ports"
    PREFERENCES = "preferences"


@dataclass(frozen=True, slots=True)
class _PodRule:
    """All that a pod says of one sort about one label."""

    sort: _Sort
    key: str = ""


def _of_owners(snapshot: Snapshot) -> Iterator[RemovableRule]:
    able = (pod for pod in snapshot.pods if not pod.problems)
    for owner, pods in _groups(able).items():
        for rule in dict.fromkeys(rule for pod in pods for rule in _rules(pod)):
            having = [pod for pod in pods if rule in _rules(pod)]
            yield RemovableRule(
                subject=str(owner),
                rule=_told(rule, having[0]),
                pods=len(having),
                size=(sum(p.requests.get(CPU) for p in having), sum(p.requests.get(MEMORY) for p in having)),
                without=_taking(owner, rule),
            )


def _rules(pod: Pod) -> tuple[_PodRule, ...]:
    found = [_PodRule(_Sort.SPREAD, spread.topology_key) for spread in pod.spreads if spread.hard]
    found += [_PodRule(_Sort.AFFINITY, term.topology_key) for term in pod.affinity]
    found += [_PodRule(_Sort.ANTI_AFFINITY, term.topology_key) for term in pod.anti_affinity]
    found += [_PodRule(_Sort.NODES, key) for key in sorted({key for each in pod.alternatives for key in each})]
    found += [_PodRule(_Sort.VOLUMES)] if any(map(len, pod.volume_nodes)) else []
    found += [_PodRule(_Sort.HOST_PORTS)] if pod.host_ports else []
    wishes = pod.preferences != NO_PREFERENCES or any(not spread.hard for spread in pod.spreads)
    found += [_PodRule(_Sort.PREFERENCES)] if wishes else []
    return tuple(dict.fromkeys(found))


_DOMAINS: Final = {ZONE_LABEL: "zone", HOSTNAME_LABEL: "hostname"}


def _told(rule: _PodRule, pod: Pod) -> str:
    if rule.sort is _Sort.NODES:
        wanted = dict.fromkeys(str(each[rule.key]) for each in pod.alternatives if rule.key in each)
        return "only nodes with " + " or ".join(wanted)
    if not rule.key:
        return rule.sort.value
    return f"{_DOMAINS.get(rule.key, rule.key)} {rule.sort.value}"


def _taking(owner: OwnerKey, rule: _PodRule) -> Callable[[Snapshot], Snapshot]:
    """Of its bound pods, too: their anti-affinity keeps pending ones away."""

    def without(pod: Pod) -> Pod:
        return _WITHOUT[rule.sort](pod, rule.key) if _group_of(pod) == owner else pod

    def room(each: Room) -> Room:
        return replace(each, pods=tuple(map(without, each.pods)))

    return lambda snapshot: replace(
        snapshot,
        pods=tuple(map(without, snapshot.pods)),
        rooms=tuple(map(room, snapshot.rooms)),
        bystanders=tuple(map(room, snapshot.bystanders)),
    )


def _without_spread(pod: Pod, key: str) -> Pod:
    return replace(pod, spreads=tuple(each for each in pod.spreads if not each.hard or each.topology_key != key))


def _without_affinity(pod: Pod, key: str) -> Pod:
    return replace(pod, affinity=tuple(term for term in pod.affinity if term.topology_key != key))


def _without_anti_affinity(pod: Pod, key: str) -> Pod:
    return replace(pod, anti_affinity=tuple(term for term in pod.anti_affinity if term.topology_key != key))


def _on_any_nodes(pod: Pod, key: str) -> Pod:
    return replace(pod, alternatives=tuple(dict.fromkeys(_less(each, key) for each in pod.alternatives)))


def _less(requirements: Requirements, key: str) -> Requirements:
    return Requirements(each for each in requirements.values() if each.key != key)


def _without_preferences(pod: Pod, _: str) -> Pod:
    return replace(pod, preferences=NO_PREFERENCES, spreads=tuple(each for each in pod.spreads if each.hard))


_WITHOUT: Final[Mapping[_Sort, Callable[[Pod, str], Pod]]] = {
    _Sort.SPREAD: _without_spread,
    _Sort.AFFINITY: _without_affinity,
    _Sort.ANTI_AFFINITY: _without_anti_affinity,
    _Sort.NODES: _on_any_nodes,
    _Sort.VOLUMES: lambda pod, _: replace(pod, volume_nodes=(Requirements(),)),
    _Sort.HOST_PORTS: lambda pod, _: replace(pod, host_ports=()),
    _Sort.PREFERENCES: _without_preferences,
}


def _of_pools(snapshot: Snapshot) -> Iterator[RemovableRule]:
    for options in sorted(snapshot.pools, key=lambda each: each.pool.name):
        wanted = {key: each.min_values for key, each in options.pool.requirements.items() if each.min_values}
        if wanted:
            told = ", ".join(f"{least} of {key}" for key, least in wanted.items())
            yield RemovableRule(str(options.pool), f"minValues {told}", 0, (0, 0), _any_choice(options.pool))
        if MAX_PODS_AT_RISK in options.pool.settings:
            told = f"max-pods-at-risk {options.pool.settings[MAX_PODS_AT_RISK]}"
            yield RemovableRule(str(options.pool), told, 0, (0, 0), _any_number(options.pool))


def _any_choice(pool: NodePool) -> Callable[[Snapshot], Snapshot]:
    loose = replace(
        pool, requirements=Requirements(replace(each, min_values=None) for each in pool.requirements.values())
    )
    return _instead(loose)


def _any_number(pool: NodePool) -> Callable[[Snapshot], Snapshot]:
    left = {key: value for key, value in pool.settings.items() if key != MAX_PODS_AT_RISK}
    return _instead(replace(pool, settings=left))


def _instead(pool: NodePool) -> Callable[[Snapshot], Snapshot]:
    """Of the pool of that name."""
    return lambda snapshot: replace(
        snapshot,
        pools=tuple(
            replace(options, pool=pool) if options.pool.name == pool.name else options for options in snapshot.pools
        ),
    )
