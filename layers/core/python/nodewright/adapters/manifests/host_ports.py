"""Ports that containers take of their node."""

from collections.abc import Hashable, Iterator
from typing import Final

import msgspec

from nodewright.adapters.manifests.label_syntax import shown
from nodewright.adapters.manifests.raw_specs import RawContainer, RawPodSpec, decoded, is_given
from nodewright.domain.host_ports import HostPort

_HIGHEST: Final = 65535
_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")


class _Port(msgspec.Struct, rename="camel"):
    container_port: int = 0
    host_port: int | None = None
    protocol: str | None = None
    host_ip: str | None = msgspec.field(name="hostIP", default=None)


def read_host_ports(spec: RawPodSpec) -> tuple[tuple[HostPort, ...], tuple[str, ...]]:
    """(ports, problems): of containers and of sidecars, as kube-scheduler counts them."""
    if not port_bytes(spec):
        return (), ()
    ports: list[HostPort] = []
    problems: list[str] = []
    for path, container in _running(spec):
        try:
            listed = decoded(_PORTS, container.ports, f"{path}.ports")
        except ValueError as error:
            problems.append(str(error))
            continue
        for i, raw in enumerate(listed):
            try:
                ports += _host_port(f"{path}.ports[{i}]", raw, on_host=spec.host_network or False)
            except ValueError as error:
                problems.append(str(error))
    return tuple(sorted(set(ports))), tuple(problems)


def port_bytes(spec: RawPodSpec) -> tuple[Hashable, ...]:
    """What of a spec decides on its host ports: a look at the bytes is enough to know that most have none."""
    containers = (*(spec.init_containers or ()), *(spec.containers or ()))
    for container in containers:
        if spec.host_network or b'"hostPort"' in bytes(container.ports):
            return (spec.host_network, *((bytes(each.ports), each.restart_policy) for each in containers))
    return ()


def _running(spec: RawPodSpec) -> Iterator[tuple[str, RawContainer]]:
    """Those with ports that run as long as the pod does."""
    for i, container in enumerate(spec.init_containers or ()):
        if container.restart_policy == "Always" and is_given(container.ports):
            yield f"spec.initContainers[{i}]", container
    for i, container in enumerate(spec.containers or ()):
        if is_given(container.ports):
            yield f"spec.containers[{i}]", container


def _host_port(path: str, raw: _Port, *, on_host: bool) -> Iterator[HostPort]:
    # The API server fills it in for pods on their host's network, not for templates.
    port = raw.host_port or (raw.container_port if on_host else 0)
    if not port:
        return
    if not 1 <= port <= _HIGHEST:
        raise ValueError(f"{path}.hostPort: {port} is no port; it must lie between 1 and {_HIGHEST}")
    protocol = raw.protocol or "TCP"
    if protocol not in _PROTOCOLS:
        raise ValueError(f"{path}.protocol: {shown(protocol)} is not known; use one of {', '.join(_PROTOCOLS)}")
    yield HostPort(port, protocol, raw.host_ip or "")


_PORTS = msgspec.json.Decoder(tuple[_Port, ...])
