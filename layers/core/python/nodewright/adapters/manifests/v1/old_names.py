"""Names of older generations in objects that are nobody's to rewrite, such as workloads (karpenter-behaviour §3.5)."""

from collections.abc import Iterator, Mapping
from typing import Final

from nodewright.adapters.manifests.fields import metadata_fields
from nodewright.application.ports import ManifestWarning

_NEW_NAMES: Final = {
    "karpenter.sh/provisioner-name": "karpenter.sh/nodepool",
    "karpenter.sh/do-not-evict": "karpenter.sh/do-not-disrupt",
    "karpenter.sh/do-not-consolidate": "karpenter.sh/do-not-disrupt",
}


def old_names(raw: Mapping[str, object]) -> Iterator[ManifestWarning]:
    """A warning for each place where such a name is a key, or what a key is said to be."""
    metadata = metadata_fields(raw)
    namespace, name = metadata.text("namespace"), metadata.text("name")
    shown = "/".join(part for part in (str(raw.get("kind", "object")), namespace, name) if part)
    for path, old in _found(raw, ""):
        fix = f"left as it is: Nodewright still knows {old}, Karpenter v1 doesn't; write {_NEW_NAMES[old]}"
        yield ManifestWarning(shown, path, fix)


def _found(value: object, path: str) -> Iterator[tuple[str, str]]:
    """(path, old name)."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            below = f"{path}.{name}" if path else str(name)
            if name in _NEW_NAMES:
                yield below, str(name)
            elif name in {"key", "topologyKey"} and isinstance(inner, str) and inner in _NEW_NAMES:
                yield below, inner
            else:
                yield from _found(inner, below)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _found(inner, f"{path}[{index}]")
