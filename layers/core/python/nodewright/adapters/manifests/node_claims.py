"""NodeClaims, Karpenter's record of nodes on their way, and Nodes that such a record would be of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, cast

import msgspec

from nodewright.adapters.manifests.nodes import NodeAmounts, RawTaint, read_taint
from nodewright.adapters.manifests.objects import NEVER, NOTHING, Page, RawObject, read_page
from nodewright.domain import nodes
from nodewright.domain.catalogue import CapacityType
from nodewright.domain.claims import ClaimState, NodeClaim
from nodewright.domain.nodes import Node
from nodewright.domain.pools import NodePool
from nodewright.domain.quantities import Resources
from nodewright.domain.retirement import Retirement


class _ClassReference(msgspec.Struct):
    name: str = ""


class _Requirement(msgspec.Struct):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class _Spec(msgspec.Struct, rename="camel"):
    node_class_ref: _ClassReference = msgspec.field(default_factory=_ClassReference)
    requirements: tuple[_Requirement, ...] | None = None
    taints: tuple[RawTaint, ...] | None = None
    startup_taints: tuple[RawTaint, ...] | None = None


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _Status(msgspec.Struct, rename="camel"):
    node_name: str = ""
    provider_id: str = msgspec.field(name="providerID", default="")
    capacity: msgspec.Raw = NOTHING
    allocatable: msgspec.Raw = NOTHING
    conditions: tuple[_Condition, ...] | None = None


class RawNodeClaim(RawObject):
    """A NodeClaim object, or a Machine of v1alpha5, whose fields that count here are the same."""

    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


def read_node_claims(body: bytes, amounts: NodeAmounts) -> Page[NodeClaim]:
    """One page of a NodeClaim list."""
    return read_page(body, RawNodeClaim, partial(_claim, amounts))


def claims_of_nodes(
    cluster_nodes: Iterable[Node], claims: Sequence[NodeClaim], pools: Iterable[NodePool]
) -> Iterator[NodeClaim]:
    """Nodes of a pool that are leaving or still start, where no NodeClaim tells of them."""
    told = {claim.node_name for claim in claims} | {claim.instance_id for claim in claims if claim.instance_id}
    known = {pool.name: pool for pool in pools}
    for node in cluster_nodes:
        pool = known.get(node.labels.get(nodes.NODE_POOL_LABEL) or node.labels.get(nodes.PROVISIONER_LABEL, ""))
        if pool is not None and not told & {node.name, node.instance_id} and (node.terminating or _starts(node)):
            yield _of_node(node, pool)


#: The last step that was taken counts.
_STATES: Final = (
    ("Initialized", ClaimState.INITIALIZED),
    ("Registered", ClaimState.REGISTERED),
    ("Launched", ClaimState.LAUNCHED),
)


def _claim(amounts: NodeAmounts, raw: RawNodeClaim) -> NodeClaim:
    metadata, spec, status = raw.metadata, raw.spec, raw.status
    labels = {**_chosen(spec.requirements or ()), **(metadata.labels or {})}
    done = {each.type for each in status.conditions or () if each.status == "True"}
    return NodeClaim(
        id=metadata.name,
        launch_id="",
        state=next((state for condition, state in _STATES if condition in done), ClaimState.RESERVED),
        pool=_pool(labels),
        node_class=spec.node_class_ref.name,
        pool_hash="",
        class_hash="",
        created=metadata.creation_timestamp or NEVER,
        labels=labels,
        taints=tuple(map(read_taint, spec.taints or ())),
        startup_taints=tuple(map(read_taint, spec.startup_taints or ())),
        requests=Resources(),
        nominated_pods=(),
        instance_type=labels.get(nodes.INSTANCE_TYPE_LABEL, ""),
        zone=labels.get(nodes.ZONE_LABEL, ""),
        capacity_type=_capacity_type(labels),
        capacity=amounts.read(status.capacity),
        allocatable=amounts.read(status.allocatable),
        instance_id=status.provider_id.rpartition("/")[2],
        node_name=status.node_name,
        retirement=_leaving(metadata.deletion_timestamp) if metadata.deletion_timestamp else None,
    )


def _of_node(node: Node, pool: NodePool) -> NodeClaim:
    """As its pool would have it; what it carries by itself while it starts is not kept."""
    return NodeClaim(
        id=node.name,
        launch_id="",
        state=ClaimState.REGISTERED if _starts(node) else ClaimState.INITIALIZED,
        pool=pool.name,
        node_class=pool.node_class,
        pool_hash="",
        class_hash="",
        created=node.created,
        labels=node.labels,
        taints=pool.taints,
        startup_taints=pool.startup_taints,
        requests=Resources(),
        nominated_pods=(),
        instance_type=node.labels.get(nodes.INSTANCE_TYPE_LABEL, ""),
        zone=node.labels.get(nodes.ZONE_LABEL, ""),
        capacity_type=_capacity_type(node.labels),
        capacity=node.capacity,
        allocatable=node.allocatable,
        instance_id=node.instance_id or "",
        node_name=node.name,
        retirement=_leaving(NEVER) if node.terminating else None,
    )


def _starts(node: Node) -> bool:
    """A node somebody wrote down without a time is one that stands."""
    return node.created != NEVER and nodes.INITIALIZED_LABEL not in node.labels


def _leaving(since: datetime) -> Retirement:
    return Retirement(epoch=1, reason="node-deleted", started=since, not_before=NEVER, next_at=since)


def _chosen(requirements: Iterable[_Requirement]) -> dict[str, str]:
    """Labels that its requirements leave no choice of."""
    return {each.key: each.values[0] for each in requirements if each.operator == "In" and len(each.values) == 1}


def _pool(labels: Mapping[str, str]) -> str:
    return labels.get(nodes.NODE_POOL_LABEL) or labels.get(nodes.PROVISIONER_LABEL, "")


def _capacity_type(labels: Mapping[str, str]) -> CapacityType:
    return cast(CapacityType, labels.get(nodes.CAPACITY_TYPE_LABEL, "on-demand"))
