"""Which generation of an API an object was written for.

Our CRDs serve all versions with one schema and no conversion, so an object written as v1beta1 is
read back as v1. Whoever wrote it last with a spec is known to the API server: metadata.managedFields
keeps the version each author used.
"""

from collections.abc import Iterator, Mapping
from typing import Final

_OLD: Final = "v1beta1"
_PROVISIONER_FIELDS: Final = frozenset(
    {"providerRef", "provider", "ttlSecondsAfterEmpty", "ttlSecondsUntilExpired", "kubeletConfiguration"}
)
_TEMPLATE_FIELDS: Final = frozenset({"subnetSelector", "securityGroupSelector", "amiSelector"})
_OLD_ANNOTATIONS: Final = {
    "karpenter.sh/do-not-evict": "karpenter.sh/do-not-disrupt",
    "karpenter.sh/do-not-consolidate": "karpenter.sh/do-not-disrupt",
}


def is_provisioner(raw: Mapping[str, object]) -> bool:
    """Whether a pool's manifest is a Provisioner's, by its kind or else by its fields."""
    return _is(raw, "Provisioner", _PROVISIONER_FIELDS)


def is_node_template(raw: Mapping[str, object]) -> bool:
    """Whether a class's manifest is an AWSNodeTemplate's."""
    return _is(raw, "AWSNodeTemplate", _TEMPLATE_FIELDS)


def written_as_v1beta1(raw: Mapping[str, object]) -> bool:
    """Whether the defaults of v1beta1 were meant: by apiVersion, else by the last author's."""
    if _version(raw.get("apiVersion")) == _OLD:
        return True
    authors = sorted(_spec_authors(raw.get("metadata")))
    return bool(authors) and authors[-1][1] == _OLD


def with_new_names(annotations: Mapping[str, str]) -> Mapping[str, str]:
    """Annotations of pods and nodes under the names of v1; where both are there the new one counts."""
    if _OLD_ANNOTATIONS.keys().isdisjoint(annotations):
        return annotations
    renamed = {new: annotations[old] for old, new in _OLD_ANNOTATIONS.items() if old in annotations}
    return {**renamed, **annotations}


def _is(raw: Mapping[str, object], kind: str, fields: frozenset[str]) -> bool:
    if raw.get("kind"):
        return raw["kind"] == kind
    spec = raw.get("spec")
    return isinstance(spec, Mapping) and not fields.isdisjoint(spec)


def _spec_authors(metadata: object) -> Iterator[tuple[str, str]]:
    """(time, version) of every write that set something under spec."""
    entries = metadata.get("managedFields") if isinstance(metadata, Mapping) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and "f:spec" in (entry.get("fieldsV1") or {}):
            yield str(entry.get("time", "")), _version(entry.get("apiVersion"))


def _version(api_version: object) -> str:
    return str(api_version or "").rpartition("/")[2]
