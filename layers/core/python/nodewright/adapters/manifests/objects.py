"""Parts that all objects of the API have, and lists of objects.

Lists are large, so only the fields we read are decoded, in one pass and without dicts. The API
server keeps built-in kinds sound; an item that is not is left out with a warning.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Generic, TypeVar

import msgspec

from nodewright.application.ports import ManifestWarning

#: Of manifests that were never sent to an API server.
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
NOTHING = msgspec.Raw(b"")

R = TypeVar("R", bound="RawObject")
T = TypeVar("T")


class ManifestError(ValueError):
    """An object that can't be read at all."""

    def __init__(self, name: str, path: str, message: str) -> None:
        super().__init__(f"{name}: {path}: {message}")
        self.path = path
        self.message = message


class RawOwner(msgspec.Struct, rename="camel", gc=False):
    """An owner reference."""

    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None


class RawMetadata(msgspec.Struct, rename="camel", gc=False):
    """Object metadata."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    owner_references: tuple[RawOwner, ...] | None = None


class RawObject(msgspec.Struct, rename="camel", gc=False):
    """What every kind of ours starts with."""

    metadata: RawMetadata


class RawListMetadata(msgspec.Struct, rename="camel", gc=False):
    """Metadata of one page."""

    next_page: str = msgspec.field(name="continue", default="")


class RawList(msgspec.Struct, Generic[T]):
    """One page of a list."""

    kind: str = ""
    metadata: RawListMetadata = msgspec.field(default_factory=RawListMetadata)
    items: tuple[T, ...] | None = None


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of values; `next_page` is the token of the one that follows, empty at the end."""

    items: tuple[T, ...]
    next_page: str = ""
    warnings: tuple[ManifestWarning, ...] = ()


def read_page(body: bytes, raw_type: type[R], read: Callable[[R], T]) -> Page[T]:
    """One page as the API server sent it."""
    try:
        page = _list_decoder(raw_type).decode(body)
        return Page(tuple(map(read, page.items or ())), page.metadata.next_page)
    except msgspec.ValidationError:
        return _read_one_by_one(body, raw_type, read)


def read_one(body: bytes, raw_type: type[R], read: Callable[[R], T]) -> T:
    """One object as the API server sent it."""
    return read(_decoder(raw_type).decode(body))


def read_dicts(body: bytes) -> Page[dict[str, object]]:
    """One page of objects whose fields are read one by one (pools and classes)."""
    page = _list_decoder(dict[str, object]).decode(body)
    return Page(page.items or (), page.metadata.next_page)


def read_object(raw: Mapping[str, object], raw_type: type[R], read: Callable[[R], T]) -> T:
    """One object that a person wrote. ManifestError names it, the field and what is wrong."""
    try:
        return read(_decoder(raw_type).decode(msgspec.json.encode(raw)))
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        path = where.strip("`").removeprefix("$").removeprefix(".")
        raise ManifestError(_name(raw), path, f"{what}; correct the field in its manifest") from error


def _read_one_by_one(body: bytes, raw_type: type[R], read: Callable[[R], T]) -> Page[T]:
    page = _list_decoder(dict[str, object]).decode(body)
    kind = page.kind.removesuffix("List")
    items: list[T] = []
    warnings: list[ManifestWarning] = []
    for found in page.items or ():
        raw = {"kind": kind, **found}  # the API server doesn't say it of each
        try:
            items.append(read_object(raw, raw_type, read))
        except ManifestError as error:
            warnings.append(ManifestWarning(_name(raw), error.path, f"{error.message}; it is left out"))
    return Page(tuple(items), page.metadata.next_page, tuple(warnings))


def _name(raw: Mapping[str, object]) -> str:
    metadata = raw.get("metadata")
    parts = [metadata.get("namespace"), metadata.get("name")] if isinstance(metadata, Mapping) else []
    return "/".join(str(part) for part in (raw.get("kind") or "object", *parts) if part)


@cache
def _decoder(raw_type: type[R]) -> "msgspec.json.Decoder[R]":
    return msgspec.json.Decoder(raw_type)


@cache
def _list_decoder(item_type: type[T]) -> "msgspec.json.Decoder[RawList[T]]":
    return msgspec.json.Decoder(RawList[item_type])  # type: ignore[valid-type]
