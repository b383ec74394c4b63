"""What is stored before EC2 is asked: the exact request, and a claim for every node of it."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import msgspec

from nodewright.application.orders import Order, pool_labels, tags
from nodewright.application.ports import FleetRequest, FleetTemplate
from nodewright.domain.claims import ClaimState, LaunchRecord, NodeClaim
from nodewright.domain.nodeclasses import NodeClass
from nodewright.domain.plans import Content
from nodewright.domain.quantities import Resources
from nodewright.domain.usage import node_usage

LAUNCH_TAG = "nodewright.dev/launch"

#: One reservation is one transaction of at most 100 items: claims, their launch and the epoch.
CLAIMS_PER_LAUNCH = 96
#: A launch that isn't settled by then is given up (karpenter-behaviour §7.5).
LAUNCH_TIMEOUT = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Reservation:
    """A launch about to happen."""

    record: LaunchRecord
    request: FleetRequest
    claims: tuple[NodeClaim, ...]


def portions(nodes: Sequence[Content]) -> tuple[Sequence[Content], ...]:
    """A launch's nodes in portions that one transaction can reserve."""
    return tuple(nodes[i : i + CLAIMS_PER_LAUNCH] for i in range(0, len(nodes), CLAIMS_PER_LAUNCH))


def reservation(
    launch_id: str,
    order: Order,
    contents: Sequence[Content],
    templates: tuple[FleetTemplate, ...],
    now: datetime,
    lease: timedelta,
) -> Reservation:
    """Claims `<launch id>-00…`, one per node's content, and the request for them."""
    request = FleetRequest(
        launch_id=launch_id,
        capacity=len(contents),
        capacity_type=order.launch.capacity_type,
        templates=templates,
        tags={**tags(order), LAUNCH_TAG: launch_id},
        context=order.resolved.node_class.context,
    )
    blank = _claim(launch_id, order, now)
    claims = tuple(
        replace(
            blank,
            id=f"{launch_id}-{index:02d}",
            nominated_pods=each.pods,
            expected_pods=each.expected,
            headroom=each.headroom,
        )
        for index, each in enumerate(contents)
    )
    record = LaunchRecord(
        launch_id, tuple(c.id for c in claims), encode_request(request), now + lease, now + LAUNCH_TIMEOUT
    )
    return Reservation(record, request, claims)


def _claim(launch_id: str, order: Order, now: datetime) -> NodeClaim:
    """Until the instance is known a claim counts the largest and dearest that may come, and has the smallest's room."""
    listed = order.listed
    largest = _largest(t.capacity for t in listed)
    shared = {k: v for k, v in listed[0].labels.items() if all(t.labels.get(k) == v for t in listed)}
    return NodeClaim(
        id=launch_id,
        launch_id=launch_id,
        state=ClaimState.RESERVED,
        pool=order.pool.name,
        node_class=order.resolved.node_class.name,
        pool_hash=order.pool.hash,
        class_hash=class_hash(order.resolved.node_class),
        created=now,
        labels={**shared, **pool_labels(order.pool, order.launch)},
        taints=order.pool.taints,
        startup_taints=order.pool.startup_taints,
        requests=order.launch.requests,
        nominated_pods=(),
        capacity_type=order.launch.capacity_type,
        price=order.launch.price,
        capacity=largest,
        counts=node_usage(largest, max(offering.price for offering in order.launch.offerings)),
        allocatable=_smallest([t.allocatable for t in listed]),
        expire_after=order.pool.expire_after,
        termination_grace_period=order.pool.termination_grace_period,
    )


def encode_request(request: FleetRequest) -> str:
    """The exact bytes to send, now or by whoever finishes the launch."""
    return msgspec.json.encode(request, order="sorted").decode()


def decode_request(text: str) -> FleetRequest:
    """The request back, equal to what was encoded."""
    return msgspec.json.decode(text, type=FleetRequest)


def class_hash(node_class: NodeClass) -> str:
    """Of all that makes an instance; a claim of another hash has drifted. Which kind the manifest is of makes none."""
    made = replace(node_class, source="", terminating=False)
    return hashlib.sha256(msgspec.json.encode(made, order="sorted")).hexdigest()[:16]


def _largest(each: Iterable[Resources]) -> Resources:
    total = Resources()
    for resources in each:
        total = total.maximum(resources)
    return total


def _smallest(each: Sequence[Resources]) -> Resources:
    return Resources({key: min(r.get(key, 0) for r in each) for key in each[0]})
