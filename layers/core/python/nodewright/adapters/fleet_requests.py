"""A FleetRequest as CreateFleet takes it, and CreateFleet's answer as ours; no I/O."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from nodewright.adapters.ec2_tags import LAUNCH_TAG, specifications
from nodewright.application.errors import RefusedError
from nodewright.application.ports import FleetError, FleetOverride, FleetRequest, FleetTemplate, Instance
from nodewright.domain.catalogue import CapacityType
from nodewright.domain.money import to_usd

if TYPE_CHECKING:
    from mypy_boto3_ec2.type_defs import (
        CreateFleetErrorTypeDef,
        CreateFleetInstanceTypeDef,
        CreateFleetRequestTypeDef,
        CreateFleetResultTypeDef,
        FleetLaunchTemplateConfigRequestTypeDef,
        FleetLaunchTemplateOverridesRequestTypeDef,
        FleetLaunchTemplateOverridesTypeDef,
    )


def to_create_fleet(request: FleetRequest) -> "CreateFleetRequestTypeDef":
    """The call; the same request is the same call, byte for byte, or its ClientToken wouldn't hold."""
    if request.capacity_type == "reserved":
        raise RefusedError("capacity reservations can't be launched into yet; leave `reserved` out of the pool")
    call: CreateFleetRequestTypeDef = {
        "Type": "instant",
        "ClientToken": request.launch_id,
        "TargetCapacitySpecification": {
            "TotalTargetCapacity": request.capacity,
            "DefaultTargetCapacityType": request.capacity_type,
        },
        "LaunchTemplateConfigs": [_config(template) for template in request.templates],
        "TagSpecifications": specifications(
            ["instance", "volume", "fleet"], {**request.tags, LAUNCH_TAG: request.launch_id}
        ),
    }
    prioritised = any(override.price is not None for override in _overrides(request))
    if request.capacity_type == "spot":
        call["SpotOptions"] = {
            "AllocationStrategy": "capacity-optimized-prioritized" if prioritised else "price-capacity-optimized"
        }
    else:
        call["OnDemandOptions"] = {"AllocationStrategy": "prioritized" if prioritised else "lowest-price"}
    return {**call, "Context": request.context} if request.context else call


def bought(request: FleetRequest, answer: "CreateFleetResultTypeDef") -> dict[str, Instance]:
    """Instances of an answer by id, as far as the answer tells of them."""
    zones = _zones(request)
    return {
        instance.id: instance for group in answer.get("Instances", []) for instance in _instances(request, group, zones)
    }


def errors(request: FleetRequest, answer: "CreateFleetResultTypeDef") -> tuple[FleetError, ...]:
    """What EC2 couldn't do, each thing once."""
    zones = _zones(request)
    return tuple(dict.fromkeys(_error(error, zones) for error in answer.get("Errors", [])))


def refused(request: FleetRequest, code: str, message: str) -> tuple[FleetError, ...]:
    """One error for the whole call, as one for each offering it asked for."""
    return tuple(
        FleetError(code, message, o.instance_type, o.zone, o.subnet_id, request.capacity_type)
        for o in _overrides(request)
    )


def _config(template: FleetTemplate) -> "FleetLaunchTemplateConfigRequestTypeDef":
    return {
        "LaunchTemplateSpecification": {"LaunchTemplateName": template.template_name, "Version": "$Latest"},
        "Overrides": [_override(override) for override in template.overrides],
    }


def _override(override: FleetOverride) -> "FleetLaunchTemplateOverridesRequestTypeDef":
    """The less the priority's number, the sooner it is taken: a price is one as it stands."""
    line: FleetLaunchTemplateOverridesRequestTypeDef = {
        "InstanceType": override.instance_type,  # type: ignore[typeddict-item]  # types newer than the stubs
        "SubnetId": override.subnet_id,
        "ImageId": override.image_id,
    }
    return line if override.price is None else {**line, "Priority": float(to_usd(override.price))}


def _overrides(request: FleetRequest) -> Iterator[FleetOverride]:
    for template in request.templates:
        yield from template.overrides


def _zones(request: FleetRequest) -> Mapping[str, str]:
    """Subnet → zone: an answer names the subnet always, the zone not."""
    return {override.subnet_id: override.zone for override in _overrides(request)}


def _instances(
    request: FleetRequest, group: "CreateFleetInstanceTypeDef", zones: Mapping[str, str]
) -> Iterator[Instance]:
    overrides = group.get("LaunchTemplateAndOverrides", {}).get("Overrides", {})
    instance_type = group.get("InstanceType") or overrides.get("InstanceType", "")
    for instance_id in group.get("InstanceIds", []):
        yield Instance(
            id=instance_id,
            instance_type=instance_type,
            zone=_zone(overrides, zones),
            capacity_type="spot" if group.get("Lifecycle") == "spot" else "on-demand",
            state="pending",
            image_id=overrides.get("ImageId", ""),
            launched=None,
            tags={**request.tags, LAUNCH_TAG: request.launch_id},
        )


def _error(error: "CreateFleetErrorTypeDef", zones: Mapping[str, str]) -> FleetError:
    overrides = error.get("LaunchTemplateAndOverrides", {}).get("Overrides", {})
    capacity_type: CapacityType = "spot" if error.get("Lifecycle") == "spot" else "on-demand"
    return FleetError(
        code=error.get("ErrorCode", ""),
        message=error.get("ErrorMessage", ""),
        instance_type=overrides.get("InstanceType", ""),
        zone=_zone(overrides, zones),
        subnet_id=overrides.get("SubnetId", ""),
        capacity_type=capacity_type,
    )


def _zone(overrides: "FleetLaunchTemplateOverridesTypeDef", zones: Mapping[str, str]) -> str:
    return overrides.get("AvailabilityZone") or zones.get(overrides.get("SubnetId", ""), "")
