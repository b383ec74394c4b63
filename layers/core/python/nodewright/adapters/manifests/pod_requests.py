"""What a pod requests, with limits standing in where a request is missing."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import msgspec

from nodewright.adapters.manifests.container_defaults import NO_AMOUNTS, Amounts
from nodewright.adapters.manifests.objects import NOTHING
from nodewright.adapters.manifests.raw_specs import RawContainer, RawPodSpec, decoded, is_given
from nodewright.domain.quantities import Resources, possible
from nodewright.domain.requests import ContainerRequests, effective_requests

T = TypeVar("T")


class RawContainerStatus(msgspec.Struct, rename="camel", gc=False):
    """What a container has been given so far."""

    name: str = ""
    allocated_resources: msgspec.Raw = NOTHING
    resources: msgspec.Raw = NOTHING


@dataclass(frozen=True, slots=True)
class Given:
    """What kubelet says of a running pod: it may be resized in place."""

    containers: Mapping[str, RawContainerStatus]
    """By name, init containers too."""
    allocated_resources: msgspec.Raw
    resources: msgspec.Raw
    infeasible: bool = False
    """The node can never give what the spec asks for now, so that counts for nothing."""

    @property
    def key(self) -> Hashable:
        """The same for pods that were given the same."""
        statuses = ((s.name, bytes(s.allocated_resources), bytes(s.resources)) for s in self.containers.values())
        return (*statuses, bytes(self.allocated_resources), bytes(self.resources), self.infeasible)


NOTHING_GIVEN: Final = Given({}, NOTHING, NOTHING)


class _ResourceRequirements(msgspec.Struct):
    requests: dict[str, object] | None = None
    limits: dict[str, object] | None = None


def read_requests(
    spec: RawPodSpec, given: Given = NOTHING_GIVEN, defaults: Amounts = NO_AMOUNTS
) -> tuple[Resources, tuple[str, ...]]:
    """(effective requests, problems); an amount that can't be is a problem and counts as none.

    `defaults` are requests of containers that say nothing.
    """
    reading = _Reading(given, defaults)
    pod_level, pod_limits = reading.pod_level(spec.resources)
    overhead = reading.decode(_AMOUNTS, spec.overhead, "spec.overhead")
    requests = effective_requests(
        tuple(reading.containers("spec.containers", spec.containers)),
        tuple(reading.containers("spec.initContainers", spec.init_containers)),
        reading.amounts("spec.overhead", overhead or {}),
        pod_level,
        pod_limits,
    )
    return requests, tuple(reading.problems)


class _Reading:
    """One spec, with what is wrong in it."""

    def __init__(self, given: Given, defaults: Amounts) -> None:
        self.problems: list[str] = []
        self._given = given
        self._defaults = defaults

    def containers(self, path: str, containers: Iterable[RawContainer] | None) -> Iterator[ContainerRequests]:
        for i, container in enumerate(containers or ()):
            at = f"{path}[{i}]"
            yield ContainerRequests(at, self._container(at, container), container.restart_policy == "Always")

    def pod_level(self, raw: msgspec.Raw) -> tuple[Resources, Resources]:
        """(requests, limits)."""
        spec = self._requirements(raw, "spec.resources")
        requests = self.amounts("spec.resources.requests", spec.requests or {})
        limits = self.amounts("spec.resources.limits", spec.limits or {})
        if requests and (is_given(self._given.resources) or is_given(self._given.allocated_resources)):
            requests = self._resized("status", requests, self._given.resources, self._given.allocated_resources)
        return requests, limits

    def amounts(self, path: str, raw: Amounts) -> Resources:
        found: dict[str, int] = {}
        for name, value in raw.items():
            try:
                found[name] = possible(name, Resources.parse({name: value}).get(name))
            except ValueError as error:
                self.problems.append(f"{path}: {error}")
        return Resources(found)

    def decode(self, decoder: "msgspec.json.Decoder[T]", raw: msgspec.Raw, path: str) -> T | None:
        """None where it isn't given or can't be read."""
        if not is_given(raw):
            return None
        try:
            return decoded(decoder, raw, path)
        except ValueError as error:
            self.problems.append(str(error))
            return None

    def _requirements(self, raw: msgspec.Raw, path: str) -> _ResourceRequirements:
        return self.decode(_REQUIREMENTS, raw, path) or _ResourceRequirements()

    def _container(self, path: str, container: RawContainer) -> Resources:
        spec = self._requirements(container.resources, f"{path}.resources")
        wanted = {**self._defaults, **(spec.limits or {}), **(spec.requests or {})}
        requests = self.amounts(f"{path}.resources.requests", wanted)
        status = self._given.containers.get(container.name)
        if status is None or not is_given(status.resources):
            return requests
        return self._resized(
            f"status.containerStatuses.{container.name}", requests, status.resources, status.allocated_resources
        )

    def _resized(self, path: str, wanted: Resources, actual: msgspec.Raw, allocated: msgspec.Raw) -> Resources:
        """KEP-1287: the largest of what is wanted, what was granted and what is in force."""
        granted = self.decode(_AMOUNTS, allocated, f"{path}.allocatedResources") or {}
        requests = self._requirements(actual, f"{path}.resources").requests or {}
        in_force = self.amounts(f"{path}.resources.requests", requests)
        held = in_force.maximum(self.amounts(f"{path}.allocatedResources", granted))
        return held if self._given.infeasible else held.maximum(wanted)


_REQUIREMENTS = msgspec.json.Decoder(_ResourceRequirements)
_AMOUNTS = msgspec.json.Decoder(dict[str, object])
