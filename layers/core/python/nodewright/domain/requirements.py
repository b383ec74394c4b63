"""Label requirements as sets: which values a label may have, and whether it may be absent.

Intersection is exact (karpenter-behaviour §6.5 with absence told apart from emptiness), so it may
be done in any order and any number of times.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Self, get_args

from nodewright.domain.labels import normalise_key

Operator = Literal["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """What one label may be. Made by `of`; two ways to write the same set are equal.

    `complement`: everything but `values`, else exactly `values`. `gte`/`lte` bound a complement to
    integers; a concrete set has them applied. `min_values` is a wish about the types that remain,
    not part of the set: intersection keeps the larger.
    """

    key: str
    complement: bool
    values: frozenset[str]
    allows_absent: bool
    """A node without the label will do (NotIn, DoesNotExist)."""
    gte: int | None = None
    lte: int | None = None
    min_values: int | None = None

    @classmethod
    def of(
        cls, key: str, operator: Operator, values: Iterable[str] = (), min_values: int | None = None
    ) -> "Requirement":
        """Read one requirement entry; aliases of the key are resolved.

        ValueError names key, operator and values.
        """
        given = tuple(values)
        _check(key, operator, given, min_values)
        name = normalise_key(key)
        if operator in _COMPARISONS:
            return _comparison(name, operator, int(given[0]), min_values)
        return cls(
            name,
            complement=operator in {"NotIn", "Exists"},
            values=frozenset(given),
            allows_absent=operator in {"NotIn", "DoesNotExist"},
            min_values=min_values,
        )

    @classmethod
    def nothing(cls, key: str) -> "Requirement":
        """The empty set: what an unreadable requirement admits (cases.md 13)."""
        return cls(normalise_key(key), complement=False, values=frozenset(), allows_absent=False)

    @property
    def is_empty(self) -> bool:
        """Nothing can satisfy it, not even absence."""
        return not (self.complement or self.values or self.allows_absent)

    @property
    def operator(self) -> Operator:
        """For showing; the first of `terms`."""
        return self.terms[0][0]

    @property
    def terms(self) -> tuple[tuple[Operator, tuple[str, ...]], ...]:
        """The set as manifest entries, which intersect to it."""
        listed = tuple(sorted(self.values))
        if not self.complement:
            return self._concrete_terms(listed)
        if self.allows_absent:
            return (("NotIn", listed),)
        bounds: tuple[tuple[Operator, int | None], ...] = (("Gte", self.gte), ("Lte", self.lte))
        present = tuple((operator, (str(bound),)) for operator, bound in bounds if bound is not None)
        excluded: tuple[tuple[Operator, tuple[str, ...]], ...] = (("NotIn", listed),) if listed else ()
        return (present or (("Exists", ()),)) + excluded

    def allows(self, value: str) -> bool:
        """Whether the label may have this value. Under bounds only integers may."""
        return (value in self.values) != self.complement and _within(value, self.gte, self.lte)

    def intersect(self, other: "Requirement") -> "Requirement":
        """What both allow."""
        gte, lte = _tighter(max, self.gte, other.gte), _tighter(min, self.lte, other.lte)
        return _canonical(
            Requirement(
                self.key,
                complement=self.complement and other.complement,
                values=_common_values(self, other),
                allows_absent=self.allows_absent and other.allows_absent,
                gte=gte,
                lte=lte,
                min_values=_tighter(max, self.min_values, other.min_values),
            )
        )

    def some_value(self) -> str | None:
        """A value it allows, always the same one; None when it allows none."""
        if not self.complement:
            return min(self.values, default=None)
        return next((text for text in map(str, self._integers()) if text not in self.values), None)

    def __str__(self) -> str:
        if self.is_empty:
            return f"{self.key}: no value is possible"
        return ", ".join([f"{self.key} {_show(*self.terms[0])}", *(_show(*term) for term in self.terms[1:])])

    def _concrete_terms(self, listed: tuple[str, ...]) -> tuple[tuple[Operator, tuple[str, ...]], ...]:
        if listed:
            return (("In", listed),)
        return (("DoesNotExist", ()),) if self.allows_absent else (("Exists", ()), ("DoesNotExist", ()))

    def _integers(self) -> Iterable[int]:
        """Candidates for `some_value`, upwards from the lower bound, else down from the upper."""
        if self.gte is None and self.lte is not None and self.lte < 0:
            return itertools.count(self.lte, -1)
        lowest = 0 if self.gte is None else self.gte
        return itertools.count(lowest) if self.lte is None else range(lowest, self.lte + 1)


class Requirements(Mapping[str, Requirement]):
    """Requirements on several labels; immutable, iterated by key. A key it lacks may be anything."""

    __slots__ = ("_by_key", "_hash")

    def __init__(self, requirements: Iterable[Requirement] = ()) -> None:
        by_key: dict[str, Requirement] = {}
        for requirement in requirements:
            known = by_key.get(requirement.key)
            by_key[requirement.key] = requirement if known is None else known.intersect(requirement)
        self._by_key = dict(sorted(by_key.items()))
        self._hash: int | None = None

    @classmethod
    def from_labels(cls, labels: Mapping[str, str]) -> Self:
        """Exactly these labels' values. Where a label and its alias differ the label counts."""
        names = {normalise_key(key): value for key, value in labels.items()}
        names |= {key: value for key, value in labels.items() if key in names}
        return cls(Requirement.of(key, "In", (value,)) for key, value in names.items())

    def __getitem__(self, key: str) -> Requirement:
        return self._by_key[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._by_key)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Requirements):
            return self._by_key == other._by_key
        return super().__eq__(other)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(tuple(self._by_key.values()))
        return self._hash

    def intersect(self, other: "Requirements") -> "Requirements":
        """What both ask."""
        return Requirements((*self.values(), *other.values()))

    def admits(self, labels: Mapping[str, str]) -> bool:
        """kube-scheduler's rule for a node whose labels are known."""
        return all(
            requirement.allows(labels[key]) if key in labels else requirement.allows_absent
            for key, requirement in self._by_key.items()
        )

    def __str__(self) -> str:
        return "; ".join(map(str, self._by_key.values())) or "anything"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self._by_key.values())!r})"


