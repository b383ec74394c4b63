"""Labels of many nodes as columns, so that a requirement is judged once per distinct value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.scheduling.arrays import Bools, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One label of every row: `values[codes[row]]`, None where the row lacks it."""

    values: tuple[str | None, ...]
    codes: Ints

    @classmethod
    def of(cls, labels: Iterable[str | None]) -> "Column":
        """Code a sequence of values."""
        known: dict[str | None, int] = {}
        codes = [known.setdefault(value, len(known)) for value in labels]
        return cls(tuple(known), np.array(codes, dtype=np.int64))

    @classmethod
    def constant(cls, value: str | None, rows: int) -> "Column":
        """The same everywhere."""
        return cls((value,), np.zeros(rows, dtype=np.int64))

    def take(self, rows: Ints) -> "Column":
        """The column of other rows, each like one of these."""
        return Column(self.values, self.codes[rows])

    def admits(self, requirement: Requirement) -> Bools:
        """Rows whose label satisfies it (kube-scheduler's rule for known labels)."""
        verdicts = [requirement.allows_absent if v is None else requirement.allows(v) for v in self.values]
        return np.array(verdicts, dtype=np.bool_)[self.codes]


class Columns:
    """Columns made when first asked for, and verdicts on them remembered."""

    def __init__(self, rows: int, make: Callable[[str], Column]) -> None:
        self.rows = rows
        self._make = make
        self._columns: dict[str, Column] = {}
        self._verdicts: dict[Requirement, Bools] = {}

    @classmethod
    def of(cls, labels: Sequence[Mapping[str, str]]) -> "Columns":
        """Of rows whose labels are at hand."""
        return cls(len(labels), lambda key: Column.of(row.get(key) for row in labels))

    def column(self, key: str) -> Column:
        """The column of one label key."""
        if key not in self._columns:
            self._columns[key] = self._make(key)
        return self._columns[key]

    def admits(self, requirement: Requirement) -> Bools:
        """Rows that satisfy one requirement; not to be written to."""
        if requirement not in self._verdicts:
            self._verdicts[requirement] = self.column(requirement.key).admits(requirement)
        return self._verdicts[requirement]

    def admits_all(self, requirements: Requirements) -> Bools:
        """Rows that satisfy each."""
        mask = np.ones(self.rows, dtype=np.bool_)
        for requirement in requirements.values():
            mask &= self.admits(requirement)
        return mask

    def admits_any(self, alternatives: Iterable[Requirements]) -> Bools:
        """Rows that satisfy at least one alternative: node selector terms are OR."""
        mask = np.zeros(self.rows, dtype=np.bool_)
        for alternative in alternatives:
            mask |= self.admits_all(alternative)
        return mask
