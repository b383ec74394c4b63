"""Label selectors over pods and namespaces (metav1.LabelSelector).

Unlike requirements on nodes they know no older names of a key: a pod's label is what its key says.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from nodewright.adapters.manifests import label_syntax
from nodewright.domain.requirements import Requirement, Requirements
from nodewright.domain.topology import PodSelector

_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


class RawExpression(msgspec.Struct):
    """An entry of matchExpressions."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class RawSelector(msgspec.Struct, rename="camel"):
    """A label selector."""

    match_labels: dict[str, str] | None = None
    match_expressions: tuple[RawExpression, ...] | None = None


@dataclass(frozen=True, slots=True)
class SelectorTemplate:
    """A selector of pods as a pod spec has it: the pod's own labels and namespace complete it."""

    labels: Requirements | None
    """None: no pod at all."""
    match_keys: tuple[str, ...] = ()
    """matchLabelKeys: the pod's own value is selected; a key it hasn't is ignored."""
    mismatch_keys: tuple[str, ...] = ()
    """mismatchLabelKeys: any other than its own value is."""
    namespaces: frozenset[str] = frozenset()
    namespace_labels: Requirements | None = None

    def of(self, namespace: str, labels: Mapping[str, str]) -> PodSelector:
        """The selector for a pod of this namespace and these labels."""
        here = self.namespaces or (frozenset((namespace,)) if self.namespace_labels is None else frozenset[str]())
        return PodSelector(self._merged(labels), here, self.namespace_labels)

    def _merged(self, labels: Mapping[str, str]) -> Requirements | None:
        if self.labels is None or not (self.match_keys or self.mismatch_keys):
            return self.labels
        own = [("In", key) for key in self.match_keys] + [("NotIn", key) for key in self.mismatch_keys]
        added = [label_requirement(key, operator, (labels[key],)) for operator, key in own if key in labels]
        return Requirements((*self.labels.values(), *(each for each in added if not self._has(each))))

    def _has(self, own: Requirement) -> bool:
        """The API server merges them itself when a pod is created; its labels may have changed since."""
        known = self.labels.get(own.key) if self.labels is not None else None
        return known is not None and bool(known.values) and known.complement == own.complement


def read_selector(raw: RawSelector, path: str) -> Requirements:
    """An empty one selects everything. ValueError names the field and the fix."""
    return Requirements((*_equal(raw.match_labels or {}, path), *_expressions(raw.match_expressions or (), path)))


def label_requirement(key: str, operator: str, values: tuple[str, ...] = ()) -> Requirement:
    """What one label of a pod or namespace may be. ValueError says what is wrong with it."""
    if operator not in _OPERATORS:
        raise ValueError(f"operator {label_syntax.shown(operator)} is not known; use one of {', '.join(_OPERATORS)}")
    if bool(values) != (operator in {"In", "NotIn"}):
        fix = "takes no values; remove them" if values else "needs at least one value"
        raise ValueError(f"{label_syntax.shown(key)}: {operator} {fix}")
    label_syntax.check(key, values)
    return Requirement(
        key,
        complement=operator in {"NotIn", "Exists"},
        values=frozenset(values),
        allows_absent=operator in {"NotIn", "DoesNotExist"},
    )


def _equal(labels: Mapping[str, str], path: str) -> Iterable[Requirement]:
    for key, value in labels.items():
        yield _located(f"{path}.matchLabels", key, "In", (value,))


def _expressions(raw: Iterable[RawExpression], path: str) -> Iterable[Requirement]:
    for i, each in enumerate(raw):
        yield _located(f"{path}.matchExpressions[{i}]", each.key, each.operator, each.values or ())


def _located(path: str, key: str, operator: str, values: tuple[str, ...]) -> Requirement:
    try:
        return label_requirement(key, operator, values)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
