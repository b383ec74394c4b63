"""Stacks as a whole: parameters that stay, deletion in order, and failures that say why."""

import logging
from collections.abc import Callable
from typing import Any

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import CloudFormationBackend
from moto.cloudformation.parsing import ResourceMap
from moto.core.exceptions import ServiceException

from sandbox.aws.cloudformation.adapted_types import release
from sandbox.aws.patches import Patches

_log = logging.getLogger(__name__)


def take_over_stacks(patches: Patches) -> None:
    """Patch what moto does with a stack."""
    patches.replace(CloudFormationBackend, "_resolve_update_parameters", _resolved_parameters)
    patches.replace(ResourceMap, "delete", _delete_all)
    for method in ("create_stack", "update_stack", "delete_stack"):
        _tell_failures(patches, method)


def _resolved_parameters(_: Any, instance: Any, incoming_params: list[dict[str, Any]]) -> dict[str, str]:
    """A previous value that was the template's default stays the default: moto has no value of it to keep."""
    given = {one["ParameterKey"]: one["ParameterValue"] for one in incoming_params if "ParameterValue" in one}
    kept = (one["ParameterKey"] for one in incoming_params if one.get("UsePreviousValue"))
    return given | {key: instance.parameters[key] for key in kept if key in instance.parameters}


def _delete_all(resources: Any) -> None:
    """Last made first, so that whatever refers to something goes before it; moto's order is a set's."""
    made = resources._parsed_resources  # noqa: SLF001  the map has no other way in
    waiting = [name for name in reversed(made) if _goes(resources, name)]
    while waiting:
        failures = {name: error for name in waiting if (error := _deletion_error(resources, name)) is not None}
        if len(failures) == len(waiting):
            raise next(iter(failures.values()))
        waiting = list(failures)


def _goes(resources: Any, logical_id: str) -> bool:
    described = resources._resource_json_map.get(logical_id)  # noqa: SLF001
    if described is None or resources._parsed_resources[logical_id] is None:  # noqa: SLF001
        return False
    return bool(described.get("DeletionPolicy") != "Retain")


def _deletion_error(resources: Any, logical_id: str) -> Exception | None:
    resource = resources._parsed_resources[logical_id]  # noqa: SLF001
    described = resources._resource_json_map[logical_id]  # noqa: SLF001
    try:
        release(described["Type"], resource)
        resources._delete_resource(resource, described)  # noqa: SLF001
    except Exception as error:  # noqa: BLE001  whatever it is, another pass may find its cause gone
        return error
    del resources._parsed_resources[logical_id]  # noqa: SLF001
    return None


def _tell_failures(patches: Patches, method: str) -> None:
    """The caller hears the reason, and a stack that could not be made isn't there."""

    def telling(backend: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        before = set(backend.stacks)
        try:
            return original(backend, name, *args, **kwargs)
        except Exception as error:
            for stack_id in set(backend.stacks) - before:
                del backend.stacks[stack_id]
            raise _told(name, error) from error

    original: Callable[..., Any] = patches.replace(CloudFormationBackend, method, telling)


def _told(stack: str, error: Exception) -> Exception:
    if isinstance(error, ServiceException):
        return error
    _log.error("stack %s", stack, exc_info=error)
    return ValidationError(message=f"Stack {stack}: {error!r}")
