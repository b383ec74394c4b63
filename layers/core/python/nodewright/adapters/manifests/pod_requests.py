"""What a pod spec requests, with limits standing in where a request is missing."""

from collections.abc import Iterable, Iterator

import msgspec

from nodewright.adapters.manifests.raw_specs import RawContainer, RawPodSpec, is_given
from nodewright.domain.quantities import Resources
from nodewright.domain.requests import ContainerRequests, effective_requests


class _ResourceRequirements(msgspec.Struct):
    requests: dict[str, object] | None = None
    limits: dict[str, object] | None = None


def read_requests(spec: RawPodSpec) -> tuple[Resources, tuple[str, ...]]:
    """(effective requests, problems); an unreadable amount is a problem and counts as none."""
    problems: list[str] = []
    requests = effective_requests(
        tuple(_containers("spec.containers", spec.containers, problems)),
        tuple(_containers("spec.initContainers", spec.init_containers, problems)),
        _overhead(spec.overhead, problems),
        _required("spec.resources", spec.resources, problems),
    )
    return requests, tuple(problems)


def _containers(
    path: str, containers: Iterable[RawContainer] | None, problems: list[str]
) -> Iterator[ContainerRequests]:
    for i, container in enumerate(containers or ()):
        at = f"{path}[{i}]"
        requests = _required(f"{at}.resources", container.resources, problems)
        yield ContainerRequests(at, requests, restart_always=container.restart_policy == "Always")


def _required(path: str, raw: msgspec.Raw, problems: list[str]) -> Resources:
    if not is_given(raw):
        return Resources()
    resources = _REQUIREMENTS.decode(raw)
    return _parse(f"{path}.requests", (resources.limits or {}) | (resources.requests or {}), problems)


def _overhead(raw: msgspec.Raw, problems: list[str]) -> Resources:
    return _parse("spec.overhead", _AMOUNTS.decode(raw), problems) if is_given(raw) else Resources()


def _parse(path: str, amounts: dict[str, object], problems: list[str]) -> Resources:
    try:
        return Resources.parse(amounts)
    except ValueError as error:
        problems.append(f"{path}: {error}")
        return Resources()


_REQUIREMENTS = msgspec.json.Decoder(_ResourceRequirements)
_AMOUNTS = msgspec.json.Decoder(dict[str, object])
