"""topologySpreadConstraints of pods."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from nodewright.adapters.manifests.label_selectors import RawSelector, SelectorTemplate, read_selector
from nodewright.adapters.manifests.label_syntax import check, shown
from nodewright.adapters.manifests.raw_specs import decoded, is_given
from nodewright.domain.labels import normalise_key
from nodewright.domain.topology import PodSelector, TopologySpread

_PATH: Final = "spec.topologySpreadConstraints"
_LARGEST: Final = 2**31 - 1
_NOBODY: Final = PodSelector(None)


class _Spread(msgspec.Struct, rename="camel"):
    topology_key: str = ""
    max_skew: int = 1
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: RawSelector | None = None
    min_domains: int | None = None
    match_label_keys: tuple[str, ...] | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None


@dataclass(frozen=True, slots=True)
class SpreadTemplate:
    """A constraint whose selector lacks what is the pod's own."""

    spread: TopologySpread
    selector: SelectorTemplate

    def of(self, namespace: str, labels: Mapping[str, str]) -> TopologySpread:
        """The constraint of a pod of this namespace and these labels."""
        selector = self.selector.of(namespace, labels)
        # kube-scheduler's spread counts nobody for an empty selector (countPodsMatchSelector), unlike its affinity.
        return replace(self.spread, selector=selector if selector.labels else _NOBODY)


def read_spreads(raw: msgspec.Raw) -> tuple[tuple[SpreadTemplate, ...], tuple[str, ...]]:
    """(constraints, problems)."""
    if not is_given(raw):
        return (), ()
    try:
        constraints = decoded(_SPREADS, raw, _PATH)
    except ValueError as error:
        return (), (str(error),)
    read: list[SpreadTemplate] = []
    problems: list[str] = []
    for i, each in enumerate(constraints):
        try:
            read.append(_spread(f"{_PATH}[{i}]", each))
        except ValueError as error:
            problems.append(str(error))
    return tuple(read), tuple(problems)


def _spread(path: str, raw: _Spread) -> SpreadTemplate:
    _check_topology_key(f"{path}.topologyKey", raw.topology_key)
    hard = _one_of(f"{path}.whenUnsatisfiable", raw.when_unsatisfiable, "DoNotSchedule", "ScheduleAnyway")
    if raw.min_domains is not None and not hard:
        raise ValueError(f"{path}.minDomains: it needs whenUnsatisfiable DoNotSchedule; remove one of them")
    spread = TopologySpread(
        topology_key=normalise_key(raw.topology_key),
        selector=_NOBODY,
        max_skew=_positive(f"{path}.maxSkew", raw.max_skew),
        min_domains=_positive(f"{path}.minDomains", 1 if raw.min_domains is None else raw.min_domains),
        hard=hard,
        honors_affinity=_one_of(f"{path}.nodeAffinityPolicy", raw.node_affinity_policy or "Honor", "Honor", "Ignore"),
        honors_taints=_one_of(f"{path}.nodeTaintsPolicy", raw.node_taints_policy or "Ignore", "Honor", "Ignore"),
    )
    labels = None if raw.label_selector is None else read_selector(raw.label_selector, f"{path}.labelSelector")
    return SpreadTemplate(spread, SelectorTemplate(labels, raw.match_label_keys or ()))


def _check_topology_key(path: str, key: str) -> None:
    if not key:
        raise ValueError(f"{path}: it is empty; name a label of nodes such as topology.kubernetes.io/zone")
    try:
        check(key)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _one_of(path: str, value: str, yes: str, no: str) -> bool:
    if value not in {yes, no}:
        raise ValueError(f"{path}: {shown(value)} is not known; use {yes} or {no}")
    return value == yes


def _positive(path: str, number: int) -> int:
    if not 1 <= number <= _LARGEST:
        raise ValueError(f"{path}: {number} is not possible; it must be at least 1")
    return number


_SPREADS = msgspec.json.Decoder(tuple[_Spread, ...])
