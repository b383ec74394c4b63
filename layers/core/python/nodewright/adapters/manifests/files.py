"""Kubernetes objects out of files, directories and standard input: YAML or JSON, as people keep them.

What can't be read is told by file, document and line, and keeps nothing else from being read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from nodewright.adapters.manifests.yaml_values import YamlError, read_yaml, split_documents
from nodewright.application.plan import BadInputError
from nodewright.application.ports import ManifestWarning

STANDARD_INPUT: Final = "-"
SUFFIXES: Final = frozenset({".yaml", ".yml", ".json"})
"""Read in directories; a file that is named is read whatever it is called."""


class UnreadableInputError(BadInputError):
    """A file or directory that was named and can't be read."""


@dataclass(frozen=True, slots=True)
class Documents:
    """What was found in order of reading, and what was wrong with the rest."""

    objects: tuple[Mapping[str, object], ...]
    warnings: tuple[ManifestWarning, ...] = ()


def read_sources(names: Iterable[str], standard_input: BinaryIO) -> Documents:
    """Files, directories and `-`. UnreadableInputError when one of them isn't there or can't be opened."""
    reader = _Reader()
    for name in names:
        for path in _files(name):
            reader.read(_label(path), _content(path, standard_input))
    return Documents(tuple(reader.objects), tuple(reader.warnings))


def _files(name: str) -> list[str]:
    path = Path(name)
    if name == STANDARD_INPUT or not path.is_dir():
        return [name]
    found = [str(each) for each in path.rglob("*") if each.suffix.lower() in SUFFIXES and _is_kept(each, path)]
    if not found:
        raise UnreadableInputError(f"{name} holds no file that ends in {', '.join(sorted(SUFFIXES))}")
    return sorted(found)


def _is_kept(path: Path, root: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
    return not hidden and path.is_file()


def _label(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else name


def _content(name: str, standard_input: BinaryIO) -> bytes:
    try:
        return standard_input.read() if name == STANDARD_INPUT else Path(name).read_bytes()
    except OSError as error:
        raise UnreadableInputError(f"{name}: {error.strerror or error}") from None


@dataclass(slots=True)
class _Reader:
    """Takes files one by one."""

    objects: list[Mapping[str, object]] = field(default_factory=list)
    warnings: list[ManifestWarning] = field(default_factory=list)

    def read(self, name: str, content: bytes) -> None:
        """One file."""
        text = _text(content)
        if text is None:
            self._warn(name, "", "it is not text in UTF-8, so it is left out; save it as UTF-8")
        elif not text.strip():
            self._warn(name, "", "it is empty")
        elif text.lstrip()[0] in "{[" and not _TEMPLATE.search(text):
            self._json(name, content, text)
        else:
            self._yaml(name, text)

    def _json(self, name: str, content: bytes, text: str) -> None:
        try:
            self._keep(name, msgspec.json.decode(content.removeprefix(_BOM)))
        except RecursionError:
            self._warn(name, "", "it is nested too deeply to be a Kubernetes object, so it is left out")
        except msgspec.DecodeError as error:
            # Flow style is YAML, too: `{apiVersion: v1, kind: Pod}`.
            if _QUOTED_KEY.match(text.lstrip()):
                self._warn(name, _json_line(str(error), text), f"it is not JSON: {error}")
            else:
                self._yaml(name, text)

    def _yaml(self, name: str, text: str) -> None:
        parts = [(line, part) for line, part in split_documents(text) if not _is_blank(part)]
        if not parts:
            self._warn(name, "", "it holds nothing but comments")
        for number, (line, part) in enumerate(parts, start=1):
            self._document(f"{name} document {number}" if len(parts) > 1 else name, line, part)

    def _document(self, label: str, line: int, part: str) -> None:
        try:
            value, notes = read_yaml(part)
        except YamlError as error:
            self._warn(label, f"line {line + error.line + 1}", _explained(error, part))
            return
        for note in notes:
            self._warn(label, f"line {line + note.line + 1}: {note.path}", note.message)
        if value is not None:
            self._keep(label, value, f"line {line + _first_line(part) + 1}")

    def _keep(self, label: str, value: object, where: str = "") -> None:
        """An object, or the objects of a JSON array."""
        entries = value if isinstance(value, list) else [value]
        for entry in entries:
            if isinstance(entry, dict) and isinstance(entry.get("kind"), str):
                self.objects.append(entry)
            else:
                self._warn(label, where, "it is no Kubernetes object: it has no kind; left out")

    def _warn(self, label: str, path: str, message: str) -> None:
        self.warnings.append(ManifestWarning(label, path, message))


_BOM: Final = b"\xef\xbb\xbf"
_TEMPLATE: Final = re.compile(r"\{\{")
_QUOTED_KEY: Final = re.compile(r'(\[\s*)?\{\s*"|\[')
_BYTE: Final = re.compile(r"byte (\d+)")


def _text(content: bytes) -> str | None:
    """None where it is no text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _is_blank(part: str) -> bool:
    """Nothing but comments and directives."""
    return all(not line.strip() or line.lstrip().startswith(("#", "%")) for line in part.splitlines())


def _first_line(part: str) -> int:
    """Of its content."""
    return part[: len(part) - len(part.lstrip())].count("\n")


def _json_line(message: str, text: str) -> str:
    found = _BYTE.search(message)
    if found is None:
        return ""
    line = text.encode()[: int(found[1])].count(b"\n") + 1
    return f"line {line}"


def _explained(error: YamlError, part: str) -> str:
    lines = part.splitlines()
    at_fault = lines[error.line] if error.line < len(lines) else ""
    if _TEMPLATE.search(part):
        return f"it is a template ({error.message}); render it first, e.g. by `helm template`, and plan the result"
    if at_fault[: len(at_fault) - len(at_fault.lstrip())].count("\t"):
        return "a tab indents this line, which YAML doesn't allow; use spaces"
    return error.message


def unfolded(objects: Iterable[Mapping[str, object]]) -> Iterator[Mapping[str, object]]:
    """Objects one by one, whatever lists they come in: `kind: List`, `PodList` and the like."""
    for each in objects:
        kind, items = str(each.get("kind", "")), each.get("items")
        if not kind.endswith("List") or not isinstance(items, list):
            yield each
            continue
        yield from unfolded(_named(item, each) for item in items if isinstance(item, Mapping))


def _named(item: Mapping[str, object], listed: Mapping[str, object]) -> Mapping[str, object]:
    """An item with kind and apiVersion: those of a typed list leave them to their list."""
    kind = str(listed["kind"]).removesuffix("List")
    if item.get("kind") or not kind:
        return item
    return {"apiVersion": listed.get("apiVersion", ""), **item, "kind": kind}
