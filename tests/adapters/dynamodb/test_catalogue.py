from dataclasses import replace
from datetime import timedelta

import pytest

from nodewright.adapters.dynamodb.catalogue import CHUNK_BYTES
from nodewright.application.errors import NotFoundError, UnavailableError
from nodewright.application.ports import Price
from nodewright.domain.instance_facts import InstanceFacts
from tests.adapters.builders import NOW
from tests.adapters.dynamodb.conftest import Store
from tests.adapters.tables import TABLE

FACTS = InstanceFacts("m5.large", "amd64", 2, 8192)


class DiedError(Exception):
    """The function was stopped here."""


def chunk_keys(store: Store) -> list[str]:
    return [key for key in store.key_names() if "CATALOGUE#types#" in key]


def noise(seed: int, count: int) -> tuple[InstanceFacts, ...]:
    """Types that don't compress well."""
    return tuple(replace(FACTS, name=f"{(n * 2654435761 + seed) ** 5:x}"[:60], vcpus=n) for n in range(count))


def fill(store: Store) -> None:
    store.ledger().put_catalogue_part("types", (FACTS,), NOW)
    store.ledger().put_catalogue_part("offerings", {}, NOW)


def test_a_part_too_large_for_an_item_is_cut_and_put_together_again(store: Store) -> None:
    many = noise(1, 30_000)
    fill(store)
    store.ledger().put_catalogue_part("types", many, NOW + timedelta(hours=1))
    sizes = [len(item["data"]["B"]) for item in store.items() if "data" in item]  # type: ignore[arg-type]
    assert len(sizes) > 3
    assert max(sizes) == CHUNK_BYTES
    assert store.ledger().catalogue().facts == many


def test_a_refresh_that_dies_before_turning_the_head_changes_nothing(store: Store) -> None:
    fill(store)

    def die() -> None:
        raise DiedError

    store.on_call("PutItem", die)
    with pytest.raises(DiedError):
        store.ledger().put_catalogue_part("types", (), NOW + timedelta(hours=1))
    assert store.ledger().catalogue().facts == (FACTS,)
    assert store.ledger().catalogue().ages["types"] == NOW


def test_the_generation_before_stays_for_readers_and_older_ones_go(store: Store) -> None:
    fill(store)
    for hour in range(1, 5):
        store.ledger().put_catalogue_part("types", (replace(FACTS, vcpus=hour),), NOW + timedelta(hours=hour))
    assert len(chunk_keys(store)) == 2
    assert store.ledger().catalogue().facts[0].vcpus == 4


def test_a_warm_container_reads_a_generation_once(store: Store) -> None:
    fill(store)
    ledger = store.ledger()
    first = ledger.catalogue()
    reads: list[str] = []
    store.on_call("BatchGetItem", lambda: reads.append("read"))
    assert ledger.catalogue() == first
    assert len(reads) == 1, "the heads, no chunks"
    store.ledger().put_catalogue_part("types", (), NOW + timedelta(hours=1))
    assert ledger.catalogue().facts == ()


def test_a_cold_container_reads_all_parts_at_once(store: Store) -> None:
    fill(store)
    store.ledger().put_catalogue_part("images", {"al2023": "ami-1"}, NOW)
    reads: list[str] = []
    store.on_call("BatchGetItem", lambda: reads.append("read"))
    assert store.ledger().catalogue().images == {"al2023": "ami-1"}
    assert len(reads) == 2, "heads, and all chunks"


def test_a_part_whose_chunks_were_cleared_away_meanwhile_is_read_again_later(store: Store) -> None:
    fill(store)
    (key,) = chunk_keys(store)
    pk, sk = key.split(" / ")
    store.client.delete_item(TableName=TABLE, Key={"pk": {"S": pk}, "sk": {"S": sk}})
    with pytest.raises(UnavailableError, match="part types was replaced while it was read"):
        store.ledger().catalogue()


def test_content_that_another_release_wrote_is_as_good_as_none(store: Store) -> None:
    fill(store)
    (key,) = chunk_keys(store)
    chunk = store.item(*key.split(" / "))
    store.put({**chunk, "data": {"B": b"not zlib"}})
    with pytest.raises(NotFoundError, match=r"CATALOGUE#types.*run the refresh function"):
        store.ledger().catalogue()


def test_prices_are_exact(store: Store) -> None:
    fill(store)
    price = Price("m5.large", "spot", "us-east-1a", 2**62 + 1)
    store.ledger().put_catalogue_part("spot", (price,), NOW)
    assert store.ledger().catalogue().prices == (price,)
