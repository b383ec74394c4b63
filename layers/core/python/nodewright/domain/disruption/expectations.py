"""Nodes that look empty while somebody is on the way to them (cases.md 33)."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from nodewright.domain.claims import NodeClaim, is_leaving
from nodewright.domain.expected_pods import awaited
from nodewright.domain.plans import Plan
from nodewright.domain.pods import Pod, PodKey
from nodewright.domain.pools import NodePool
from nodewright.domain.snapshot import Snapshot

#: How long a pod that waits keeps a node: kube-scheduler tries even the most hopeless one again after five minutes.
PATIENCE: Final = timedelta(minutes=5)


def expectations(
    snapshot: Snapshot,
    claims: Iterable[NodeClaim],
    pools: Iterable[NodePool],
    displaced: Iterable[Pod],
    solve: Callable[[Snapshot], Plan],
) -> Mapping[str, str]:
    """Node → which pod is to come there, and why. `displaced`: pods of the snapshot that still run elsewhere."""
    known = tuple(claims)
    return {
        **_planned(snapshot, {pod.key for pod in displaced}, solve),
        **dict(_foreseen(known, snapshot.now)),
        **dict(_replacing(known, snapshot.now)),
        **dict(_nominated(known, snapshot, {pool.name: pool for pool in pools})),
    }


def _nominated(
    claims: Iterable[NodeClaim], snapshot: Snapshot, pools: Mapping[str, NodePool]
) -> Iterator[tuple[str, str]]:
    """A node waits for the pods it was bought for, from its last pod event on, at first its own initialization."""
    waiting = {pod.key for pod in snapshot.pods}
    for claim in claims:
        pods = [pod for pod in claim.nominated_pods if pod in waiting]
        if pods and not _is_over(claim, pools.get(claim.pool), snapshot.now):
            yield claim.node_name, f"{pods[0]}, for which it was bought, waits"


def _is_over(claim: NodeClaim, pool: NodePool | None, now: datetime) -> bool:
    after = pool.consolidate_after if pool is not None else None
    patience = max(PATIENCE, after or timedelta())
    return claim.last_pod_event is not None and now >= claim.last_pod_event + patience


def _foreseen(claims: Iterable[NodeClaim], now: datetime) -> Iterator[tuple[str, str]]:
    """A node waits for pods that weren't there when it was bought, though not for long."""
    for claim in claims:
        if awaited(claim, now):
            example = (*claim.expected_pods, *claim.headroom)[0]
            yield claim.node_name, f"pods like {example}, for which it was bought, are expected"


def _replacing(claims: Iterable[NodeClaim], now: datetime) -> Iterator[tuple[str, str]]:
    """A replacement waits until the node it stands for is gone, whatever its pods are then called."""
    known = tuple(claims)
    stands_for = {
        replacement: claim
        for claim in known
        if claim.retirement is not None and is_leaving(claim, now)
        for replacement in claim.retirement.replacements
    }
    for claim in known:
        if claim.id in stands_for:
            leaving = stands_for[claim.id]
            yield claim.node_name, f"it replaces {leaving.node_name or leaving.id}"


def _planned(snapshot: Snapshot, displaced: set[PodKey], solve: Callable[[Snapshot], Plan]) -> Mapping[str, str]:
    """Where kube-scheduler would put whoever has to find a place now; it may choose another, so that is no promise.

    Headroom takes what they leave: the same nodes as in provision's plan, which would buy them again.
    """
    young = tuple(p for p in snapshot.pods if p.key in displaced or snapshot.now - p.created < PATIENCE)
    if not (young or snapshot.headroom):
        return {}
    plan = solve(replace(snapshot, pods=young, pools=()))
    return {
        **{each.node: f"room for {each.pods[0]} is kept there" for each in plan.headroom.nominations},
        **{each.node: f"{each.pods[0]} waits and fits there" for each in plan.nominations},
    }
