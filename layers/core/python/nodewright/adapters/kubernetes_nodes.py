"""Writes to Node objects, each guarded by the resourceVersion it was decided on."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import msgspec

from nodewright.adapters.kubernetes_api import KubernetesApi
from nodewright.application.errors import ConflictError, NotFoundError
from nodewright.domain.taints import Taint

#: Keeps a Node object until its instance is ended in good order; the name is Karpenter's.
FINALIZER: Final = "karpenter.sh/termination"

_ATTEMPTS: Final = 5

RawTaint = dict[str, object]
"""As it is: a field of a taint that we don't know must survive."""


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str
    uid: str = ""
    labels: dict[str, str] | None = None
    finalizers: tuple[str, ...] | None = None
    deletion_timestamp: str | None = None


class _Spec(msgspec.Struct):
    taints: tuple[RawTaint, ...] | None = None


class _Node(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)


@dataclass(frozen=True, slots=True)
class _Change:
    """What is to be different; empty when nothing is."""

    labels: Mapping[str, str | None]
    taints: Sequence[RawTaint] | None = None
    finalizers: Sequence[str] | None = None

    def patch(self, node: _Node) -> Mapping[str, object] | None:
        """A merge patch, None where nothing is to be done. In one, null removes."""
        metadata: dict[str, object] = {}
        if self.labels:
            metadata["labels"] = self.labels
        if self.finalizers is not None:
            metadata["finalizers"] = list(self.finalizers) or None
        if not metadata and self.taints is None:
            return None
        metadata["resourceVersion"] = node.metadata.resource_version
        spec: dict[str, object] = {} if self.taints is None else {"spec": {"taints": list(self.taints) or None}}
        return {"metadata": metadata, **spec}


def register_node(api: KubernetesApi, name: str, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> None:
    """Labels and our finalizer on, taints off. One that is being deleted takes no new finalizer."""

    def change(node: _Node) -> _Change:
        known = node.metadata.finalizers or ()
        held = FINALIZER in known or node.metadata.deletion_timestamp is not None
        return _Change(_missing(node, labels), _without(node, remove_taints), None if held else (*known, FINALIZER))

    _write(api, name, change)


def mark_node(api: KubernetesApi, name: str, taint: Taint, labels: Mapping[str, str]) -> None:
    """Taint and labels on."""

    def change(node: _Node) -> _Change:
        taints = tuple(node.spec.taints or ())
        there = any((t.get("key"), t.get("effect")) == (taint.key, taint.effect) for t in taints)
        raw: RawTaint = {"key": taint.key, "value": taint.value, "effect": taint.effect}
        return _Change(_missing(node, labels), None if there else (*taints, raw))

    _write(api, name, change)


def unmark_node(api: KubernetesApi, name: str, taint: Taint, labels: Sequence[str]) -> None:
    """Both off; a node that isn't there carries neither."""

    def change(node: _Node) -> _Change:
        known = node.metadata.labels or {}
        return _Change({key: None for key in labels if key in known}, _without(node, (taint,)))

    with contextlib.suppress(NotFoundError):
        _write(api, name, change)


def delete_node(api: KubernetesApi, name: str, uid: str) -> None:
    """Delete this very Node and let it go; one of the same name that came after it is left alone."""
    path = _path(name)
    with contextlib.suppress(NotFoundError, ConflictError):
        api.delete(path, {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}})

    def change(node: _Node) -> _Change:
        known = node.metadata.finalizers or ()
        ours = node.metadata.uid == uid and FINALIZER in known
        return _Change({}, finalizers=tuple(each for each in known if each != FINALIZER) if ours else None)

    with contextlib.suppress(NotFoundError):
        _write(api, name, change)


def _write(api: KubernetesApi, name: str, change: Callable[[_Node], _Change]) -> None:
    """Read, change, write; read again on conflict. ConflictError when others were faster five times in a row."""
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(ConflictError):
            return _write_once(api, _path(name), change)
    return _write_once(api, _path(name), change)


def _write_once(api: KubernetesApi, path: str, change: Callable[[_Node], _Change]) -> None:
    node = api.read(path, _Node)
    patch = change(node).patch(node)
    if patch is not None:
        api.patch(path, patch)


def _path(name: str) -> str:
    return f"/api/v1/nodes/{quote(name, safe='')}"


def _missing(node: _Node, labels: Mapping[str, str]) -> Mapping[str, str]:
    known = node.metadata.labels or {}
    return {key: value for key, value in labels.items() if known.get(key) != value}


def _without(node: _Node, unwanted: Sequence[Taint]) -> Sequence[RawTaint] | None:
    """What remains; None when none of them is there."""
    taints = tuple(node.spec.taints or ())
    pairs = {(taint.key, taint.effect) for taint in unwanted}
    kept = [taint for taint in taints if (taint.get("key"), taint.get("effect")) not in pairs]
    return None if len(kept) == len(taints) else kept
