"""What a pod is to a rule."""

from collections.abc import Sequence
from dataclasses import dataclass

from nodewright.domain.scheduling.entangled import Kind
from nodewright.domain.scheduling.waiting_order import counted_on


@dataclass(frozen=True, slots=True)
class Role:
    """Of pods of one kind to one rule."""

    rule: int
    owner: bool
    """They have it."""
    selected: bool
    """It counts them."""
    counted_on: bool
    """It may rely on them to come."""


def roles(kind: Kind, ranks: Sequence[int]) -> tuple[Role, ...]:
    """To every rule that they have or that counts them."""
    owns, selected = frozenset(kind.owns), frozenset(kind.selected)
    return tuple(
        Role(index, index in owns, index in selected, counted_on(index, kind, ranks))
        for index in sorted(owns | selected)
    )


def bound_roles(selected: Sequence[int], repels: Sequence[int] = ()) -> tuple[Role, ...]:
    """Of a pod that is where it is: its own spread and affinity no longer matter, its anti-affinity does."""
    both = sorted({*selected, *repels})
    return tuple(Role(index, index in repels, index in selected, counted_on=True) for index in both)


def coming_roles(owns: Sequence[int], selected: Sequence[int]) -> tuple[Role, ...]:
    """Of a pod that is planned to be where it is: as of one that is there, but its own rules still matter."""
    both = sorted({*owns, *selected})
    return tuple(Role(index, index in owns, index in selected, counted_on=True) for index in both)
