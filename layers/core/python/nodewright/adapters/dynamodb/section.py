"""What every part of the ledger stands on."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from nodewright.adapters.dynamodb.items import Item, UnreadableItemError
from nodewright.adapters.dynamodb.table import Table
from nodewright.application.ports import Clock

T = TypeVar("T")


class Section:
    """The table, the region whose shared items are meant, a clock for expiries, and an ear for bad items.

    An unreadable item that others can do without is told to `report` and left out; where leaving
    it out would buy twice or end a node that serves (claims, launches), it is raised.
    """

    def __init__(self, table: Table, region: str, clock: Clock, report: Callable[[str], None]) -> None:
        self._table = table
        self._region = region
        self._clock = clock
        self._report = report

    def _readable(self, items: Iterable[Item], read: Callable[[Item], T]) -> Iterator[T]:
        """Those that can be read; the others are reported."""
        for item in items:
            try:
                yield read(item)
            except UnreadableItemError as error:
                self._report(str(error))
