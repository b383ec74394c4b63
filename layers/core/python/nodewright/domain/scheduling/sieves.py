"""Rule after rule, what is left: the mechanism of explanations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nodewright.domain.scheduling.arrays import Bools, Ints
from nodewright.domain.scheduling.explanations import Fallen, Rule, Verdict

Tell = Callable[[Bools], str]
"""Says something of the rows that were left before a rule was asked."""


def nothing(_: Bools) -> str:
    """For rules that have no more to say."""
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """One rule over the rows of a sieve."""

    rule: Rule
    keeps: Bools
    detail: Tell
    nearest: Tell = nothing
    advice: Tell = nothing


@dataclass(frozen=True, slots=True, eq=False)
class Sieved:
    """What the rules made of it."""

    fallen: tuple[Fallen, ...]
    left: Bools
    """Rows that no rule ruled out."""
    last: Stage | None
    """The rule that ruled out the last, None while something is left."""
    before: Bools
    """Rows left before that."""
    passed: int
    """How many rules left something."""


def sift(units: Ints, stages: Iterable[Stage]) -> Sieved:
    """Ask rule after rule until nothing is left. What falls is counted in units (types, not offerings)."""
    left = np.ones(len(units), dtype=np.bool_)
    fallen: list[Fallen] = []
    passed = 0
    for passed, stage in enumerate(stages):
        after = left & stage.keeps
        gone = _count(units, left) - _count(units, after)
        if gone:
            fallen.append(Fallen(stage.rule, gone, stage.detail(left)))
        if left.any() and not after.any():
            return Sieved(tuple(fallen), after, stage, left, passed)
        left = after
    return Sieved(tuple(fallen), left, None, left, passed + 1)


def cured(units: Ints, stages: Sequence[Stage], sieved: Sieved) -> Sieved:
    """The same without the rule that ruled out the last."""
    return sift(units, [stage for stage in stages if stage is not sieved.last])


def verdict(name: str, units: Ints, sieved: Sieved, best: Tell, second: Sieved | None = None) -> Verdict:
    """For showing; `second`: what a cure of the last rule would come to."""
    last = sieved.last
    then = second.last.nearest(second.before) if second is not None and second.last is not None else ""
    return Verdict(
        name=name,
        candidates=len(np.unique(units)),
        fallen=sieved.fallen,
        left=_count(units, sieved.left),
        best=best(sieved.left) if sieved.left.any() else "",
        nearest=last.nearest(sieved.before) if last else "",
        then=then,
        advice=last.advice(sieved.before) if last else "",
    )


def _count(units: Ints, rows: Bools) -> int:
    return len(np.unique(units[rows]))
