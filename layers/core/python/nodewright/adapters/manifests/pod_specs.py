"""What a pod spec asks of a node, read once for all pods that ask the same.

Pods of one template differ in names, node and volumes of their own; what decides is equal byte for
byte, so it is looked up by those bytes.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

import msgspec

from nodewright.adapters.manifests.container_defaults import NO_AMOUNTS, Amounts
from nodewright.adapters.manifests.host_ports import port_bytes, read_host_ports
from nodewright.adapters.manifests.node_affinity import read_alternatives
from nodewright.adapters.manifests.pod_requests import NOTHING_GIVEN, Given, read_requests
from nodewright.adapters.manifests.pod_rules import NO_RULES, PodRules, RuleTemplates, read_rules
from nodewright.adapters.manifests.pod_volumes import NO_VOLUMES, PodVolumes, claims_storage, read_volumes
from nodewright.adapters.manifests.raw_specs import RawContainer, RawPodSpec, decoded, is_given
from nodewright.domain.host_ports import HostPort
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
    host_ports: tuple[HostPort, ...]
    rules: RuleTemplates | None
    rule_keys: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(slots=True)
class PodSpecs:
    """Reads the specs of one list; forget it with the list."""

    _requests: dict[Hashable, tuple[Resources, tuple[str, ...]]] = field(default_factory=dict)
    _placements: dict[Hashable, Placement] = field(default_factory=dict)
    _rules: dict[Hashable, PodRules] = field(default_factory=dict)
    _volumes: dict[bytes, PodVolumes] = field(default_factory=dict)

    def requests(
        self, spec: RawPodSpec, given: Given = NOTHING_GIVEN, defaults: Amounts = NO_AMOUNTS
    ) -> tuple[Resources, tuple[str, ...]]:
        """(effective requests, problems)."""
        key = (
            _container_bytes(spec.containers),
            _container_bytes(spec.init_containers),
            bytes(spec.overhead),
            bytes(spec.resources),
            given.key if given is not NOTHING_GIVEN else None,
            tuple(defaults.items()) if defaults else None,
        )
        known = self._requests.get(key)
        if known is None:
            known = self._requests[key] = read_requests(spec, given, defaults)
        return known

    def placement(self, spec: RawPodSpec, *, of_daemon: bool = False) -> Placement:
        """Alternatives, tolerations, ports, rules, and what can't be honoured."""
        key = (
            bytes(spec.node_selector),
            _affinity_bytes(spec, of_daemon=of_daemon),
            bytes(spec.tolerations),
            bytes(spec.topology_spread_constraints),
            bytes(spec.resource_claims),
            port_bytes(spec),
        )
        known = self._placements.get(key)
        if known is None:
            known = self._placements[key] = _read_placement(spec)
        return known

    def rules(self, placement: Placement, namespace: str, labels: Mapping[str, str]) -> PodRules:
        """A placement's rules for a pod of this namespace and these labels."""
        if placement.rules is None:
            return NO_RULES
        key = (id(placement), namespace, tuple(labels.get(key) for key in placement.rule_keys))
        known = self._rules.get(key)
        if known is None:
            known = self._rules[key] = placement.rules.of(namespace, labels)
        return known

    def volumes(self, spec: RawPodSpec) -> PodVolumes:
        """Of claims and disks; most pods have none."""
        if not claims_storage(spec):
            return NO_VOLUMES
        key = bytes(spec.volumes)
        known = self._volumes.get(key)
        if known is None:
            known = self._volumes[key] = read_volumes(spec)
        return known


def _read_placement(spec: RawPodSpec) -> Placement:
    alternatives, problems = read_alternatives(spec.node_selector, spec.affinity)
    host_ports, unreadable = read_host_ports(spec)
    rules, unknown = read_rules(spec)
    tolerations, intolerable = _tolerations(spec.tolerations)
    return Placement(
        alternatives=alternatives,
        tolerations=tolerations,
        host_ports=host_ports,
        rules=rules,
        rule_keys=rules.label_keys if rules else (),
        problems=tuple(dict.fromkeys((*problems, *intolerable, *_claims(spec), *unreadable, *unknown))),
    )


def _claims(spec: RawPodSpec) -> tuple[str, ...]:
    if not is_given(spec.resource_claims):
        return ()
    return ("spec.resourceClaims: no node can be chosen by claimed devices; request an extended resource",)


def _tolerations(raw: msgspec.Raw) -> tuple[tuple[Toleration, ...], tuple[str, ...]]:
    """(tolerations, problems)."""
    if not is_given(raw):
        return (), ()
    try:
        listed = decoded(_TOLERATIONS, raw, "spec.tolerations")
    except ValueError as error:
        return (), (str(error),)
    read = tuple(
        Toleration(
            key=t.key,
            operator=cast(Literal["Equal", "Exists"], t.operator or "Equal"),
            value=t.value,
            effect=cast(Effect, t.effect),
        )
        for t in listed
    )
    return read, tuple(_intolerable(read))


def _intolerable(tolerations: Iterable[Toleration]) -> Iterator[str]:
    for i, toleration in enumerate(tolerations):
        problem = toleration.problem()
        if problem is not None:
            yield f"spec.tolerations[{i}]: {problem}"


def _container_bytes(containers: Iterable[RawContainer] | None) -> tuple[Hashable, ...]:
    return tuple((c.name, bytes(c.resources), c.restart_policy) for c in containers or ())


def _affinity_bytes(spec: RawPodSpec, *, of_daemon: bool) -> bytes:
    """A DaemonSet's pod names its node in its affinity, which nobody asks any more; without it all are alike."""
    text = bytes(spec.affinity)
    return text.replace(spec.node_name.encode(), b"") if of_daemon and spec.node_name else text


_TOLERATIONS = msgspec.json.Decoder(tuple[_Toleration, ...])