_COMPARISONS: Final = frozenset({"Gt", "Lt", "Gte", "Lte"})
_MIN_INT64: Final = -(2**63)
_MAX_INT64: Final = 2**63 - 1
# What Go's ParseInt takes; Python's int would also take blanks, underscores and other digits.
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_LARGEST_MIN_VALUES: Final = 50


def _check(key: str, operator: str, values: Sequence[str], min_values: int | None) -> None:
    problem = _values_problem(operator, values) or _min_values_problem(operator, values, min_values)
    if problem is not None:
        raise ValueError(f"requirement {key} {operator} [{', '.join(values)}]: {problem}")


def _values_problem(operator: str, values: Sequence[str]) -> str | None:
    if operator not in get_args(Operator):
        return f"the operator is not known; use one of {', '.join(get_args(Operator))}"
    if operator in _COMPARISONS and (len(values) != 1 or _integer(values[0]) is None):
        return f"{operator} needs exactly one value, a whole number"
    if operator in {"Exists", "DoesNotExist"} and values:
        return f"{operator} takes no values; remove them or use In or NotIn"
    if operator == "In" and not values:
        return "In needs at least one value"
    return None


def _min_values_problem(operator: str, values: Sequence[str], min_values: int | None) -> str | None:
    if min_values is None:
        return None
    if not 1 <= min_values <= _LARGEST_MIN_VALUES:
        return f"minValues is {min_values}; it must lie between 1 and {_LARGEST_MIN_VALUES}"
    if operator == "In" and len(set(values)) < min_values:
        return f"minValues is {min_values}, more than it has values; add values or lower it"
    return None


def _comparison(key: str, operator: Operator, number: int, min_values: int | None) -> Requirement:
    # Karpenter's rule (karpenter-behaviour §1.3): nothing is larger, so the label is not to be there.
    if operator == "Gt" and number == _MAX_INT64:
        return Requirement.of(key, "DoesNotExist", (), min_values)
    return _canonical(
        Requirement(
            key,
            complement=True,
            values=frozenset(),
            allows_absent=False,
            gte={"Gt": number + 1, "Gte": number}.get(operator),
            lte={"Lt": number - 1, "Lte": number}.get(operator),
            min_values=min_values,
        )
    )


def _canonical(requirement: Requirement) -> Requirement:
    """The one way to write a set: bounds only on a complement, which excludes nothing they exclude."""
    gte, lte = requirement.gte, requirement.lte
    if gte is None and lte is None:
        return requirement
    complement = requirement.complement and _has_integers(gte, lte)
    return Requirement(
        requirement.key,
        complement=complement,
        values=frozenset(value for value in requirement.values if _within(value, gte, lte)),
        allows_absent=requirement.allows_absent,
        gte=gte if complement else None,
        lte=lte if complement else None,
        min_values=requirement.min_values,
    )


def _common_values(one: Requirement, other: Requirement) -> frozenset[str]:
    if one.complement and other.complement:
        return one.values | other.values
    if one.complement:
        return other.values - one.values
    return one.values - other.values if other.complement else one.values & other.values


def _tighter(pick: Callable[[int, int], int], one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return pick(one, other)


def _integer(value: str) -> int | None:
    number = int(value) if _INTEGER.fullmatch(value) else None
    return number if number is not None and _MIN_INT64 <= number <= _MAX_INT64 else None


def _has_integers(gte: int | None, lte: int | None) -> bool:
    lowest, highest = _MIN_INT64 if gte is None else gte, _MAX_INT64 if lte is None else lte
    return max(lowest, _MIN_INT64) <= min(highest, _MAX_INT64)


def _within(value: str, gte: int | None, lte: int | None) -> bool:
    if gte is None and lte is None:
        return True
    number = _integer(value)
    return number is not None and (gte is None or number >= gte) and (lte is None or number <= lte)


def _show(operator: Operator, values: tuple[str, ...]) -> str:
    if operator in {"In", "NotIn"}:
        return f"{operator} [{', '.join(values)}]"
    return " ".join((operator, *values))
