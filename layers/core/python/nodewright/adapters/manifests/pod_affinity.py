"""podAffinity and podAntiAffinity."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from nodewright.adapters.manifests.label_selectors import RawSelector, SelectorTemplate, read_selector
from nodewright.adapters.manifests.label_syntax import check
from nodewright.adapters.manifests.raw_specs import decoded, is_given
from nodewright.domain.labels import normalise_key
from nodewright.domain.requirements import Requirements
from nodewright.domain.topology import PodAffinityTerm, Weighted

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_HEAVIEST: Final = 100

R = TypeVar("R")
T = TypeVar("T")


class _Term(msgspec.Struct, rename="camel"):
    topology_key: str = ""
    label_selector: RawSelector | None = None
    namespaces: tuple[str, ...] | None = None
    namespace_selector: RawSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class _Weighted(msgspec.Struct, rename="camel"):
    weight: int = 0
    pod_affinity_term: _Term = msgspec.field(default_factory=_Term)


class _Terms(msgspec.Struct):
    required: tuple[_Term, ...] | None = msgspec.field(name=REQUIRED, default=None)
    preferred: tuple[_Weighted, ...] | None = msgspec.field(name=PREFERRED, default=None)


class _Affinity(msgspec.Struct, rename="camel"):
    pod_affinity: _Terms | None = None
    pod_anti_affinity: _Terms | None = None


@dataclass(frozen=True, slots=True)
class TermTemplate:
    """A term whose selector lacks what is the pod's own."""

    topology_key: str
    selector: SelectorTemplate

    def of(self, namespace: str, labels: Mapping[str, str]) -> PodAffinityTerm:
        """The term of a pod of this namespace and these labels."""
        return PodAffinityTerm(self.topology_key, self.selector.of(namespace, labels))


@dataclass(frozen=True, slots=True)
class WeightedTemplate:
    """A preferred term of the same kind."""

    weight: int
    term: TermTemplate

    def of(self, namespace: str, labels: Mapping[str, str]) -> Weighted:
        """The term of a pod of this namespace and these labels."""
        return Weighted(self.weight, self.term.of(namespace, labels))


@dataclass(frozen=True, slots=True)
class PodAffinities:
    """All terms of a pod spec."""

    affinity: tuple[TermTemplate, ...] = ()
    anti_affinity: tuple[TermTemplate, ...] = ()
    preferred_affinity: tuple[WeightedTemplate, ...] = ()
    preferred_anti_affinity: tuple[WeightedTemplate, ...] = ()
    problems: tuple[str, ...] = ()


def read_pod_affinities(raw: msgspec.Raw) -> PodAffinities:
    """Terms that can't be read are `problems`."""
    if not is_given(raw):
        return _NONE
    try:
        affinity = decoded(_AFFINITY, raw, "spec.affinity")
    except ValueError as error:
        return PodAffinities(problems=(str(error),))
    near, far = affinity.pod_affinity or _Terms(), affinity.pod_anti_affinity or _Terms()
    problems: list[str] = []
    return PodAffinities(
        tuple(_read(f"spec.affinity.podAffinity.{REQUIRED}", near.required, _term, problems)),
        tuple(_read(f"spec.affinity.podAntiAffinity.{REQUIRED}", far.required, _term, problems)),
        tuple(_read(f"spec.affinity.podAffinity.{PREFERRED}", near.preferred, _weighted, problems)),
        tuple(_read(f"spec.affinity.podAntiAffinity.{PREFERRED}", far.preferred, _weighted, problems)),
        tuple(problems),
    )


def checked_weight(path: str, weight: int) -> int:
    """Of a preferred term. ValueError when Kubernetes would refuse it."""
    if not 1 <= weight <= _HEAVIEST:
        raise ValueError(f"{path}.weight: {weight} is not possible; it must lie between 1 and {_HEAVIEST}")
    return weight


_NONE: Final = PodAffinities()


def _read(path: str, raw: Iterable[R] | None, read: Callable[[str, R], T], problems: list[str]) -> Iterator[T]:
    for i, each in enumerate(raw or ()):
        try:
            yield read(f"{path}[{i}]", each)
        except ValueError as error:
            problems.append(str(error))


def _weighted(path: str, raw: _Weighted) -> WeightedTemplate:
    return WeightedTemplate(checked_weight(path, raw.weight), _term(f"{path}.podAffinityTerm", raw.pod_affinity_term))


def _term(path: str, raw: _Term) -> TermTemplate:
    if not raw.topology_key:
        raise ValueError(f"{path}.topologyKey: it is empty; name a label of nodes such as kubernetes.io/hostname")
    try:
        check(raw.topology_key)
    except ValueError as error:
        raise ValueError(f"{path}.topologyKey: {error}") from None
    selector = SelectorTemplate(
        _labels(f"{path}.labelSelector", raw.label_selector),
        raw.match_label_keys or (),
        raw.mismatch_label_keys or (),
        frozenset(raw.namespaces or ()),
        _labels(f"{path}.namespaceSelector", raw.namespace_selector),
    )
    return TermTemplate(normalise_key(raw.topology_key), selector)


def _labels(path: str, raw: RawSelector | None) -> Requirements | None:
    """An absent selector selects nothing, an empty one everything."""
    return None if raw is None else read_selector(raw, path)


_AFFINITY = msgspec.json.Decoder(_Affinity)
