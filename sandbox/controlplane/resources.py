"""The resources of a cluster as discovery names them, and the paths they are reached under."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of object in one version of one group; `group` is empty for the core."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    verbs: frozenset[str]

    def path(self, namespace: str | None, name: str = "", subresource: str = "") -> str:
        """The path of the collection, of one object or of its subresource.

        The namespace counts only for namespaced kinds; None means all namespaces.
        """
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        within = f"namespaces/{namespace}/" if self.namespaced and namespace is not None else ""
        return "/".join(part for part in (f"{base}/{within}{self.plural}", name, subresource) if part)


def read_group_version(answer: Mapping[str, Any]) -> Iterator[Resource]:
    """Resources of an APIResourceList, subresources left out."""
    group, _, version = answer["groupVersion"].rpartition("/")
    for found in answer["resources"]:
        if "/" not in found["name"]:
            verbs = frozenset(found["verbs"])
            yield Resource(group, version, found["name"], found["kind"], found["namespaced"], verbs)


def read_discovery(answer: Mapping[str, Any]) -> Iterator[Resource]:
    """Resources of an aggregated discovery document, each in the first version that has it, which is preferred."""
    for item in answer["items"]:
        group = item["metadata"].get("name", "")
        seen: set[str] = set()
        for version in item["versions"]:
            for found in version.get("resources", ()):
                plural = found["resource"]
                if plural not in seen and "responseKind" in found:
                    seen.add(plural)
                    kind = found["responseKind"]["kind"]
                    namespaced = found["scope"] == "Namespaced"
                    yield Resource(group, version["version"], plural, kind, namespaced, frozenset(found["verbs"]))
