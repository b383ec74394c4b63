"""Kubernetes quantities as exact numbers, and vectors of them.

CPU is counted in millicores, memory and storage in bytes, everything else in whole units; all are
integers, so sums of any length are exact. Rounding happens once, upwards, where a text is read.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from operator import add, sub
from typing import Final, Self

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"

LARGEST: Final = 2**50
"""1 PiB, and more than any node has of anything: sums of many must stay within 64 bits."""


def possible(name: str, amount: int) -> int:
    """The amount of a resource. ValueError where no node can have or give so much of it."""
    if amount < 0:
        raise ValueError(f"{name}: it is negative; ask for 0 or more")
    if amount > LARGEST:
        raise ValueError(f"{name}: no node has so much; correct the amount or its unit")
    return amount


def unknown_resource(name: str, *others: str) -> str | None:
    """What is wrong with a resource's name: extended ones have a domain, Kubernetes' own a few names."""
    known = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS, *others)
    if name in known or "/" in name or name.startswith(_FAMILIES):
        return None
    near = _NAMED_ELSEWHERE.get(name.lower()) or next(iter(difflib.get_close_matches(name.lower(), known, 1)), "")
    return f"there is no resource {name}; " + (f"did you mean {near}?" if near else f"there are {', '.join(known)}")


def parse_quantity(value: str | float) -> Fraction:
    """The exact number a Kubernetes quantity stands for, whatever its notation.

    Plain, decimal (`5k`), binary (`4Gi`) and exponent (`129e6`) forms; YAML may have made it an int
    or a float, whose shortest decimal form is meant: `0.1` is a tenth. ValueError otherwise.
    """
    text = value if isinstance(value, str) else repr(value)
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity; write it like 500m, 1.5, 4Gi, 20G or 1e3")
    return Fraction(match["number"]) * _scale(text, match["suffix"], match["exponent"])


def millicores(value: str | float) -> int:
    """CPU in thousandths of a core, rounded up as kubelet and scheduler do (`100u` is 1)."""
    return math.ceil(parse_quantity(value) * 1000)


def whole(value: str | float) -> int:
    """Bytes or a count, rounded up like `Quantity.Value()`."""
    return math.ceil(parse_quantity(value))


def format_cpu(amount: int) -> str:
    """`2` for whole cores, `1500m` otherwise."""
    cores, rest = divmod(amount, 1000)
    return f"{amount}m" if rest else str(cores)


def format_bytes(amount: int) -> str:
    """In the largest binary unit that divides it: `4Gi`, `128Mi`, `1000`."""
    for unit, size in _BINARY_DESCENDING:
        if amount and amount % size == 0:
            return f"{amount // size}{unit}"
    return str(amount)


def format_amount(resource: str, amount: int) -> str:
    """An amount of a resource, in that resource's own unit."""
    if resource == CPU:
        return format_cpu(amount)
    return format_bytes(amount) if _is_bytes(resource) else str(amount)


