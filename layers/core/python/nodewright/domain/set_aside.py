"""Shapes nodes were bought for in vain: a pause before the next, longer each time (architecture §4, rule 7).

Where kube-scheduler sees an obstacle that no plan knows of, each node that comes would be followed by another.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.occupants import occupants
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.taints import Toleration

#: How long after its node was initialized a pod may take to be bound.
PATIENCE: Final = timedelta(seconds=60)
#: From so many failures in a row on, a shape is set aside: one may have been bad luck.
FAILURES: Final = 2
LADDER: Final = tuple(timedelta(minutes=minutes) for minutes in (5, 10, 20, 40, 60))
#: Failures are forgotten when none was added for so long.
KEPT: Final = timedelta(hours=24)

_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_MESSAGE: Final = 600

_Pairs = list[tuple[NodeClaim, Pod]]


@dataclass(frozen=True, slots=True)
class ShapeAside:
    """What became of the nodes bought for pods of one shape; in a row, as a binding begins anew."""

    shape: str
    """Of `shape_key`."""
    failures: int = 0
    """Nodes bought for it at once count as one."""
    nodes: int = 0
    """Bought in vain."""
    changed: datetime = _NEVER
    """When it failed last, or was found bound. Nodes bought before then have been judged."""
    until: datetime = _NEVER
    """When nodes may be bought for it again."""
    message: str = ""
    """kube-scheduler's own, while a node stood there for it."""
    example: str = ""
    """A pod of it, `namespace/name`: what a person knows it by."""
    version: int = 0
    """Optimistic lock: the store requires and increments it."""

    def is_aside(self, now: datetime) -> bool:
        """Whether nothing is bought for it now."""
        return self.failures >= FAILURES and now < self.until

    def __str__(self) -> str:
        says = f"; kube-scheduler says: {self.message}" if self.message else ""
        return (
            f"{self.nodes} nodes were bought in vain for pods like it, which were not bound within"
            f" {PATIENCE.seconds} s of the node being ready; since {_shown(self.changed)} no more are bought,"
            f" until {_shown(self.until)}{says}"
        )


@dataclass(frozen=True, slots=True)
class Idle:
    """Nodes of one shape that stand ready while its pods stay unbound."""

    shape: str
    pods: tuple[Pod, ...]
    """Those that wait, sorted by name."""
    bought: tuple[datetime, ...]
    """When each of the nodes was."""


def shape_key(pod: Pod) -> str:
    """The same for pods that kube-scheduler should treat alike: same owner, same wishes; stable over releases."""
    owner = pod.owner.uid if pod.owner is not None else ""
    return _digest(pod.requests, pod.alternatives, pod.tolerations, owner)


def idle(claims: Iterable[NodeClaim], waiting: Iterable[Pod], pods: Iterable[Pod], now: datetime) -> tuple[Idle, ...]:
    """Shapes of `waiting` whose nodes are there in vain, by key. `pods`: all there are, for what fills the nodes."""
    unbound = {pod.key: pod for pod in waiting}
    missed = (claim for claim in claims if not unbound.keys().isdisjoint(claim.nominated_pods))
    ready = [claim for claim in missed if _has_stood(claim, now)]
    if not ready:
        return ()
    used = _used(pods, {claim.node_name for claim in ready})
    found: dict[str, _Pairs] = {}
    for claim in ready:
        free = claim.allocatable - used.get(claim.node_name, Resources())
        for pod in _left_over(claim, unbound, free, now):
            found.setdefault(shape_key(pod), []).append((claim, pod))
    return tuple(_idle(shape, pairs) for shape, pairs in sorted(found.items()))


def bindings(like: Iterable[Pod], pods: Iterable[Pod], since: datetime) -> Mapping[str, datetime]:
    """Shape → when a pod of it last began to run somewhere, for the shapes of `like`; after `since` only."""
    wanted = tuple(like)
    shapes, owners = {shape_key(pod) for pod in wanted}, {pod.owner for pod in wanted}
    found: dict[str, datetime] = {}
    for pod in pods:
        if pod.node_name and pod.started is not None and pod.started > since and pod.owner in owners:
            found[shape_key(pod)] = max(pod.started, found.get(shape_key(pod), since))
    return {shape: moment for shape, moment in found.items() if shape in shapes}


