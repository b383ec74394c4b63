"""Nodes of another plan, bought again for pods that now ask for more: only what no longer fits is packed anew."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nodewright.domain.pods import PodKey
from nodewright.domain.scheduling.arrays import Floats, Ints, every
from nodewright.domain.scheduling.budget import Contents
from nodewright.domain.scheduling.packing import Pattern, pay, times_affordable
from nodewright.domain.scheduling.problems import Items, Problem
from nodewright.domain.scheduling.shapes import Waiting


@dataclass(frozen=True, slots=True, eq=False)
class Repeated:
    """Patterns over the rows of a tier."""

    patterns: tuple[Pattern, ...]
    counts: Ints
    """Pods of each item that are on them."""


def repeated(problem: Problem, things: Items, waiting: Waiting, contents: Contents, purses: Floats) -> Repeated:
    """Of these contents those whose pods all wait, each on the cheapest kind of node; `purses` pay for them."""
    counts = np.zeros(len(things.shapes), dtype=np.int64)
    patterns: list[Pattern] = []
    for content, times in _alike(contents, _items(things, waiting)).items():
        wanted = np.bincount(content, minlength=len(counts))
        row = _cheapest(problem, wanted, times, purses)
        if row is not None:
            pay(problem, purses, row, times)
            counts += times * wanted
            patterns.append(Pattern(int(problem.offering[row]), wanted, times))
    return Repeated(tuple(patterns), counts)


def _items(things: Items, waiting: Waiting) -> Mapping[PodKey, int]:
    return {pod: item for item, shapes in enumerate(things.shapes) for shape in shapes for pod in waiting.pods(shape)}


def _alike(contents: Contents, item_of: Mapping[PodKey, int]) -> Counter[tuple[int, ...]]:
    found = (tuple(sorted(item_of[pod] for pod in content if pod in item_of)) for content in contents)
    return Counter(
        items for items, content in zip(found, contents, strict=True) if items and len(items) == len(content)
    )


def _cheapest(problem: Problem, content: Ints, times: int, purses: Floats) -> int | None:
    """Rows are sorted by price, so the first that does is the one."""
    used = np.flatnonzero(content)
    holds = every(problem.room >= content[used] @ problem.demand[used]) & every(problem.allowed[:, used])
    rows: Sequence[int] = np.flatnonzero(holds).tolist()
    return next((row for row in rows if times_affordable(problem, purses, row) >= times), None)
