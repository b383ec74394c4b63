"""LimitRanges: what containers of a namespace request where they don't say it themselves."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from nodewright.adapters.manifests.objects import Page, RawObject, read_page

Amounts = Mapping[str, object]
"""Quantities by resource, as they are written."""
ContainerDefaults = Mapping[str, Amounts]
"""By namespace: requests of its containers that say nothing."""
NO_AMOUNTS: Final[Amounts] = {}
NO_DEFAULTS: Final[ContainerDefaults] = {}


class _Limit(msgspec.Struct, rename="camel"):
    type: str = ""
    min: dict[str, object] | None = None
    max: dict[str, object] | None = None
    default: dict[str, object] | None = None
    default_request: dict[str, object] | None = None


class _Spec(msgspec.Struct):
    limits: tuple[_Limit, ...] | None = None


class RawLimitRange(RawObject):
    """A LimitRange object."""

    spec: _Spec = msgspec.field(default_factory=_Spec)


LimitRange = tuple[str, Amounts]
"""(namespace, default requests of its containers)."""


def read_limit_ranges(body: bytes) -> Page[LimitRange]:
    """One page of a LimitRange list."""
    return read_page(body, RawLimitRange, _limit_range)


def container_defaults(limit_ranges: Iterable[LimitRange]) -> ContainerDefaults:
    """By namespace; of several that name a resource the first counts."""
    found: dict[str, dict[str, object]] = {}
    for namespace, amounts in limit_ranges:
        found[namespace] = {**amounts, **found.get(namespace, {})}
    return found


def _limit_range(raw: RawLimitRange) -> LimitRange:
    amounts: dict[str, object] = {}
    for limit in raw.spec.limits or ():
        if limit.type == "Container":
            amounts = {**_defaults(limit), **amounts}
    return raw.metadata.namespace or "default", amounts


def _defaults(limit: _Limit) -> dict[str, object]:
    """As the API server completes it: an absent defaultRequest is the default limit, that the max, else the min."""
    parts = (limit.min, limit.max, limit.default, limit.default_request)
    return {name: amount for part in parts for name, amount in (part or {}).items()}
