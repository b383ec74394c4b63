"""Writes to Node objects."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from nodewright.adapters.kubernetes_api import KubernetesApi
from nodewright.application.errors import ConflictError
from nodewright.domain.taints import Taint

_ATTEMPTS: Final = 5


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str
    labels: dict[str, str] | None = None


class _Spec(msgspec.Struct):
    # As they are: a field of a taint that we don't know must survive.
    taints: tuple[dict[str, object], ...] | None = None


class _Node(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec


def register_node(api: KubernetesApi, path: str, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> None:
    """Labels on, taints off, in one write guarded by the resourceVersion; read again on conflict.

    ConflictError when kubelet and others were faster five times in a row.
    """
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(ConflictError):
            return _register_once(api, path, labels, remove_taints)
    return _register_once(api, path, labels, remove_taints)


def _register_once(api: KubernetesApi, path: str, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> None:
    change = _change(api.read(path, _Node), labels, remove_taints)
    if change is not None:
        api.patch(path, change)


def _change(node: _Node, labels: Mapping[str, str], remove_taints: Sequence[Taint]) -> Mapping[str, object] | None:
    """The merge patch; None when the node is as it should be."""
    known = node.metadata.labels or {}
    missing = {key: value for key, value in labels.items() if known.get(key) != value}
    taints = list(node.spec.taints or ())
    unwanted = {(taint.key, taint.effect) for taint in remove_taints}
    kept = [taint for taint in taints if (taint.get("key"), taint.get("effect")) not in unwanted]
    if not missing and len(kept) == len(taints):
        return None
    change: dict[str, object] = {
        "metadata": {"resourceVersion": node.metadata.resource_version, "labels": missing},
    }
    return change if len(kept) == len(taints) else change | {"spec": {"taints": kept or None}}
