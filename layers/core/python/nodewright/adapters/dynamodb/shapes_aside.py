"""Shapes nodes were bought for in vain."""

from dataclasses import replace

from nodewright.adapters.dynamodb import keys
from nodewright.adapters.dynamodb.items import Item, body, expiry, number, read_body, read_number
from nodewright.adapters.dynamodb.section import Section
from nodewright.domain.set_aside import KEPT, ShapeAside

#: Gone by time to live meanwhile is no conflict: nobody else has counted.
_UNCHANGED = "attribute_not_exists(pk) OR version = :version"


class ShapesAside(Section):
    """`ASIDE#shape` of a cluster, removed by time to live a day after it changed last."""

    def shapes_aside(self, cluster: str) -> tuple[ShapeAside, ...]:
        """Sorted by key. One that can't be read doesn't stop the others."""
        return tuple(self._readable(self._table.query(keys.of_cluster(cluster), keys.ASIDE), _read))

    def save_shape_aside(self, cluster: str, shape: ShapeAside) -> ShapeAside:
        """Add or replace it; ConflictError when it changed meanwhile."""
        saved = replace(shape, version=shape.version + 1)
        self._table.replace(_item(cluster, saved), _UNCHANGED, {":version": number(shape.version)})
        return saved


def _item(cluster: str, shape: ShapeAside) -> Item:
    return {
        **keys.aside(cluster, shape.shape),
        "version": number(shape.version),
        "body": body(shape),
        "expires": expiry(shape.changed + KEPT),
    }


def _read(item: Item) -> ShapeAside:
    return replace(read_body(item, ShapeAside, {}), version=read_number(item, "version"))
