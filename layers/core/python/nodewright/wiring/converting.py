"""`nodewright convert`, ready to run: no AWS, no cluster."""

from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

from nodewright.adapters.manifests.files import read_sources, unfolded
from nodewright.adapters.manifests.v1.conversion import Conversion, convert
from nodewright.adapters.manifests.yaml_text import yaml_text
from nodewright.application.plan import BadInputError

__all__ = ["Conversion", "convert_sources", "yaml_text"]


def convert_sources(names: Sequence[str], standard_input: BinaryIO) -> Conversion:
    """Files, directories and `-`. BadInputError where there is nothing to convert; what is no object is left out."""
    read = read_sources(names, standard_input)
    if not read.objects:
        told = "; ".join(f"{each.object}: {each.message}" for each in read.warnings)
        raise BadInputError(f"there is nothing to convert in {', '.join(names)}" + (f": {told}" if told else ""))
    converted = convert(unfolded(read.objects))
    unread = tuple(each.object for each in read.warnings)
    return replace(
        converted,
        warnings=(*read.warnings, *converted.warnings),
        left=tuple(dict.fromkeys((*unread, *converted.left))),
    )