class Resources(Mapping[str, int]):
    """Amounts by resource name; immutable, iterated by name.

    What it doesn't name it has none of, so zeros are not kept (limits, where an explicit zero means
    "nothing more", have a type of their own: `domain/limits.py`).
    """

    __slots__ = ("_amounts", "_hash")

    def __init__(self, amounts: Mapping[str, int] | Iterable[tuple[str, int]] = ()) -> None:
        self._amounts = {name: amount for name, amount in sorted(dict(amounts).items()) if self._keeps(amount)}
        self._hash: int | None = None

    @classmethod
    def parse(cls, raw: Mapping[str, object]) -> Self:
        """Read quantities as a manifest has them. ValueError names the resource."""
        return cls({name: _parse_amount(name, value, cls._rounded) for name, value in raw.items()})

    def __getitem__(self, name: str) -> int:
        return self._amounts[name]

    def get(self, name: str, default: int = 0) -> int:  # type: ignore[override]
        """The amount; none where it isn't named, rather than None."""
        return self._amounts.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._amounts)

    def __len__(self) -> int:
        return len(self._amounts)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Resources):
            return self._amounts == other._amounts
        return super().__eq__(other)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(tuple(self._amounts.items()))
        return self._hash

    def __add__(self, other: "Resources") -> "Resources":
        return self._combine(other, add) if other else self

    def __sub__(self, other: "Resources") -> "Resources":
        """What is left; negative where `other` is larger."""
        return self._combine(other, sub) if other else self

    def maximum(self, other: "Resources") -> "Resources":
        """The larger amount of each resource."""
        return self._combine(other, max)

    def times(self, n: int) -> "Resources":
        """`n` of them."""
        return _in_order({name: amount * n for name, amount in self._amounts.items() if amount * n})

    def fits(self, room: "Resources") -> bool:
        """Whether `room` has at least this much of everything named here."""
        return all(amount <= room.get(name) for name, amount in self._amounts.items())

    def short(self, room: "Resources") -> "Resources":
        """What is missing in `room`; empty exactly when this fits."""
        return Resources({name: max(0, amount - room.get(name)) for name, amount in self._amounts.items()})

    def floor_zero(self) -> "Resources":
        """Without what is negative."""
        return Resources({name: max(0, amount) for name, amount in self._amounts.items()})

    def __str__(self) -> str:
        shown = (f"{name} {format_amount(name, self._amounts[name])}" for name in sorted(self, key=_show_order))
        return ", ".join(shown) or "nothing"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._amounts!r})"

    def _combine(self, other: "Resources", operation: Callable[[int, int], int]) -> "Resources":
        mine, theirs = self._amounts, other._amounts  # noqa: SLF001
        # Most have the same names, which are in order then.
        names = mine if mine.keys() == theirs.keys() else sorted({**mine, **theirs})
        amounts = {name: operation(mine.get(name, 0), theirs.get(name, 0)) for name in names}
        return _in_order({name: amount for name, amount in amounts.items() if amount})

    @staticmethod
    def _keeps(amount: int) -> bool:
        return amount != 0

    @staticmethod
    def _rounded(amount: Fraction) -> int:
        return math.ceil(amount)


def _in_order(amounts: dict[str, int]) -> Resources:
    """Of amounts sorted by name, none of them zero."""
    made = Resources.__new__(Resources)
    made._amounts, made._hash = amounts, None  # noqa: SLF001
    return made


_DECIMAL: Final = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 10**3),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
}
_BINARY: Final = {unit: 1024**power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)}
_BINARY_DESCENDING: Final = tuple(reversed(_BINARY.items()))
_SUFFIXES: Final = _DECIMAL | {unit: Fraction(size) for unit, size in _BINARY.items()}
# An exponent wins over the suffix E: 1E3 is a thousand, 1E an exa.
_QUANTITY: Final = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))"
    r"(?:[eE](?P<exponent>[+-]?[0-9]+)|(?P<suffix>[KMGTPE]i|[numkMGTPE]?))"
)
_LARGEST_EXPONENT: Final = 60
_FAMILIES: Final = ("hugepages-", "attachable-volumes-")
_NAMED_ELSEWHERE: Final = {"ram": MEMORY, "mem": MEMORY, "cores": CPU, "vcpu": CPU, "storage": EPHEMERAL_STORAGE}
_SHOWN_FIRST: Final = (CPU, MEMORY, EPHEMERAL_STORAGE)


def _scale(text: str, suffix: str | None, exponent: str | None) -> Fraction:
    if exponent is None:
        return _SUFFIXES[suffix or ""]
    # Kubernetes holds int64 with nine decimals; far beyond it a text would only cost memory.
    if len(exponent) > 4 or abs(int(exponent)) > _LARGEST_EXPONENT:
        raise ValueError(f"{text!r} is out of range; its exponent must lie within ±{_LARGEST_EXPONENT}")
    return Fraction(10) ** int(exponent)


def _parse_amount(name: str, value: object, rounded: Callable[[Fraction], int]) -> int:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{name}: {value!r} is not a quantity; write a number or a text such as 500m or 4Gi")  # noqa: TRY004
    try:
        return rounded(parse_quantity(value) * (1000 if name == CPU else 1))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _is_bytes(resource: str) -> bool:
    return resource in {MEMORY, EPHEMERAL_STORAGE} or resource.startswith("hugepages-")


def _show_order(name: str) -> tuple[int, str]:
    return (_SHOWN_FIRST.index(name) if name in _SHOWN_FIRST else len(_SHOWN_FIRST), name)
