"""Noticing that pods came to nodes or left them: emptiness, and later consolidation, wait from there."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import islice

from nodewright.application.errors import ConflictError
from nodewright.application.ports import ClusterState, Ledger
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.occupants import fingerprint
from nodewright.domain.pods import Pod

#: Claims written in one run: the next is a minute away, and to be noticed late only delays a node's end.
EVENTS_PER_RUN = 500


def record_pod_events(
    cluster: str, ledger: Ledger, state: ClusterState, known: Iterable[NodeClaim], now: datetime
) -> tuple[NodeClaim, ...]:
    """All claims, as they are stored afterwards; `known`: as they were read lately.

    The first look at a node after it was initialized counts as an event: it is from then on that it may be empty.
    """
    claims = {claim.id: claim for claim in known}
    for changed in islice(_changed(claims.values(), state, now), EVENTS_PER_RUN):
        try:
            claims[changed.id] = ledger.save_claim(cluster, changed)
        except ConflictError:
            continue  # somebody changed it this moment; the next run notices the same
    return tuple(claims.values())


def _changed(claims: Iterable[NodeClaim], state: ClusterState, now: datetime) -> Iterator[NodeClaim]:
    there, pods = {node.name for node in state.nodes}, _by_node(state.pods)
    # Not of one that leaves: its pods' going says nothing, and its record is retire's to write.
    watched = (c for c in tuple(claims) if c.state is ClaimState.INITIALIZED and c.retirement is None)
    for claim in watched:
        seen = fingerprint(pods.get(claim.node_name, ()))
        if claim.node_name in there and seen != claim.pods_hash:
            yield replace(claim, pods_hash=seen, last_pod_event=now, initialized=claim.initialized or now)


def _by_node(pods: Iterable[Pod]) -> Mapping[str, list[Pod]]:
    found: dict[str, list[Pod]] = {}
    for pod in pods:
        found.setdefault(pod.node_name, []).append(pod)
    return found
