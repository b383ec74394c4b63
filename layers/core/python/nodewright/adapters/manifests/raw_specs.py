"""The fields of a pod spec that we read. What decides by its bytes alone stays raw until it must be read."""

import re
from typing import Final, TypeVar

import msgspec

from nodewright.adapters.manifests.objects import NOTHING

T = TypeVar("T")

_EMPTY = frozenset({b"", b"null", b"[]", b"{}"})


class RawContainer(msgspec.Struct, rename="camel", gc=False):
    """A container or init container."""

    name: str = ""
    resources: msgspec.Raw = NOTHING
    restart_policy: str | None = None
    ports: msgspec.Raw = NOTHING


class RawPodSpec(msgspec.Struct, rename="camel", gc=False):
    """A pod's or a pod template's spec."""

    node_name: str = ""
    scheduler_name: str = "default-scheduler"
    priority: int | None = None
    priority_class_name: str | None = None
    termination_grace_period_seconds: int | None = None
    containers: tuple[RawContainer, ...] | None = None
    init_containers: tuple[RawContainer, ...] | None = None
    overhead: msgspec.Raw = NOTHING
    resources: msgspec.Raw = NOTHING
    node_selector: msgspec.Raw = NOTHING
    affinity: msgspec.Raw = NOTHING
    tolerations: msgspec.Raw = NOTHING
    topology_spread_constraints: msgspec.Raw = NOTHING
    volumes: msgspec.Raw = NOTHING
    resource_claims: msgspec.Raw = NOTHING
    scheduling_gates: msgspec.Raw = NOTHING
    host_network: bool | None = None


def is_given(raw: msgspec.Raw) -> bool:
    """Whether the field is there and not empty."""
    return bytes(raw) not in _EMPTY


def decoded(decoder: "msgspec.json.Decoder[T]", raw: msgspec.Raw, path: str) -> T:
    """What stands at `path`. ValueError names the field below it that is of another type."""
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at ")
        at = _named(where.strip("`").removeprefix("$"), raw)
        raise ValueError(f"{path}{at}: {what}; correct the field") from error


def _named(at: str, raw: msgspec.Raw) -> str:
    """With the key of a map of texts where the error only says `[...]`: the first whose value is none."""
    inside = msgspec.json.decode(raw)
    before, found, after = at.partition("[...]")
    if not found:
        return at
    for name, number in _STEP.findall(before):
        inside = inside[name] if name else inside[int(number)]
    key = next((key for key, value in inside.items() if not isinstance(value, str)), "")
    return f"{before}.{key}{after}"


_STEP: Final = re.compile(r"\.(\w+)|\[(\d+)\]")
