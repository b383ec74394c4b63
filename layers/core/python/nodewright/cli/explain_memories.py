"""What stored decisions say, for people and for programs."""

from collections.abc import Sequence

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nodewright.application.remembering import Memory


def memories_json(memories: Sequence[Memory]) -> str:
    """Newest first."""
    told = [{"time": each.time.isoformat(), "kind": each.kind, "told": each.told} for each in memories]
    return msgspec.json.format(msgspec.json.encode(told), indent=2).decode()


def show_memories(memories: Sequence[Memory], console: Console) -> None:
    """Newest first; what is told wraps beside its time."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for each in memories:
        grid.add_row(Text(f"{each.time:%Y-%m-%d %H:%M:%S}", style="dim"), each.kind, Text(each.told))
    console.print(grid)
