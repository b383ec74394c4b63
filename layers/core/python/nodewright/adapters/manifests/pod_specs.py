"""What a pod spec asks of a node, read once for all pods that ask the same.

Pods of one template differ in names, node and volumes of their own; what decides is equal byte for
byte, so it is looked up by those bytes.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Literal, cast

import msgspec

from nodewright.adapters.manifests.node_affinity import read_alternatives
from nodewright.adapters.manifests.pod_requests import read_requests
from nodewright.adapters.manifests.raw_specs import RawContainer, RawPodSpec, is_given
from nodewright.adapters.manifests.unplanned import claims_storage, takes_host_ports, unplanned
from nodewright.domain.quantities import Resources
from nodewright.domain.requirements import Requirements
from nodewright.domain.taints import Effect, Toleration


class _Toleration(msgspec.Struct):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Placement:
    """Which nodes a pod can run on."""

    alternatives: tuple[Requirements, ...]
    tolerations: tuple[Toleration, ...]
    problems: tuple[str, ...]


@dataclass(slots=True)
class PodSpecs:
    """Reads the specs of one list; forget it with the list."""

    _requests: dict[Hashable, tuple[Resources, tuple[str, ...]]] = field(default_factory=dict)
    _placements: dict[Hashable, Placement] = field(default_factory=dict)

    def requests(self, spec: RawPodSpec) -> tuple[Resources, tuple[str, ...]]:
        """(effective requests, problems)."""
        key = (
            _container_bytes(spec.containers),
            _container_bytes(spec.init_containers),
            bytes(spec.overhead),
            bytes(spec.resources),
        )
        known = self._requests.get(key)
        if known is None:
            known = self._requests[key] = read_requests(spec)
        return known

    def placement(self, spec: RawPodSpec) -> Placement:
        """Alternatives, tolerations and what can't be honoured."""
        key = (
            bytes(spec.node_selector),
            _affinity_bytes(spec),
            bytes(spec.tolerations),
            bytes(spec.topology_spread_constraints),
            bytes(spec.resource_claims),
            bytes(spec.volumes) if claims_storage(spec.volumes) else b"",
            _host_ports(spec.containers),
        )
        known = self._placements.get(key)
        if known is None:
            known = self._placements[key] = _read_placement(spec)
        return known


def _read_placement(spec: RawPodSpec) -> Placement:
    alternatives, problems = read_alternatives(spec.node_selector, spec.affinity)
    return Placement(alternatives, _tolerations(spec.tolerations), (*problems, *_claims(spec), *unplanned(spec)))


def _claims(spec: RawPodSpec) -> tuple[str, ...]:
    if not is_given(spec.resource_claims):
        return ()
    return ("spec.resourceClaims: no node can be chosen by claimed devices; request an extended resource",)


def _tolerations(raw: msgspec.Raw) -> tuple[Toleration, ...]:
    if not is_given(raw):
        return ()
    return tuple(
        Toleration(
            key=t.key,
            operator=cast(Literal["Equal", "Exists"], t.operator or "Equal"),
            value=t.value,
            effect=cast(Effect, t.effect),
        )
        for t in _TOLERATIONS.decode(raw)
    )


def _container_bytes(containers: Iterable[RawContainer] | None) -> tuple[Hashable, ...]:
    return tuple((bytes(c.resources), c.restart_policy) for c in containers or ())


def _affinity_bytes(spec: RawPodSpec) -> bytes:
    """A DaemonSet's pod names its node in its affinity, which is not read; without it all are alike."""
    text = bytes(spec.affinity)
    return text.replace(spec.node_name.encode(), b"") if spec.node_name and b"matchFields" in text else text


def _host_ports(containers: Iterable[RawContainer] | None) -> tuple[bytes, ...]:
    return tuple(bytes(c.ports) for c in containers or () if takes_host_ports(c.ports))


_TOLERATIONS = msgspec.json.Decoder(tuple[_Toleration, ...])
