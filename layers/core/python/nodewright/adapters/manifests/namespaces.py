"""Namespaces: their labels, which rules between pods select by."""

from collections.abc import Mapping

from nodewright.adapters.manifests.objects import Page, RawObject, read_page

Namespace = tuple[str, Mapping[str, str]]
"""(name, labels)."""


def read_namespaces(body: bytes) -> Page[Namespace]:
    """One page of a Namespace list."""
    return read_page(body, RawObject, _namespace)


def _namespace(raw: RawObject) -> Namespace:
    return raw.metadata.name, raw.metadata.labels or {}
