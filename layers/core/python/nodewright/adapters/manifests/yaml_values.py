"""One YAML document as plain JSON values, read as Kubernetes means it.

libyaml parses; what a plain scalar stands for is decided here, because PyYAML's own rules are YAML 1.1's:
`on` a boolean, `2026-01-01` a date, `22:22` the number 1342. In a Kubernetes manifest these are texts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, cast

import yaml
from yaml.cyaml import CSafeLoader

from nodewright.domain.collecting import without_collecting

#: Aliases may repeat what they name: a few lines can stand for more than any machine holds.
MOST_VALUES: Final = 5_000_000
DEEPEST: Final = 100


class YamlError(Exception):
    """What is wrong, and on which line of the document, counted from 0."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


@dataclass(frozen=True, slots=True)
class Note:
    """Something to tell of a document that can be read."""

    line: int
    path: str
    message: str


def read_yaml(text: str) -> tuple[object, tuple[Note, ...]]:
    """The value of one document; None where it is empty. YamlError when it can't be read."""
    with without_collecting():
        node = _composed(text)
        reader = _Reader()
        return (None if node is None else reader.value(node, (), 0)), tuple(reader.notes)


def split_documents(text: str) -> Iterator[tuple[int, str]]:
    """(line it begins on, counted from 0; text) of each document: one that is broken keeps none from being read."""
    begin = line = 0
    for match in _SEPARATOR.finditer(text):
        yield line, text[begin : match.start()]
        line += text.count("\n", begin, match.start())
        begin = match.start() + 3
    yield line, text[begin:]


def _composed(text: str) -> yaml.Node | None:
    try:
        return _Loader(text).get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(mark.line if mark else 0, _in_words(error)) from None
    except yaml.YAMLError as error:
        raise YamlError(0, f"it is not YAML: {str(error).splitlines()[0]}") from None


class _Loader(CSafeLoader):
    """Composes nodes and leaves the meaning of plain scalars open."""

    def resolve(self, kind: type[yaml.Node], value: object, implicit: object) -> str:  # noqa: ARG002
        """A tag that says whether a scalar was written plain."""
        if kind is yaml.ScalarNode:
            return _PLAIN if isinstance(implicit, tuple) and implicit[0] else _TEXT
        return _MAP if kind is yaml.MappingNode else _LIST


_PLAIN: Final = "plain"
_TEXT: Final = "tag:yaml.org,2002:str"
_MAP: Final = "tag:yaml.org,2002:map"
_LIST: Final = "tag:yaml.org,2002:seq"
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS: Final = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_OCTAL: Final = re.compile(r"0o?(?P<digits>[0-7]+)")
_HEX: Final = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT: Final = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?")
#: Maps in which Kubernetes takes texts only, however they look.
_TEXT_MAPS: Final = frozenset({"labels", "annotations", "matchLabels", "nodeSelector", "tags"})
_LONGEST_NUMBER: Final = 40
#: At the start of a line, where YAML takes it for a marker even inside a block of text.
_SEPARATOR: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)


class _Reader:
    """Turns nodes into values."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self._values = 0

    def value(self, node: yaml.Node, path: tuple[str, ...], depth: int) -> object:
        """Of any node."""
        self._values += 1
        if depth > DEEPEST or self._values > MOST_VALUES:
            raise YamlError(node.start_mark.line, "it is nested too deeply, or its aliases repeat too much")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(each, path, depth + 1) for each in node.value]
        return self._mapping(cast(yaml.MappingNode, node), path, depth)

    def _mapping(self, node: yaml.MappingNode, path: tuple[str, ...], depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        merged: dict[str, object] = {}
        texts = bool(path) and path[-1] in _TEXT_MAPS
        for key_node, value_node in node.value:
            key = self._key(key_node)
            if key == "<<" and key_node.tag == _PLAIN:
                merged |= self._merged(value_node, path, depth)
                continue
            if key in found:
                fix = "remove one of them" if path else "remove one of them, or write --- between two objects"
                raise YamlError(key_node.start_mark.line, f"the key {key!r} is there twice; {fix}")
            value = self.value(value_node, (*path, key), depth + 1)
            found[key] = self._text(value, value_node, (*path, key)) if texts else value
        return {**merged, **found}

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            template = " (a template has to be rendered first, e.g. by `helm template`)"
            raise YamlError(node.start_mark.line, f"a key must be a text{template}")
        return str(node.value)

    def _merged(self, node: yaml.Node, path: tuple[str, ...], depth: int) -> dict[str, object]:
        """`<<: *base`, or a list of such, the first of which wins."""
        every = list(node.value) if isinstance(node, yaml.SequenceNode) else [node]
        found: dict[str, object] = {}
        for each in reversed(every):
            value = self.value(each, path, depth + 1)
            if not isinstance(value, dict):
                raise YamlError(node.start_mark.line, "<< must name a map to merge")
            found |= value
        return found

    def _text(self, value: object, node: yaml.Node, path: tuple[str, ...]) -> object:
        """As it was written, where YAML makes a number or a boolean of what must be a text."""
        if not isinstance(node, yaml.ScalarNode) or isinstance(value, str) or value is None:
            return value
        kind = "a boolean" if isinstance(value, bool) else "a number"
        message = f"{node.value} is {kind} to YAML, which the API server refuses here; put it in quotes"
        self.notes.append(Note(node.start_mark.line, ".".join(path), message))
        return str(node.value)


def _scalar(node: yaml.ScalarNode) -> object:
    text = str(node.value)
    if node.tag == _PLAIN:
        return _plain(text)
    kind = str(node.tag).rpartition(":")[2]
    return _plain(text) if kind in {"int", "float", "bool", "null"} else text


def _plain(text: str) -> object:
    """Numbers, true, false and nothing; anything else is a text."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if text[0] not in "+-.0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    return _number(text)


def _number(text: str) -> object:
    if _INTEGER.fullmatch(text):
        return int(text)
    if match := _OCTAL.fullmatch(text):
        return int(match["digits"], 8)
    if _HEX.fullmatch(text):
        return int(text, 16)
    return _finite(text) if _FLOAT.fullmatch(text) else text


def _finite(text: str) -> object:
    """A number JSON can hold, else the text, so that whoever reads it says what is wrong with it."""
    number = float(text)
    return number if abs(number) < float("inf") else text


def _in_words(error: yaml.MarkedYAMLError) -> str:
    parts = [str(part) for part in (error.context, error.problem) if part]
    return "it is not YAML: " + ", ".join(dict.fromkeys(parts))
