"""Pod disruption budgets (policy/v1)."""

import contextlib
from collections.abc import Iterator

import msgspec

from nodewright.adapters.manifests.label_selectors import RawSelector, label_requirement
from nodewright.adapters.manifests.objects import Page, RawMetadata, RawObject, read_page
from nodewright.domain.pod_disruption_budgets import PodDisruptionBudget
from nodewright.domain.requirements import Requirement, Requirements


class _Metadata(RawMetadata, rename="camel"):
    generation: int = 0


class _Spec(msgspec.Struct, rename="camel"):
    selector: RawSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class _Status(msgspec.Struct, rename="camel"):
    disruptions_allowed: int = 0
    observed_generation: int = 0


class _RawBudget(RawObject, rename="camel"):
    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


def read_budgets(body: bytes) -> Page[PodDisruptionBudget]:
    """One page of a list."""
    return read_page(body, _RawBudget, _budget)


def _budget(raw: _RawBudget) -> PodDisruptionBudget:
    # Until the disruption controller has seen the latest spec, the API server grants no eviction.
    is_current = raw.status.observed_generation >= raw.metadata.generation
    return PodDisruptionBudget(
        namespace=raw.metadata.namespace,
        name=raw.metadata.name,
        selector=_selector(raw.spec.selector),
        disruptions_allowed=raw.status.disruptions_allowed if is_current else 0,
        always_allows_unhealthy=raw.spec.unhealthy_pod_eviction_policy == "AlwaysAllow",
    )


def _selector(raw: RawSelector | None) -> Requirements:
    """In policy/v1 an empty selector selects every pod of the namespace, an absent one none."""
    if raw is None:
        return Requirements((Requirement.nothing("no selector"),))
    return Requirements(_requirements(raw))


def _requirements(raw: RawSelector) -> Iterator[Requirement]:
    for key, value in (raw.match_labels or {}).items():
        yield label_requirement(key, "In", (value,))
    for each in raw.match_expressions or ():
        with contextlib.suppress(ValueError):  # one that we don't know can only widen what is covered: fail closed
            yield label_requirement(each.key, each.operator, each.values or ())
