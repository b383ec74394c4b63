"""Which generation of an API an object was written for.

Our CRDs serve all versions with one schema and no conversion, so an object written as v1beta1 is
read back as v1. Whoever wrote it last with a spec is known to the API server: metadata.managedFields
keeps the version each author used.
"""

from collections.abc import Iterator, Mapping

_OLD = "v1beta1"


def written_as_v1beta1(raw: Mapping[str, object]) -> bool:
    """Whether the defaults of v1beta1 were meant: by apiVersion, else by the last author's."""
    if _version(raw.get("apiVersion")) == _OLD:
        return True
    authors = sorted(_spec_authors(raw.get("metadata")))
    return bool(authors) and authors[-1][1] == _OLD


def _spec_authors(metadata: object) -> Iterator[tuple[str, str]]:
    """(time, version) of every write that set something under spec."""
    entries = metadata.get("managedFields") if isinstance(metadata, Mapping) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and "f:spec" in (entry.get("fieldsV1") or {}):
            yield str(entry.get("time", "")), _version(entry.get("apiVersion"))


def _version(api_version: object) -> str:
    return str(api_version or "").rpartition("/")[2]
