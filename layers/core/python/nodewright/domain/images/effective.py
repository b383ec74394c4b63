"""Which image family a class is launched with, where the one it names is gone (architecture §6)."""

from dataclasses import replace

from nodewright.domain.images.al2 import AL2, has_image
from nodewright.domain.images.al2023 import AL2023
from nodewright.domain.nodeclasses import NodeClass, SelectorTerm


def effective(node_class: NodeClass, kubernetes: str) -> tuple[NodeClass, str]:
    """The class to launch from and what to tell its author, empty where it is as written.

    AL2 without userData or an image of its own says nothing that AL2023 can't do as well.
    """
    if not _is_without_image(node_class, kubernetes) or node_class.user_data.strip():
        return node_class, ""
    latest = (SelectorTerm(alias=f"{AL2023.alias}@latest"),)
    told = f"AL2 has no image for Kubernetes {kubernetes}, so its nodes are {AL2023.name}; name {AL2023.name} instead"
    return replace(node_class, ami_family=AL2023.name, ami_terms=latest), told


def missing_image(node_class: NodeClass, kubernetes: str) -> tuple[str, str]:
    """Field and fix for a class that finds no image."""
    if _is_without_image(node_class, kubernetes):
        return "spec.userData", (
            f"is written for AL2, which has no image for Kubernetes {kubernetes}; set amiFamily {AL2023.name} and"
            f" write userData for it, or select an image of yours"
        )
    return "spec.amiSelectorTerms", f"finds no image for Kubernetes {kubernetes}; check its terms"


def _is_without_image(node_class: NodeClass, kubernetes: str) -> bool:
    published = all(term.alias for term in node_class.ami_terms)
    return node_class.ami_family == AL2.name and published and not has_image(kubernetes)
