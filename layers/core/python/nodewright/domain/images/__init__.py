"""Image families. Names, aliases and tests read FAMILIES; order is the order of showing."""

from nodewright.domain.images.al2023 import AL2023
from nodewright.domain.images.bottlerocket import BOTTLEROCKET
from nodewright.domain.images.family import (
    USER_DATA_LIMIT_BYTES,
    Bootstrap,
    Family,
    ImageQuery,
    UserDataError,
    Variant,
)

FAMILIES: tuple[Family, ...] = (AL2023, BOTTLEROCKET)


def family(name: str) -> Family:
    """The family called so in `amiFamily`. ValueError with the names there are."""
    for candidate in FAMILIES:
        if candidate.name == name:
            return candidate
    raise ValueError(f"image family {name} is not launched yet; use {' or '.join(f.name for f in FAMILIES)}")


__all__ = [
    "FAMILIES",
    "USER_DATA_LIMIT_BYTES",
    "Bootstrap",
    "Family",
    "ImageQuery",
    "UserDataError",
    "Variant",
    "family",
]
