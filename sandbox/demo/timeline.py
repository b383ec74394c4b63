"""What a person reads: one line an event, with the seconds since the pods were asked for."""

import threading
import time
from dataclasses import dataclass, field

from rich.console import Console
from rich.markup import escape

#: A colour for each kind of line.
COLOURS = {
    "pods": "cyan",
    "webhook": "magenta",
    "plan": "yellow",
    "fleet": "green",
    "node": "blue",
    "setup": "bright_black",
    "problem": "red",
    "aws": "bright_red",
    "retire": "magenta",
}

#: Narrower terminals wrap; a file or a CI log has no width of its own.
WIDTH = 120


def console() -> Console:
    """As wide as the terminal; wide enough where there is none."""
    measured = Console(highlight=False, soft_wrap=True)
    return measured if measured.is_terminal else Console(highlight=False, soft_wrap=True, width=WIDTH)


@dataclass(slots=True)
class Timeline:
    """Prints; several threads may tell it things."""

    console: Console = field(default_factory=console)
    _started: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def restart(self) -> None:
        """Second zero is now."""
        self._started = time.monotonic()

    def seconds(self) -> float:
        """Since second zero."""
        return time.monotonic() - self._started

    def chapter(self, text: str) -> None:
        """A heading."""
        with self._lock:
            self.console.print(f"\n[bold]{escape(text.strip())}[/]")

    def tell(self, kind: str, text: str) -> None:
        """One line."""
        with self._lock:
            colour = COLOURS.get(kind, "white")
            self.console.print(f"{self.seconds():6.1f} s  [{colour}]{kind:<8}[/] {escape(text)}")
