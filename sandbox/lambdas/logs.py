"""What functions print, kept as CloudWatch does: a folder per function, a file per execution environment."""

import json
import threading
from pathlib import Path

from sandbox.lambdas.outcome import Json


class LogStream:
    """One environment's file. Its process appends by itself, so lines stand in the order they were written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def write(self, line: str) -> None:
        """Append one line of Lambda's own (START, END, REPORT)."""
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


class Logs:
    """All streams of a work folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._numbers: dict[str, int] = {}

    def stream(self, function: str) -> LogStream:
        """A new stream of a function's; their names sort in the order they began."""
        with self._lock:
            number = self._numbers[function] = self._numbers.get(function, 0) + 1
        return LogStream(self._folder / function / f"{number:05}.log")

    def lines(self, function: str) -> list[str]:
        """Everything a function printed, stream after stream."""
        folder = self._folder / function
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(folder.glob("*.log"))]
        return [line for text in texts for line in text.split("\n") if line]

    def records(self, function: str) -> list[dict[str, Json]]:
        """Its structured lines, parsed; other lines are left out."""
        return [record for line in self.lines(function) if (record := _record(line)) is not None]


def _record(line: str) -> dict[str, Json] | None:
    if not line.startswith("{"):
        return None
    try:
        parsed = json.loads(line)
    except json.JSONDecodeError:
        return None
    return parsed if isinstance(parsed, dict) else None
