"""nodeSelector and node affinity: the alternative sets of labels a pod's node may have, and those it would like."""

from collections.abc import Iterator
from typing import Final, cast

import msgspec

from nodewright.adapters.manifests.label_syntax import check, shown
from nodewright.adapters.manifests.pod_affinity import PREFERRED, REQUIRED, checked_weight
from nodewright.adapters.manifests.raw_specs import decoded, is_given
from nodewright.domain.nodes import NAME_FIELD
from nodewright.domain.requirements import Operator, Requirement, Requirements
from nodewright.domain.topology import PreferredNodes

_TERMS: Final = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
_PREFERRED: Final = f"spec.affinity.nodeAffinity.{PREFERRED}"


class RawExpression(msgspec.Struct):
    """A requirement on a label, or a field, of nodes."""

    key: str
    operator: str
    values: tuple[str, ...] | None = None


class RawTerm(msgspec.Struct, rename="camel"):
    """A node selector term."""

    match_expressions: tuple[RawExpression, ...] | None = None
    match_fields: tuple[RawExpression, ...] | None = None


class RawNodeSelector(msgspec.Struct, rename="camel"):
    """Terms, of which one must hold."""

    node_selector_terms: tuple[RawTerm, ...] | None = None


class _Preferred(msgspec.Struct):
    weight: int = 0
    preference: RawTerm = msgspec.field(default_factory=RawTerm)


class _NodeAffinity(msgspec.Struct):
    required: RawNodeSelector | None = msgspec.field(name=REQUIRED, default=None)
    preferred: tuple[_Preferred, ...] | None = msgspec.field(name=PREFERRED, default=None)


class _Affinity(msgspec.Struct, rename="camel"):
    node_affinity: _NodeAffinity | None = None


def read_alternatives(
    node_selector: msgspec.Raw, affinity: msgspec.Raw
) -> tuple[tuple[Requirements, ...], tuple[str, ...]]:
    """(alternatives, problems). Terms are OR; one that matches no node is left out, and only
    when none is left does the pod have a problem.
    """
    try:
        selected = _selected(node_selector)
        required = _node_affinity(affinity).required
    except ValueError as error:
        return (), (str(error),)
    if required is None:
        return (selected,), ()
    terms = required.node_selector_terms or ()
    if not terms:
        return (), (f"{_TERMS}: an empty list matches no node; add a term or remove the affinity",)
    read = [_read_term(f"{_TERMS}[{i}]", term) for i, term in enumerate(terms)]
    usable = tuple(dict.fromkeys(selected.intersect(r) for r in read if isinstance(r, Requirements)))
    return usable, () if usable else tuple(r for r in read if isinstance(r, str))


def read_preferred_nodes(affinity: msgspec.Raw) -> tuple[tuple[PreferredNodes, ...], tuple[str, ...]]:
    """(preferences, problems). An empty one is none, by Kubernetes' rule."""
    try:
        preferred = _node_affinity(affinity).preferred or ()
    except ValueError as error:
        return (), (str(error),)
    read: list[PreferredNodes] = []
    problems: list[str] = []
    for i, each in enumerate(preferred):
        try:
            weight = checked_weight(f"{_PREFERRED}[{i}]", each.weight)
            if each.preference.match_expressions or each.preference.match_fields:
                read.append(PreferredNodes(weight, read_term(f"{_PREFERRED}[{i}].preference", each.preference)))
        except ValueError as error:
            problems.append(str(error))
    return tuple(read), tuple(problems)


def read_term(path: str, term: RawTerm) -> Requirements:
    """ValueError says why no node can meet it, with the path of the field."""
    if not term.match_expressions and not term.match_fields:
        raise ValueError(f"{path}: an empty term matches no node; add an expression or remove the term")
    return Requirements((*_expressions(path, term), *_fields(path, term)))


def _selected(node_selector: msgspec.Raw) -> Requirements:
    if not is_given(node_selector):
        return Requirements()
    pairs = decoded(_SELECTOR, node_selector, "spec.nodeSelector")
    for key, value in pairs.items():
        try:
            check(key, (value,))
        except ValueError as error:
            raise ValueError(f"spec.nodeSelector: {error}") from None
    return Requirements(Requirement.of(key, "In", (value,)) for key, value in pairs.items())


def _node_affinity(affinity: msgspec.Raw) -> _NodeAffinity:
    if not is_given(affinity):
        return _NOTHING
    return decoded(_AFFINITY, affinity, "spec.affinity").node_affinity or _NOTHING


def _read_term(path: str, term: RawTerm) -> Requirements | str:
    try:
        return read_term(path, term)
    except ValueError as error:
        return str(error)


def _expressions(path: str, term: RawTerm) -> Iterator[Requirement]:
    for i, each in enumerate(term.match_expressions or ()):
        values = each.values or ()
        try:
            check(each.key, values)
            yield Requirement.of(each.key, cast(Operator, each.operator), values)
        except ValueError as error:
            raise ValueError(f"{path}.matchExpressions[{i}]: {error}") from None


def _fields(path: str, term: RawTerm) -> Iterator[Requirement]:
    """By name, as the one field there is: only a node that exists has a name, so no new one is In."""
    for i, each in enumerate(term.match_fields or ()):
        at = f"{path}.matchFields[{i}]"
        if each.key != "metadata.name":
            raise ValueError(f"{at}: {shown(each.key)} can't be selected by; use metadata.name or a label")
        if each.operator not in {"In", "NotIn"} or len(each.values or ()) != 1:
            raise ValueError(f"{at}: it needs operator In or NotIn and exactly one value, a node's name")
        yield Requirement.of(NAME_FIELD, cast(Operator, each.operator), each.values or ())


_NOTHING: Final = _NodeAffinity()
_AFFINITY = msgspec.json.Decoder(_Affinity)
_SELECTOR = msgspec.json.Decoder(dict[str, str])
