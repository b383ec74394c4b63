"""Statuses of CapacityBuffers, as their API has them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from nodewright.domain.buffer_status import BufferStatus, Condition

Object = Mapping[str, object]

_NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)


class _Condition(msgspec.Struct, rename="camel"):
    type: str
    status: str = "Unknown"
    reason: str = ""
    message: str = ""
    last_transition_time: datetime | None = None
    observed_generation: int | None = None


class _Reference(msgspec.Struct):
    name: str = ""


class _Status(msgspec.Struct, rename="camel"):
    conditions: tuple[_Condition, ...] = ()
    replicas: int | None = None
    pod_template_ref: _Reference | None = None
    pod_template_generation: int | None = None
    provisioning_strategy: str | None = None


def read_status(raw: object) -> BufferStatus:
    """What is told already; one that can't be read says nothing, and is written anew."""
    try:
        status = msgspec.convert(raw or {}, _Status)
    except msgspec.ValidationError:
        return BufferStatus()
    return BufferStatus(
        conditions=tuple(map(_condition, status.conditions)),
        replicas=status.replicas,
        template=status.pod_template_ref.name if status.pod_template_ref else "",
        template_generation=status.pod_template_generation,
        strategy=status.provisioning_strategy or "",
    )


def written_status(status: BufferStatus) -> Object:
    """For a merge patch: what it doesn't say is taken away."""
    return {
        "conditions": [_written(each) for each in status.conditions],
        "replicas": status.replicas,
        "podTemplateRef": {"name": status.template} if status.template else None,
        "podTemplateGeneration": status.template_generation,
        "provisioningStrategy": status.strategy or None,
    }


def _condition(raw: _Condition) -> Condition:
    since = raw.last_transition_time or _NEVER
    return Condition(raw.type, raw.status, raw.reason, raw.message, since, raw.observed_generation)


def _written(condition: Condition) -> Object:
    generation = {} if condition.generation is None else {"observedGeneration": condition.generation}
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": condition.since.strftime("%Y-%m-%dT%H:%M:%SZ"),
        **generation,
    }
