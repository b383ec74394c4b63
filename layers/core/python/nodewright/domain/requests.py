"""What a pod takes of its node, by Kubernetes' rule for init containers and sidecars (cases.md 1)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from nodewright.domain.quantities import CPU, MEMORY, PODS, Resources


@dataclass(frozen=True, slots=True)
class ContainerRequests:
    """The requests of one container, limits standing in where a request is missing."""

    name: str
    requests: Resources
    restart_always: bool = False
    """An init container with restartPolicy Always: a sidecar, which keeps running."""


def effective_requests(
    containers: Iterable[ContainerRequests],
    init_containers: Iterable[ContainerRequests],
    overhead: Resources,
    pod_level: Resources,
    pod_limits: Resources = Resources(),
) -> Resources:
    """What the scheduler counts: the larger of start-up's peak and what runs afterwards.

    Pod-level requests replace the computed amount of the resources they name; a pod-level limit stands in
    where neither they nor a container requests any. Overhead comes on top of either. One of `pods` is added.
    """
    peak, sidecars = _start_up(init_containers)
    running = sum((container.requests for container in containers), sidecars)
    computed = running.maximum(peak)
    limits = {name: amount for name, amount in pod_limits.items() if _is_huge(name) or name not in computed}
    stated = {name: amount for name, amount in {**limits, **pod_level}.items() if _has_pod_level(name)}
    return Resources({**computed, **stated}) + overhead + _ONE_POD


_ONE_POD: Final = Resources({PODS: 1})


def _has_pod_level(resource: str) -> bool:
    """Kubernetes knows of no others (KEP-2837)."""
    return resource in {CPU, MEMORY} or _is_huge(resource)


def _is_huge(resource: str) -> bool:
    """Huge pages can't be overcommitted: a limit is a request."""
    return resource.startswith("hugepages-")


def _start_up(init_containers: Iterable[ContainerRequests]) -> tuple[Resources, Resources]:
    """Peak while init containers run one by one beside the sidecars started before them, and the
    sum of the sidecars.
    """
    peak = sidecars = Resources()
    for container in init_containers:
        beside = sidecars + container.requests
        peak = peak.maximum(beside)
        sidecars = beside if container.restart_always else sidecars
    return peak, sidecars
