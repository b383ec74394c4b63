"""Limits: how much more may be bought (karpenter-behaviour §1.7)."""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from nodewright.domain.money import show_usd
from nodewright.domain.quantities import Resources, format_amount

NODES: Final = "nodes"
"""The pseudo-resource that counts nodes."""
PRICE: Final = "nodewright.dev/usd-nanos-per-hour"
"""The pseudo-resource that counts money: nanodollars per hour."""
LAUNCHES: Final = "nodewright.dev/launches-per-hour"
"""The pseudo-resource that counts a cluster's launches (CreateFleet calls) within one hour."""


class Limits(Resources):
    """Amounts of the limited resources only; what it doesn't name is unlimited.

    So an explicit zero is kept: it means nothing (more) of that resource. What is read is rounded down: of a limit
    of 1.5 nodes Karpenter, too, counts the second as beyond it.
    """

    __slots__ = ()

    def __sub__(self, other: Resources) -> "Limits":
        """What is left of what is limited; negative where more is in use."""
        return Limits({name: amount - other.get(name) for name, amount in self.items()})

    @staticmethod
    def _keeps(amount: int) -> bool:  # noqa: ARG004
        return True

    @staticmethod
    def _rounded(amount: Fraction) -> int:
        return math.floor(amount)


def tightest(several: Iterable[Limits]) -> Limits | None:
    """Of each resource the least that any of them leaves; None where none limits anything."""
    least: dict[str, int] = {}
    for name, amount in (item for limits in several for item in limits.items()):
        least[name] = min(amount, least.get(name, amount))
    return Limits(least) or None


def exceeded(limits: Resources, in_use: Resources, more: Resources) -> str | None:
    """A resource of which `more` would pass its limit, the first by name.

    A limit that is overdrawn already stops only those who would take more of that resource.
    """
    return next((n for n, most in limits.items() if more.get(n) > 0 and in_use.get(n) + more.get(n) > most), None)


def shown(resource: str, amount: int) -> str:
    """`cpu 4`, `nodes 2`, `USD per hour 0.40`."""
    if resource == PRICE:
        return f"USD per hour {show_usd(amount)}"
    return f"{_NAMES.get(resource, resource)} {format_amount(resource, amount)}"


_NAMES: Final = {LAUNCHES: "launches per hour"}