def standing(known: ShapeAside, bound: datetime | None, now: datetime) -> ShapeAside:
    """What still counts of it: nothing once a pod of the shape was bound since, or all of it is long ago."""
    if bound is not None and bound > known.changed:
        return replace(known, failures=0, nodes=0, changed=bound, until=bound, message="")
    if now - known.changed >= KEPT:
        return replace(known, failures=0, nodes=0, until=known.changed, message="")
    return known


def counted(known: ShapeAside, found: Idle, now: datetime) -> ShapeAside:
    """With nodes that were bought since it last changed; each counts once, however often it is looked at."""
    fresh = sum(moment > known.changed for moment in found.bought)
    if not fresh:
        return known
    failures = known.failures + 1
    return replace(
        known,
        failures=failures,
        nodes=known.nodes + fresh,
        changed=now,
        until=now + pause(failures),
        message=found.pods[0].unschedulable_message[:_LONGEST_MESSAGE],
        example=str(found.pods[0].key),
    )


def pause(failures: int) -> timedelta:
    """How long after so many failures in a row; none after the first."""
    return LADDER[min(failures - FAILURES, len(LADDER) - 1)] if failures >= FAILURES else timedelta()


def told(
    known: Iterable[ShapeAside], waiting: Collection[Pod], pods: Iterable[Pod], now: datetime
) -> Mapping[PodKey, str]:
    """Pods of `waiting` whose shapes are set aside → what is told of it."""
    aside = {each.shape: each for each in known if each.is_aside(now)}
    held = [pod for pod in waiting if shape_key(pod) in aside] if aside else []
    if not held:
        return {}
    bound = bindings(held, pods, min(each.changed for each in aside.values()))
    still = {shape: standing(each, bound.get(shape), now) for shape, each in aside.items()}
    return {pod.key: str(still[shape_key(pod)]) for pod in held if still[shape_key(pod)].is_aside(now)}


@lru_cache(maxsize=4096)
def _digest(
    requests: Resources, alternatives: tuple[Requirements, ...], tolerations: tuple[Toleration, ...], owner: str
) -> str:
    wishes = [
        owner,
        *(f"{name}={amount}" for name, amount in requests.items()),
        *(str(each) for each in alternatives),
        *(f"{each.key} {each.operator} {each.value} {each.effect}" for each in tolerations),
    ]
    return hashlib.sha256("\n".join(wishes).encode()).hexdigest()[:16]


def _has_stood(claim: NodeClaim, now: datetime) -> bool:
    """Ready for long enough, and open to pods all that time: only emptiness waits for pods before it taints."""
    since = claim.initialized if claim.state is ClaimState.INITIALIZED else None
    open_to_pods = claim.retirement is None or claim.retirement.reason == "empty"
    return open_to_pods and since is not None and now - since >= PATIENCE


def _left_over(claim: NodeClaim, unbound: Mapping[PodKey, Pod], free: Resources, now: datetime) -> Iterator[Pod]:
    """Pods it was bought for that wait although by the plan they fit; not a later pod of the same name.

    By the plan: a machine that is smaller than planned is the commonest of obstacles.
    """
    last = min(now, (claim.initialized or claim.created) + 2 * PATIENCE) - PATIENCE
    for pod in (unbound[key] for key in claim.nominated_pods if key in unbound):
        if pod.created <= last and pod.requests.fits(free):
            yield pod


def _used(pods: Iterable[Pod], names: Collection[str]) -> Mapping[str, Resources]:
    """By workloads: what comes with every node is no reason for the next."""
    used: dict[str, Resources] = {}
    for pod in occupants(pod for pod in pods if pod.node_name in names):
        used[pod.node_name] = used.get(pod.node_name, Resources()) + pod.requests
    return used


def _idle(shape: str, pairs: _Pairs) -> Idle:
    bought = {claim.id: claim.created for claim, _ in pairs}
    pods = {pod.key: pod for _, pod in pairs}
    return Idle(shape, tuple(pod for _, pod in sorted(pods.items())), tuple(sorted(bought.values())))


def _shown(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
