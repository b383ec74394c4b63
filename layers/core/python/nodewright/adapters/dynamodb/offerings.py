"""Offerings that cool down."""

from collections.abc import Sequence
from datetime import datetime

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.items import Item, expiry, moment, read_moment, read_text, text
from nodewright.adapters.dynamodb.section import Section
from nodewright.application.ports import UnavailableOffering


class Offerings(Section):
    """`OFFERING#type#zone#capacity-type` of the region, shared by its clusters, removed by time to live.

    DynamoDB deletes late (up to days), so `until` decides when reading.
    """

    def unavailable_offerings(self, now: datetime) -> tuple[UnavailableOffering, ...]:
        """Those still cooling down, sorted by key. One that can't be read doesn't stop the others."""
        items = self._table.query(keys.of_region(self._region), keys.OFFERING, consistent=False)
        return tuple(offering for offering in self._readable(items, _read) if offering.until > now)

    def mark_unavailable(self, offerings: Sequence[UnavailableOffering]) -> None:
        """Remember them until their time; of two words on one offering the longer counts."""
        latest = {_key(offering): offering for offering in sorted(offerings, key=lambda o: o.until)}
        self._table.put_many(self._item(offering) for offering in latest.values())

    def _item(self, offering: UnavailableOffering) -> Item:
        return {
            **keys.offering(self._region, *_key(offering)),
            "instance_type": text(offering.instance_type),
            "zone": text(offering.zone),
            "capacity_type": text(offering.capacity_type),
            "reason": text(offering.reason),
            "until": moment(offering.until),
            "expires": expiry(offering.until),
        }


def _key(offering: UnavailableOffering) -> tuple[str, str, str]:
    return (offering.instance_type, offering.zone, offering.capacity_type)


def _read(item: Item) -> UnavailableOffering:
    return UnavailableOffering(
        instance_type=read_text(item, "instance_type"),
        zone=read_text(item, "zone"),
        capacity_type=read_text(item, "capacity_type"),
        reason=read_text(item, "reason"),
        until=read_moment(item, "until"),
    )
