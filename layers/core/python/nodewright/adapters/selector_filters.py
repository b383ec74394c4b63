"""Selector terms as EC2 filters: terms are OR, so each is a search; what is in one is AND."""

from typing import TYPE_CHECKING

from nodewright.application.errors import RefusedError
from nodewright.domain.nodeclasses import SelectorTerm

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import FilterTypeDef

#: A tag value that asks only for the key.
ANY_VALUE = ("*", "")

#: EC2 takes at most this many values for one filter.
VALUES_A_FILTER = 200


def filters_of(terms: tuple[SelectorTerm, ...], *, id: str, name: str = "") -> "list[list[FilterTypeDef]]":  # noqa: A002
    """One list of filters per search; `id` and `name` are what EC2 calls these filters for this resource.

    Terms that are an id alone share searches. RefusedError for a term that would match everything.
    """
    ids = [term.id for term in terms if term.id]
    searches: list[list[FilterTypeDef]] = [
        [{"Name": id, "Values": ids[start : start + VALUES_A_FILTER]}] for start in range(0, len(ids), VALUES_A_FILTER)
    ]
    return searches + [_filters(term, name) for term in terms if not term.id]


def _filters(term: SelectorTerm, name: str) -> "list[FilterTypeDef]":
    filters = [_tag_filter(key, value) for key, value in term.tags.items()]
    if term.name and name:
        filters.append({"Name": name, "Values": [term.name]})
    if not filters:
        raise RefusedError(f"selector term {term} says nothing to look for: give it an id, tags or a name")
    return filters


def _tag_filter(key: str, value: str) -> "FilterTypeDef":
    if value in ANY_VALUE:
        return {"Name": "tag-key", "Values": [key]}
    return {"Name": f"tag:{key}", "Values": [value]}
