"""Whole lists from an API server, page by page.

Lists are asked without a resourceVersion: the most recent state, because planning on a stale one
buys nodes twice. Since Kubernetes 1.31 the API server answers that from its watch cache.
"""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import quote

import msgspec

from nodewright.adapters.kubernetes_api import KubernetesApi, ListExpiredError
from nodewright.adapters.manifests.objects import Page, read_dicts
from nodewright.application.errors import NotFoundError

#: Objects a page: few enough for one answer within the read timeout, and for little memory at once.
PAGE: Final = 2000
_STARTS: Final = 3

T = TypeVar("T")


def read_all(
    api: KubernetesApi, path: str, read: Callable[[bytes], Page[T]], query: Mapping[str, str] | None = None
) -> Page[T]:
    """All pages as one. A list that expires on its way starts again, three times at most."""
    for _ in range(_STARTS - 1):
        with contextlib.suppress(ListExpiredError):
            return _read_once(api, path, read, query or {})
    return _read_once(api, path, read, query or {})


@dataclass(slots=True)
class CustomResources:
    """One kind of custom resource, at the version discovery prefers of those that serve it."""

    api: KubernetesApi
    group: str
    plural: str
    only: str = ""
    """The one version there ever was, so that discovery needn't be asked each time for a kind few clusters have."""
    _path: str = ""

    def read(self) -> tuple[dict[str, object], ...] | None:
        """All objects; None where the cluster serves no such kind."""
        known = self._list(self._path) if self._path else None
        return self._discover() if known is None else known

    def of_namespace(self, namespace: str) -> str:
        """Where those of one namespace are, at the version that was read last."""
        prefix, _, plural = self._path.rpartition("/")
        return f"{prefix}/namespaces/{quote(namespace, safe='')}/{plural}"

    def _discover(self) -> tuple[dict[str, object], ...] | None:
        for version in self._versions():
            self._path = f"/apis/{self.group}/{version}/{self.plural}"
            objects = self._list(self._path)
            if objects is not None:
                return objects
        self._path = ""
        return None

    def _versions(self) -> tuple[str, ...]:
        """Preferred first. Each is tried: the preferred one may be another kind's of the group."""
        if self.only:
            return (self.only,)
        try:
            group = self.api.read(f"/apis/{self.group}", _Group)
        except NotFoundError:
            return ()
        return tuple(dict.fromkeys(v.version for v in (group.preferred_version, *group.versions)))

    def _list(self, path: str) -> tuple[dict[str, object], ...] | None:
        try:
            return read_all(self.api, path, read_dicts).items
        except NotFoundError:
            return None


def _read_once(api: KubernetesApi, path: str, read: Callable[[bytes], Page[T]], query: Mapping[str, str]) -> Page[T]:
    pages: list[Page[T]] = []
    token = ""
    while not pages or token:
        body = api.get(path, {**query, "limit": str(PAGE)} | ({"continue": token} if token else {}))
        pages.append(api.decoded(path, body, read))
        token = pages[-1].next_page
    return Page(
        tuple(item for page in pages for item in page.items),
        warnings=tuple(warning for page in pages for warning in page.warnings),
    )


class _Version(msgspec.Struct):
    version: str


class _Group(msgspec.Struct, rename="camel"):
    preferred_version: _Version
    versions: tuple[_Version, ...]
