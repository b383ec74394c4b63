"""Image families. Names, aliases and tests read FAMILIES; order is the order of showing."""

from nodewright.domain.images.al2 import AL2
from nodewright.domain.images.al2023 import AL2023
from nodewright.domain.images.bottlerocket import BOTTLEROCKET
from nodewright.domain.images.custom import CUSTOM
from nodewright.domain.images.effective import effective, missing_image
from nodewright.domain.images.family import (
    USER_DATA_LIMIT_BYTES,
    Bootstrap,
    Family,
    ImageQuery,
    UserDataError,
    Variant,
)

FAMILIES: tuple[Family, ...] = (AL2023, BOTTLEROCKET, AL2, CUSTOM)


def family(name: str) -> Family:
    """The family called so in `amiFamily`. ValueError with the names there are."""
    for candidate in FAMILIES:
        if candidate.name == name:
            return candidate
    raise ValueError(f"image family {name} is not known; use one of {', '.join(f.name for f in FAMILIES)}")


def family_of_alias(alias: str) -> Family:
    """The family whose images an alias (`al2023@latest`) means. ValueError with the aliases there are."""
    wanted = alias.partition("@")[0]
    aliased = [candidate for candidate in FAMILIES if candidate.alias]
    for candidate in aliased:
        if candidate.alias == wanted:
            return candidate
    raise ValueError(f"alias {alias} is not known; use one like {', '.join(f'{f.alias}@latest' for f in aliased)}")


__all__ = [
    "FAMILIES",
    "USER_DATA_LIMIT_BYTES",
    "Bootstrap",
    "Family",
    "ImageQuery",
    "UserDataError",
    "Variant",
    "effective",
    "family",
    "family_of_alias",
    "missing_image",
]
