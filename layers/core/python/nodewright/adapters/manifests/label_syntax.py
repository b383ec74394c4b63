"""What Kubernetes takes as the key and the value of a label.

https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
"""

import re
from collections.abc import Iterable
from typing import Final

_LONGEST_NAME: Final = 63
_LONGEST_PREFIX: Final = 253
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PREFIX: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?")
_SHOWN: Final = 40


def key_problem(key: str) -> str | None:
    """Why no label can have this key; None when one can."""
    prefix, slash, name = key.rpartition("/")
    if len(name) > _LONGEST_NAME or len(prefix) > _LONGEST_PREFIX:
        return f"the key {shown(key)} is too long; at most {_LONGEST_PREFIX} characters, a slash and {_LONGEST_NAME}"
    if not _NAME.fullmatch(name) or (slash and not _PREFIX.fullmatch(prefix)):
        return f"{shown(key)} is not a label key; write it like app or example.com/app"
    return None


def value_problem(value: str) -> str | None:
    """Why no label can have this value; None when one can."""
    if len(value) > _LONGEST_NAME:
        return f"the value {shown(value)} has {len(value)} characters; at most {_LONGEST_NAME} are possible"
    if value and not _NAME.fullmatch(value):
        return f"{shown(value)} is not a label value; use letters, digits, '-', '_' and '.'"
    return None


def check(key: str, values: Iterable[str] = ()) -> None:
    """ValueError when no label can have this key, or one of the values."""
    problem = key_problem(key)
    if problem is not None:
        raise ValueError(problem)
    for value in values:
        problem = value_problem(value)
        if problem is not None:
            raise ValueError(f"{key}: {problem}")


def shown(text: str) -> str:
    """A text of a manifest in quotes, as much of it as a message can bear."""
    return repr(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")
