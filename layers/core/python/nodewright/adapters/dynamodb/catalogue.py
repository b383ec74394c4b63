"""The region's catalogue: instance types, offerings, prices.

A part is compressed and cut into chunks. A refresh writes the chunks of a new generation first and
then turns the head item to it, so a reader sees one generation or the other, whole. The generation
before is kept for readers that are still at it.
"""

import zlib
from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import cast

import msgspec

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.items import (
    Item,
    microseconds,
    moment,
    number,
    read_bytes,
    read_moment,
    read_number,
    read_text,
    text,
    to_domain,
    to_plain,
    unreadable,
)
from nodewright.adapters.dynamodb.section import Section
from nodewright.adapters.dynamodb.table import Table
from nodewright.application.errors import NotFoundError, RefusedError, UnavailableError
from nodewright.application.ports import Clock, Price, RegionCatalogue
from nodewright.domain.instance_facts import InstanceFacts

#: Part → what it holds; `prices` are on-demand.
PARTS: Mapping[str, object] = {
    "types": tuple[InstanceFacts, ...],
    "offerings": dict[str, frozenset[str]],
    "prices": tuple[Price, ...],
    "spot": tuple[Price, ...],
    "images": dict[str, str],
}
#: Without these nothing can be planned.
NEEDED = ("types", "offerings")

#: An item holds 400 KB with its keys and attributes.
CHUNK_BYTES = 350_000

REFRESH = "run the refresh function"


class Catalogue(Section):
    """`CATALOGUE#part` (head) and `CATALOGUE#part#generation#index` (chunks) of the region."""

    def __init__(self, table: Table, region: str, clock: Clock, report: Callable[[str], None]) -> None:
        super().__init__(table, region, clock, report)
        self._decoded: dict[str, tuple[str, object]] = {}

    def catalogue(self) -> RegionCatalogue:
        """All parts that were ever taken; NotFoundError while one that is needed isn't there."""
        heads = self._heads()
        missing = [part for part in NEEDED if part not in heads]
        if missing:
            raise NotFoundError(f"the catalogue of {self._region} lacks {', '.join(missing)}: {REFRESH}")
        content = self._contents(heads)
        ages = {part: read_moment(head, "taken") for part, head in heads.items()}
        return _together(content, ages)

    def put_catalogue_part(self, part: str, content: object, now: datetime) -> None:
        """Replace one part. RefusedError for a part nobody reads."""
        if part not in PARTS:
            raise RefusedError(f"the catalogue has no part {part!r}; its parts are {', '.join(PARTS)}")
        packed = zlib.compress(_MSGPACK.encode(content))
        pieces = [packed[start : start + CHUNK_BYTES] for start in range(0, len(packed), CHUNK_BYTES)]
        generation = f"{microseconds(now):020d}-{sha256(packed).hexdigest()[:8]}"
        before = self._table.get(keys.catalogue(self._region, part))
        self._table.put_many(self._chunk(part, generation, index, piece) for index, piece in enumerate(pieces))
        self._table.put(self._head(part, generation, len(pieces), now))
        self._clean(part, read_text(before, "generation") if before else generation)

    def _heads(self) -> dict[str, Item]:
        """Heads of the parts that are there, in the order of PARTS."""
        items = {read_text(i, "part"): i for i in self._table.get_many([self._head_key(part) for part in PARTS])}
        return {part: items[part] for part in PARTS if part in items}

    def _contents(self, heads: Mapping[str, Item]) -> Mapping[str, object]:
        """Parts, each decoded once for each generation this container sees; a cold one reads all at once."""
        unknown = {part: head for part, head in heads.items() if not self._knows(part, head)}
        keys_of = {part: self._chunk_keys(part, head) for part, head in unknown.items()}
        found = {_sort_key(i): i for i in self._table.get_many([key for some in keys_of.values() for key in some])}
        for part, head in unknown.items():
            chunks = [found.get(key["sk"]["S"]) for key in keys_of[part]]
            if None in chunks:
                raise UnavailableError(f"catalogue part {part} was replaced while it was read")
            packed = b"".join(read_bytes(chunk, "data") for chunk in chunks if chunk)
            self._decoded[part] = (read_text(head, "generation"), _decode(part, packed, head))
        return {part: self._decoded[part][1] for part in heads}

    def _knows(self, part: str, head: Item) -> bool:
        return part in self._decoded and self._decoded[part][0] == read_text(head, "generation")

    def _clean(self, part: str, oldest_kept: str) -> None:
        """Delete chunks of generations before `oldest_kept`; those being written now are later."""
        chunks = self._table.query(keys.of_region(self._region), keys.catalogue_chunks(part), keys_only=True)
        first = f"{keys.catalogue_chunks(part)}{oldest_kept}"
        self._table.delete_many([chunk for chunk in chunks if _sort_key(chunk) < first])

    def _head_key(self, part: str) -> keys.Key:
        return keys.catalogue(self._region, part)

    def _chunk_keys(self, part: str, head: Item) -> list[keys.Key]:
        generation = read_text(head, "generation")
        return [self._chunk_key(part, generation, index) for index in range(read_number(head, "chunks"))]

    def _chunk_key(self, part: str, generation: str, index: int) -> keys.Key:
        return keys.catalogue_chunk(self._region, part, generation, index)

    def _head(self, part: str, generation: str, count: int, now: datetime) -> Item:
        return {
            **self._head_key(part),
            "part": text(part),
            "generation": text(generation),
            "chunks": number(count),
            "taken": moment(now),
        }

    def _chunk(self, part: str, generation: str, index: int, data: bytes) -> Item:
        return {**self._chunk_key(part, generation, index), "data": {"B": data}}


_MSGPACK = msgspec.msgpack.Encoder(enc_hook=to_plain, order="deterministic")


def _decode(part: str, packed: bytes, head: Item) -> object:
    """A part's content. One another release wrote and we can't read is as good as none."""
    try:
        return msgspec.msgpack.decode(zlib.decompress(packed), type=PARTS[part], dec_hook=to_domain)
    except (zlib.error, msgspec.DecodeError, msgspec.ValidationError) as error:
        raise NotFoundError(f"{unreadable(head, 'data', str(error))}, or {REFRESH}") from error


def _together(content: Mapping[str, object], ages: Mapping[str, datetime]) -> RegionCatalogue:
    """One value of all parts; their types were checked when they were decoded."""
    return RegionCatalogue(
        facts=cast("tuple[InstanceFacts, ...]", content["types"]),
        zones_by_type=cast("Mapping[str, frozenset[str]]", content["offerings"]),
        prices=(
            *cast("tuple[Price, ...]", content.get("prices", ())),
            *cast("tuple[Price, ...]", content.get("spot", ())),
        ),
        ages=ages,
        images=cast("Mapping[str, str]", content.get("images", {})),
    )


def _sort_key(item: Item) -> str:
    return read_text(item, "sk")
