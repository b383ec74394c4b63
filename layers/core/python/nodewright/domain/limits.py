"""A pool's limits: how much more it may buy (karpenter-behaviour §1.7)."""

from collections.abc import Iterable
from typing import Final

from nodewright.domain.quantities import Resources

NODES: Final = "nodes"
"""The pseudo-resource that counts nodes."""


class Limits(Resources):
    """Amounts of the limited resources only; what it doesn't name is unlimited.

    So an explicit zero is kept: it means nothing (more) of that resource.
    """

    __slots__ = ()

    def __sub__(self, other: Resources) -> "Limits":
        """What is left of what is limited; negative where more is in use."""
        return Limits({name: amount - other.get(name) for name, amount in self.items()})

    @staticmethod
    def _keeps(amount: int) -> bool:  # noqa: ARG004
        return True


def remaining(limits: Resources | None, in_use: Iterable[Resources], nodes: int) -> Limits | None:
    """Limits less the capacities in use or reserved and the number of nodes; None: unlimited."""
    if limits is None:
        return None
    used = sum(in_use, Resources({NODES: nodes}))
    return Limits(limits) - used


def within(capacity: Resources, left: Resources | None) -> bool:
    """Whether one more node of this capacity stays inside what is left.

    A limit that is overdrawn already keeps only those out that would take more of that resource.
    """
    if left is None:
        return True
    return all(amount <= left[name] for name, amount in (capacity + _ONE_NODE).items() if name in left)


_ONE_NODE: Final = Resources({NODES: 1})
