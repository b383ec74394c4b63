"""Selector terms as EC2 understands them."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from nodewright.application.errors import RefusedError
from nodewright.domain.nodeclasses import SelectorTerm


def matches(terms: tuple[SelectorTerm, ...], thing_id: str, tags: Mapping[str, str], name: str = "") -> bool:
    """Whether any term picks the thing; `name` empty where the thing has none to be picked by."""
    return any([_picks(term, thing_id, tags, name) for term in terms])  # noqa: C419  all are checked


def _picks(term: SelectorTerm, thing_id: str, tags: Mapping[str, str], name: str) -> bool:
    if term.id:
        return term.id == thing_id
    if not term.tags and not (term.name and name):
        raise RefusedError(f"selector term {term} says nothing to look for: give it an id, tags or a name")
    named = not (term.name and name) or fnmatchcase(name, term.name)
    return named and all(_has_tag(tags, key, value) for key, value in term.tags.items())


def _has_tag(tags: Mapping[str, str], key: str, value: str) -> bool:
    return key in tags and (not value or fnmatchcase(tags[key], value))
