"""Manifests as people write them: block style, keys in their order, text of several lines as such."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Final

import yaml

#: Texts that PyYAML, which knows YAML 1.1, would leave plain and that Kubernetes' reader takes for numbers.
_NUMBER: Final = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|0o?[0-7]+|0x[0-9a-fA-F]+")


def yaml_text(documents: Iterable[Mapping[str, object]]) -> str:
    """Documents with a line of dashes between them."""
    return "---\n".join(_text(document) for document in documents)


def _text(document: Mapping[str, object]) -> str:
    return yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, default_flow_style=False, allow_unicode=True, width=math.inf
    )


class _Dumper(yaml.SafeDumper):
    """Writes every value where it stands, whatever else is equal to it."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        """Kubernetes reads anchors, people don't like to."""
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else "'" if _NUMBER.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
