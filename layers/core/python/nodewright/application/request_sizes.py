"""How much of a launch list goes into one CreateFleet request: EC2 refuses a body that is too large.

It takes Karpenter's 60 types in all zones of a large region and refused 100 (karpenter-provider-aws #5776); tags come
on top, three times, and they are the user's.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeVar

MOST_BYTES: Final = 110_000
"""Form-encoded: 60 types with long names in six zones."""
BYTES_AN_OVERRIDE: Final = 300
"""Type, subnet, image and priority, each with its name, and its part of the templates' names; at most."""
_TAGGED: Final = 3
"""Instances, volumes and the fleet."""
_BYTES_A_TAG: Final = 90
"""The names of its fields."""


class Typed(Protocol):
    """An offering."""

    @property
    def instance_type(self) -> str:
        """Its name."""
        ...


T = TypeVar("T", bound=Typed)


def fitting(offerings: Sequence[T], tags: Mapping[str, str]) -> tuple[T, ...]:
    """As many as fit beside the tags, in their order: the first of each type, so that choice is kept, then others."""
    most = max(1, (MOST_BYTES - _bytes(tags)) // BYTES_AN_OVERRIDE)
    if len(offerings) <= most:
        return tuple(offerings)
    numbers = range(len(offerings))
    first = {offerings[number].instance_type: number for number in reversed(numbers)}
    kept = sorted(numbers, key=lambda number: first[offerings[number].instance_type] != number)[:most]
    return tuple(offerings[number] for number in sorted(kept))


def _bytes(tags: Mapping[str, str]) -> int:
    """A character may take up to three bytes as it is sent, for each of its own."""
    return _TAGGED * sum(_BYTES_A_TAG + 3 * len(f"{key}{value}".encode()) for key, value in tags.items())
