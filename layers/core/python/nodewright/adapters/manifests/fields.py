"""Reading a manifest field by field, so that whatever it says and we can't honour gets said.

A manifest is somebody's text: any field may be missing, of the wrong type or unknown to us. Two
answers exist: a warning (read on) and a refusal (the object is left out, because buying what we
don't understand costs money).
"""

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from nodewright.application.ports import ManifestWarning

_UNKNOWN: Final = "unknown field, ignored"
#: Nothing we say is that long in one word: it is somebody's value, and nobody wants to read it.
_LONG: Final = re.compile(r"\S{120,}")


@dataclass(slots=True)
class Report:
    """What is wrong with one object."""

    object: str
    """`NodePool/default`."""
    consequence: str
    """What a refusal leads to, said in its warning."""
    warnings: list[ManifestWarning] = field(default_factory=list)
    refused: bool = False

    def warn(self, path: str, message: str) -> None:
        """Read on without it."""
        self.warnings.append(ManifestWarning(self.object, _LONG.sub(_cut, path), _LONG.sub(_cut, message)))

    def refuse(self, path: str, message: str) -> None:
        """The object can't be used as it is."""
        self.refused = True
        self.warn(path, f"{message}; {self.consequence} until this is fixed")


class Fields:
    """One JSON object in a manifest. `finish` reports the fields that nobody asked for."""

    def __init__(self, raw: object, path: str, report: Report) -> None:
        self.path = path
        self._report = report
        self._children: list[Fields] = []
        self._asked: set[str] = set()
        self._otherwise = "remove it or correct its spelling"
        self._unread: dict[str, object] = {}
        if isinstance(raw, Mapping):
            self._unread = {str(name): value for name, value in raw.items() if value is not None}
        elif raw is not None:
            self.refuse("", f"{_shown(raw)} stands where an object with fields must be")
            # What it then lacks follows from that, and would only be told beside it.
            self._report = Report(report.object, report.consequence)

    def __contains__(self, name: str) -> bool:
        """Whether the field is there and not read yet."""
        self._asked.add(name)
        return name in self._unread

    def warn(self, name: str, message: str) -> None:
        """A warning about one of its fields, or about itself where `name` is empty."""
        self._report.warn(self._at(name), message)

    def refuse(self, name: str, message: str) -> None:
        """A refusal because of one of its fields, or of itself where `name` is empty."""
        self._report.refuse(self._at(name), message)

    def child(self, name: str) -> "Fields":
        """An object inside; without any fields where it is absent."""
        return self._keep(Fields(self._take(name), self._at(name), self._report))

    def children(self, name: str) -> "tuple[Fields, ...]":
        """A list of objects inside."""
        entries = enumerate(self._list(name))
        return tuple(self._keep(Fields(raw, f"{self._at(name)}[{i}]", self._report)) for i, raw in entries)

    def text(self, name: str, default: str = "") -> str:
        """A text; a number or boolean that YAML made of one is taken as it was written."""
        return self._scalar(name, self._take(name, default))

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(self._scalar(f"{name}[{i}]", raw) for i, raw in enumerate(self._list(name)))

    def pairs(self, name: str) -> dict[str, str]:
        """A map of texts, such as labels."""
        return {key: self._scalar(f"{name}.{key}", raw) for key, raw in self.mapping(name).items()}

    def mapping(self, name: str) -> dict[str, object]:
        """A map whose values the caller reads."""
        raw = self._take(name, {})
        if isinstance(raw, Mapping):
            return {str(key): value for key, value in raw.items()}
        self.refuse(name, f"{_shown(raw)} stands where a map must be")
        return {}

    def whole(self, name: str, lowest: int = 0, highest: int = 2**31 - 1) -> int | None:
        """A whole number within bounds; None where it is absent."""
        raw = self._take(name)
        if raw is None:
            return None
        number = _whole(raw)
        if number is None or not lowest <= number <= highest:
            self.refuse(name, f"{_shown(raw)} is not a whole number from {lowest} to {highest}")
            return None
        return number

    def flag(self, name: str) -> bool | None:
        """A boolean; None where it is absent."""
        raw = self._take(name)
        if raw is None or isinstance(raw, bool):
            return raw
        if isinstance(raw, str) and raw in {"true", "false"}:
            return raw == "true"
        self.refuse(name, f"{_shown(raw)} is neither true nor false")
        return None

    def known(self, *names: str) -> None:
        """Fields that are rightly there and say nothing to us."""
        for name in names:
            self._take(name)

    def not_honoured(self, names: Mapping[str, str]) -> None:
        """Fields we know and can't honour yet; the value of each says what happens instead."""
        for name, instead in names.items():
            if self._take(name):
                self.warn(name, f"not honoured in this version: {instead}")

    def unknown_otherwise(self, fix: str) -> None:
        """What to do about a field that nobody asks for and that is no misspelling of one that is."""
        self._otherwise = fix

    def finish(self) -> None:
        """Report what was not read, here and in every child, with the name that may have been meant."""
        for name in self._unread:
            meant = difflib.get_close_matches(name, sorted(self._asked), 1)
            self.warn(name, f"{_UNKNOWN}: " + (f"did you mean {meant[0]}?" if meant else self._otherwise))
        for child in self._children:
            child.finish()

    def _at(self, name: str) -> str:
        return ".".join(part for part in (self.path, name) if part)

    def _keep(self, child: "Fields") -> "Fields":
        self._children.append(child)
        return child

    def _take(self, name: str, default: object = None) -> object:
        self._asked.add(name)
        return self._unread.pop(name, default)

    def _list(self, name: str) -> Iterator[object]:
        raw = self._take(name, [])
        if isinstance(raw, list | tuple):
            return iter(raw)
        self.refuse(name, f"{_shown(raw)} stands where a list must be")
        return iter(())

    def _scalar(self, name: str, raw: object) -> str:
        if isinstance(raw, str):
            return raw
        if isinstance(raw, bool):
            return "true" if raw else "false"
        if isinstance(raw, int | float):
            return str(raw)
        self.refuse(name, f"{_shown(raw)} stands where a text must be")
        return ""


def report_on(raw: Mapping[str, object], kind: str, consequence: str) -> tuple[str, Report]:
    """The object's name and a report to fill; nothing can refer to one without a name, so it is refused."""
    name = metadata_fields(raw).text("name")
    report = Report(f"{kind}/{name}", consequence)
    if not name:
        report.refuse("metadata.name", "it is missing; give the object a name")
    return name, report


def metadata_fields(raw: Mapping[str, object]) -> Fields:
    """An object's metadata; the API server keeps it sound, so nothing in it is reported."""
    return Fields(raw.get("metadata"), "metadata", Report("", ""))


def _cut(found: re.Match[str]) -> str:
    return f"{found[0][:40]}… ({len(found[0])} characters)"


def _whole(raw: object) -> int | None:
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int):
        return raw
    return int(raw) if isinstance(raw, str) and raw.isascii() and raw.isdecimal() and len(raw) <= 18 else None


def _shown(raw: object) -> str:
    text = repr(raw)
    return text if len(text) <= 60 else f"{text[:57]}…"
