"""Nodes."""

from dataclasses import dataclass, field
from functools import partial
from typing import cast

import msgspec

from nodewright.adapters.manifests.generations import with_new_names
from nodewright.adapters.manifests.objects import NEVER, NOTHING, Page, RawObject, read_one, read_page
from nodewright.adapters.manifests.raw_specs import is_given
from nodewright.domain.nodes import Node
from nodewright.domain.quantities import LARGEST, Resources
from nodewright.domain.taints import Effect, Taint


class RawTaint(msgspec.Struct, gc=False):
    """A taint of a node."""

    key: str
    effect: str
    value: str = ""


class _Spec(msgspec.Struct, rename="camel", gc=False):
    provider_id: str = msgspec.field(name="providerID", default="")
    taints: tuple[RawTaint, ...] | None = None
    unschedulable: bool | None = None


class _Condition(msgspec.Struct, gc=False):
    type: str = ""
    status: str = ""


class _Status(msgspec.Struct, gc=False):
    capacity: msgspec.Raw = NOTHING
    allocatable: msgspec.Raw = NOTHING
    conditions: tuple[_Condition, ...] | None = None


class RawNode(RawObject, gc=False):
    """A Node object."""

    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


@dataclass(slots=True)
class NodeAmounts:
    """Reads the resources of one list; nodes of one type have the same."""

    _read: dict[bytes, Resources] = field(default_factory=dict)

    def read(self, raw: msgspec.Raw) -> Resources:
        """Amounts; unreadable ones count as none, so nothing is placed there."""
        key = bytes(raw)
        known = self._read.get(key)
        if known is None:
            known = self._read[key] = _amounts(raw)
        return known


def read_nodes(body: bytes, amounts: NodeAmounts) -> Page[Node]:
    """One page of a node list. Give all pages of a list the same `amounts`."""
    return read_page(body, RawNode, partial(_node, amounts))


def read_one_node(body: bytes) -> Node:
    """One Node as the API server sent it."""
    return read_one(body, RawNode, partial(_node, NodeAmounts()))


def _node(amounts: NodeAmounts, raw: RawNode) -> Node:
    metadata, spec, status = raw.metadata, raw.spec, raw.status
    return Node(
        name=metadata.name,
        uid=metadata.uid,
        provider_id=spec.provider_id,
        labels=metadata.labels or {},
        annotations=with_new_names(metadata.annotations or {}),
        taints=tuple(read_taint(taint) for taint in spec.taints or ()),
        capacity=amounts.read(status.capacity),
        allocatable=amounts.read(status.allocatable),
        ready=any(c.type == "Ready" and c.status == "True" for c in status.conditions or ()),
        created=metadata.creation_timestamp or NEVER,
        unschedulable=spec.unschedulable or False,
        terminating=metadata.deletion_timestamp is not None,
    )


def read_taint(raw: RawTaint) -> Taint:
    """The API server lets no other effect through."""
    return Taint(raw.key, raw.value, cast(Effect, raw.effect))


def _amounts(raw: msgspec.Raw) -> Resources:
    try:
        given = Resources.parse(_AMOUNTS.decode(raw)) if is_given(raw) else Resources()
    except ValueError:
        return Resources()
    # No pod asks for more, and sums must stay within 64 bits.
    return Resources({name: min(amount, LARGEST) for name, amount in given.items()})


_AMOUNTS = msgspec.json.Decoder(dict[str, object])
