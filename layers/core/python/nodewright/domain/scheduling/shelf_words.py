"""What is said of a market's rows: the cheapest, their types by name, and which labels fail."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from nodewright.domain.money import show_usd
from nodewright.domain.requirements import Requirements
from nodewright.domain.scheduling.arrays import Bools
from nodewright.domain.scheduling.offerings import Market


def best(market: Market) -> Callable[[Bools], str]:
    """The cheapest of what is left."""

    def tell(rows: Bools) -> str:
        shelf = market.shelf
        prices = shelf.prices[rows]
        cheapest = np.flatnonzero(rows)[prices == prices.min()]
        kind, how = shelf.type_of[cheapest[0]], shelf.offerings[cheapest[0]].capacity_type
        alike = [
            shelf.offerings[i] for i in cheapest if shelf.type_of[i] == kind and shelf.offerings[i].capacity_type == how
        ]
        zones = ", ".join(sorted({each.zone for each in alike}))
        return f"{shelf.types[kind].name}, {how}, {show_usd(alike[0].price)} USD/h in {zones}"

    return tell


def culprits(market: Market, alternatives: Sequence[Requirements], rows: Bools) -> str:
    """Each requirement with the number of types that it rules out alone."""
    told = []
    for alternative in alternatives:
        each = [
            (str(r), _types(market, rows) - _types(market, rows & market.columns.admits(r)))
            for r in alternative.values()
        ]
        told.append(", ".join(f"{text} ({count})" for text, count in each if count) or "together they exclude all")
    return " or ".join(told)


def nearest_by_labels(market: Market, alternatives: Sequence[Requirements], rows: Bools) -> str:
    """What the type fails that fails least, and which values there are instead."""
    best_misses: list[str] | None = None
    kind = ""
    for alternative in alternatives:
        failed = np.array([~market.columns.admits(each) for each in alternative.values()], dtype=np.int64).reshape(
            len(alternative), len(rows)
        )
        found = np.flatnonzero(rows)
        row = int(found[np.argmin(failed.sum(axis=0)[found])])
        misses = [
            f"{requirement} ({_values(market, requirement.key, rows)})"
            for requirement, fails in zip(alternative.values(), failed[:, row], strict=True)
            if fails
        ]
        if best_misses is None or len(misses) < len(best_misses):
            best_misses, kind = misses, kind_name(market, row)
    if best_misses is None:
        return "no term of its node affinity can match a node"
    return f"{kind} fails only " + ", ".join(best_misses)


def named(market: Market, rows: Bools) -> str:
    """Types of these rows, a few by name."""
    names = [market.shelf.types[kind].name for kind in np.unique(market.shelf.type_of[rows])]
    more = len(names) - _MOST_TYPES
    return ", ".join(names[:_MOST_TYPES]) + (f" and {more} more" if more > 0 else "")


def _values(market: Market, key: str, rows: Bools) -> str:
    column = market.columns.column(key)
    present = sorted({value for code in np.unique(column.codes[rows]) if (value := column.values[code]) is not None})
    if not present:
        return "no type of the pool has the label"
    more = len(present) - _MOST_VALUES
    return "the pool has " + ", ".join(present[:_MOST_VALUES]) + (f" and {more} more" if more > 0 else "")


def _types(market: Market, rows: Bools) -> int:
    return len(np.unique(market.shelf.type_of[rows]))


def kind_name(market: Market, row: int) -> str:
    """The type of a row."""
    return market.shelf.types[int(market.shelf.type_of[row])].name


_MOST_VALUES: Final = 6
_MOST_TYPES: Final = 3
