"""Hard constraints of pods that this version doesn't plan yet.

A pod with one of them gets a reason instead of a node, because a node that ignores it might be
useless to the pod. A constraint leaves this list when the planner knows it.
"""

from collections.abc import Callable, Iterator

import msgspec

from nodewright.adapters.manifests.raw_specs import RawPodSpec, is_given

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


class _Spread(msgspec.Struct, rename="camel"):
    when_unsatisfiable: str = "DoNotSchedule"


class _Volume(msgspec.Struct, rename="camel"):
    persistent_volume_claim: dict[str, object] | None = None
    ephemeral: dict[str, object] | None = None


class _Port(msgspec.Struct, rename="camel"):
    host_port: int | None = None


class _Terms(msgspec.Struct):
    required: tuple[msgspec.Raw, ...] | None = msgspec.field(name=_REQUIRED, default=None)


class _Affinity(msgspec.Struct, rename="camel"):
    pod_affinity: _Terms | None = None
    pod_anti_affinity: _Terms | None = None


def unplanned(spec: RawPodSpec) -> tuple[str, ...]:
    """Each such constraint of a pod, with the path of its field."""
    return tuple(text for constraint in CONSTRAINTS for text in constraint(spec))


def _spread(spec: RawPodSpec) -> Iterator[str]:
    if not is_given(spec.topology_spread_constraints):
        return
    for i, constraint in enumerate(_SPREADS.decode(spec.topology_spread_constraints)):
        if constraint.when_unsatisfiable == "DoNotSchedule":
            yield f"spec.topologySpreadConstraints[{i}]: DoNotSchedule is not planned yet; use ScheduleAnyway"


def _pod_affinity(spec: RawPodSpec) -> Iterator[str]:
    if not is_given(spec.affinity):
        return
    affinity = _AFFINITIES.decode(spec.affinity)
    for name, terms in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        if terms and terms.required:
            yield f"spec.affinity.{name}.{_REQUIRED}: it is not planned yet; use preferredDuringScheduling…"


def _volumes(spec: RawPodSpec) -> Iterator[str]:
    if not claims_storage(spec.volumes):
        return
    for i, volume in enumerate(_VOLUMES.decode(spec.volumes)):
        if volume.persistent_volume_claim is not None:
            yield f"spec.volumes[{i}].persistentVolumeClaim: zones of volumes are not planned yet"
        if volume.ephemeral is not None:
            yield f"spec.volumes[{i}].ephemeral: zones of volumes are not planned yet; use emptyDir"


def _host_ports(spec: RawPodSpec) -> Iterator[str]:
    for i, container in enumerate(spec.containers or ()):
        if not takes_host_ports(container.ports):
            continue
        for j, port in enumerate(_PORTS.decode(container.ports)):
            if port.host_port:
                yield f"spec.containers[{i}].ports[{j}].hostPort: host ports are not planned yet; use a Service"


def claims_storage(volumes: msgspec.Raw) -> bool:
    """Whether it may: most pods don't, and a look at the bytes is enough to know."""
    text = bytes(volumes)
    return b'"persistentVolumeClaim"' in text or b'"ephemeral"' in text


def takes_host_ports(ports: msgspec.Raw) -> bool:
    """Whether a container may take ports of its host, by the same look."""
    return b'"hostPort"' in bytes(ports)


#: Order of showing.
CONSTRAINTS: tuple[Callable[[RawPodSpec], Iterator[str]], ...] = (_spread, _pod_affinity, _volumes, _host_ports)

_SPREADS = msgspec.json.Decoder(tuple[_Spread, ...])
_AFFINITIES = msgspec.json.Decoder(_Affinity)
_VOLUMES = msgspec.json.Decoder(tuple[_Volume, ...])
_PORTS = msgspec.json.Decoder(tuple[_Port, ...])
