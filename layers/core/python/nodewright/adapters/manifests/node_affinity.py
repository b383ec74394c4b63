"""nodeSelector and required node affinity: the alternative sets of labels a pod's node may have."""

from typing import cast

import msgspec

from nodewright.adapters.manifests.raw_specs import is_given
from nodewright.domain.requirements import Operator, Requirement, Requirements

_TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


class _Expression(msgspec.Struct):
    key: str
    operator: str
    values: tuple[str, ...] | None = None


class _Term(msgspec.Struct, rename="camel"):
    match_expressions: tuple[_Expression, ...] | None = None
    match_fields: tuple[_Expression, ...] | None = None


class _Required(msgspec.Struct, rename="camel"):
    node_selector_terms: tuple[_Term, ...] | None = None


class _NodeAffinity(msgspec.Struct):
    required: _Required | None = msgspec.field(name="requiredDuringSchedulingIgnoredDuringExecution", default=None)


class _Affinity(msgspec.Struct, rename="camel"):
    node_affinity: _NodeAffinity | None = None


def read_alternatives(
    node_selector: msgspec.Raw, affinity: msgspec.Raw
) -> tuple[tuple[Requirements, ...], tuple[str, ...]]:
    """(alternatives, problems). Terms are OR; one that matches no new node is left out, and only
    when none is left does the pod have a problem.
    """
    selected = _selected(node_selector)
    required = _required(affinity)
    if required is None:
        return (selected,), ()
    terms = required.node_selector_terms or ()
    if not terms:
        return (), (f"{_TERMS}: an empty list matches no node; add a term or remove the affinity",)
    read = [_read_term(f"{_TERMS}[{i}]", term) for i, term in enumerate(terms)]
    usable = tuple(dict.fromkeys(selected.intersect(r) for r in read if isinstance(r, Requirements)))
    return usable, () if usable else tuple(r for r in read if isinstance(r, str))


def _selected(node_selector: msgspec.Raw) -> Requirements:
    if not is_given(node_selector):
        return Requirements()
    pairs = msgspec.json.decode(node_selector, type=dict[str, str])
    return Requirements(Requirement.of(key, "In", (value,)) for key, value in pairs.items())


def _required(affinity: msgspec.Raw) -> _Required | None:
    if not is_given(affinity):
        return None
    node_affinity = _AFFINITY.decode(affinity).node_affinity
    return node_affinity.required if node_affinity else None


def _read_term(path: str, term: _Term) -> Requirements | str:
    """The term's requirements, or why no new node can meet it."""
    if term.match_fields:
        return f"{path}.matchFields: it names nodes that exist; select by labels to get a new one"
    if not term.match_expressions:
        return f"{path}: an empty term matches no node; add an expression or remove the term"
    try:
        return Requirements(
            Requirement.of(e.key, cast(Operator, e.operator), e.values or ()) for e in term.match_expressions
        )
    except ValueError as error:
        return f"{path}: {error}"


_AFFINITY = msgspec.json.Decoder(_Affinity)
